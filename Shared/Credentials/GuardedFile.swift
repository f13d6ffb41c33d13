internal import CLinux
internal import Glibc

/// Files that hold credentials: read only when nobody else can have changed or, where they are secret, read them;
/// written whole and for this user only.
enum GuardedFile {
    enum Kind {
        case secret, list
        /// A secret that a container engine has put into the container: its owner and mode are those of the host.
        case mounted
    }

    /// More than any of these files needs.
    private static let longest = 1 << 20

    /// The file's text.
    /// - Throws: `CredentialError` when it cannot be read or others can get at it.
    static func read(_ path: String, as kind: Kind) throws(CredentialError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        // What is looked at is what is read: the open file, not whatever has the name by now.
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
            throw .file(path: path, reason: "is no file")
        }
        let mode = String(information.st_mode & 0o777, radix: 8)
        guard information.st_uid == geteuid() || information.st_uid == 0 || kind == .mounted else {
            throw .exposed(path: path, mode: mode, fix: "it belongs to user \(information.st_uid), not to this one")
        }
        let forbidden: mode_t =
            switch kind {
            case .secret: 0o077
            case .list: 0o022
            case .mounted: 0o002
            }
        guard information.st_mode & forbidden == 0 else {
            throw .exposed(path: path, mode: mode, fix: "chmod 600 \(path)")
        }
        guard information.st_size <= longest else { throw .file(path: path, reason: "has more than \(longest) bytes") }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while bytes.count <= longest {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Replaces the file as a whole: a reader sees the old content or the new one.
    static func write(_ text: String, to path: String) throws(CredentialError) {
        func failure() -> CredentialError { .file(path: path, reason: String(cString: strerror(errno))) }
        let temporary = "\(path).\(getpid()).tmp"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            let error = failure()
            unlink(temporary)
            throw error
        }
    }

    /// Makes a folder, and those above it, for this user only.
    static func makeFolder(_ path: String) throws(CredentialError) {
        var at = path.startIndex
        while at < path.endIndex {
            at = path[path.index(after: at)...].firstIndex(of: "/") ?? path.endIndex
            if mkdir(String(path[..<at]), 0o700) != 0, errno != EEXIST, at == path.endIndex {
                throw .file(path: path, reason: String(cString: strerror(errno)))
            }
        }
    }

    /// Runs the closure while no other process that asks the same way runs its own: read, change and write are one.
    static func locked<Result>(
        _ path: String,
        _ body: () throws(CredentialError) -> Result
    ) throws(CredentialError) -> Result {
        let descriptor = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw .file(path: path, reason: String(cString: strerror(errno))) }
        }
        return try body()
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func remove(_ path: String) throws(CredentialError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw .file(path: path, reason: String(cString: strerror(errno)))
        }
    }
}

/// Lines of words with their numbers; empty lines and those that begin with `#` are left out.
struct WordLines {
    let lines: [(number: Int, words: [Substring])]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
            guard let first = words.first, !first.hasPrefix("#") else { return nil }
            return (index + 1, words)
        }
    }
}
