internal import CLinux
internal import Glibc
internal import Lifecycle

/// The folder with the sessions, indexes and logs of one running Skillbus. It is locked as long as this lives.
final class StateFolder: Sendable {
    let path: String
    private let lock: Int32

    /// Makes the folder where it is missing, and locks it.
    init(_ path: String) throws(CommandFailure) {
        self.path = StateFolder.absolute(path)
        for folder in [self.path, "\(self.path)/logs"] { try StateFolder.make(folder) }
        let file = "\(self.path)/up.lock"
        lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw CommandFailure("cannot write \(file): \(String(cString: strerror(errno)))") }
        let failure = clinux_lock_file(lock)
        guard failure == 0 else {
            var buffer = [UInt8](repeating: 0, count: 32)
            let count = max(0, pread(lock, &buffer, buffer.count, 0))
            let holder = String(decoding: buffer[..<count].prefix { 48...57 ~= $0 }, as: UTF8.self)
            // `deinit` closes the lock: it runs for what was complete when its making failed.
            guard failure == EWOULDBLOCK else {
                throw CommandFailure("cannot lock \(file): \(String(cString: strerror(failure)))")
            }
            throw CommandFailure(
                "Skillbus already runs on \(self.path) (process \(holder)): stop that one, or choose another folder with "
                    + "--state DIR"
            )
        }
        ftruncate(lock, 0)
        let text = Array("\(Environment.processID)\n".utf8)
        _ = pwrite(lock, text, text.count, 0)
    }

    deinit { close(lock) }

    /// Makes a folder and those above it, for this user only.
    static func make(_ path: String) throws(CommandFailure) {
        var at = path.startIndex
        while at < path.endIndex {
            at = path[path.index(after: at)...].firstIndex(of: "/") ?? path.endIndex
            if mkdir(String(path[..<at]), 0o700) != 0 && errno != EEXIST && at == path.endIndex {
                throw CommandFailure("cannot make the folder \(path): \(String(cString: strerror(errno)))")
            }
        }
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure("\(path) is no folder: choose another with --state DIR")
        }
    }

    /// Services may not depend on where this program was started.
    static func absolute(_ path: String) -> String {
        var path = path
        while path.count > 1 && path.last == "/" { path.removeLast() }
        if path.hasPrefix("/") { return path }
        var buffer = [CChar](repeating: 0, count: 4096)
        guard getcwd(&buffer, buffer.count) != nil else { return path }
        let folder = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(folder == "/" ? "" : folder)/\(path)"
    }
}

/// Replaces a file as a whole: a reader sees the old content or the new one.
func replaceFile(_ path: String, with bytes: [UInt8]) throws(CommandFailure) {
    let temporary = "\(path).\(Environment.processID).tmp"
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CommandFailure("cannot write \(path): \(String(cString: strerror(errno)))") }
    let written = write(descriptor, bytes, bytes.count)
    close(descriptor)
    guard written == bytes.count, rename(temporary, path) == 0 else {
        let reason = String(cString: strerror(errno))
        unlink(temporary)
        throw CommandFailure("cannot write \(path): \(reason)")
    }
}
