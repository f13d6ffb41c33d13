/// Why a key, a list or a token cannot be used: words for whoever has to mend it, and never a secret in them.
public enum CredentialError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file cannot be read or written.
    case file(path: String, reason: String)
    /// Others could read or change the file.
    case exposed(path: String, mode: String, fix: String)
    /// The file's content is wrong.
    case content(path: String, line: Int, reason: String)
    /// Something that was asked for cannot be.
    case invalid(String)

    /// One sentence.
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)"
        case .exposed(let path, let mode, let fix): "\(path) has mode \(mode), so others can get at it: \(fix)"
        case .content(let path, 0, let reason): "\(path): \(reason)"
        case .content(let path, let line, let reason): "\(path), line \(line): \(reason)"
        case .invalid(let reason): reason
        }
    }
}
