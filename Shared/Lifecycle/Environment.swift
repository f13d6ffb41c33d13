internal import CLinux
internal import Glibc

/// The process's environment, read once: each look-up through Foundation reads all of it.
public enum Environment {
    /// Every variable.
    public static let all: [String: String] = {
        var variables: [String: String] = [:]
        var entry = clinux_environment()
        while let pointer = entry?.pointee {
            let text = String(cString: pointer)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry = entry?.advanced(by: 1)
        }
        return variables
    }()

    /// The host's name.
    public static let hostName: String = {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, 255) == 0 else { return "unknown" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// The process's id.
    public static var processID: Int32 { getpid() }

    /// Where sessions, indexes and logs lie unless told otherwise: `SKILLBUS_STATE`, or `skillbus` in the user's
    /// state folder after the XDG base directory specification.
    public static var stateFolder: String { stateFolder(of: all) }

    /// The same, for a process with these variables.
    public static func stateFolder(of variables: [String: String]) -> String {
        if let folder = variables["SKILLBUS_STATE"], !folder.isEmpty { return folder }
        if let folder = variables["XDG_STATE_HOME"], folder.hasPrefix("/") { return folder + "/skillbus" }
        return (variables["HOME"] ?? "/tmp") + "/.local/state/skillbus"
    }
}
