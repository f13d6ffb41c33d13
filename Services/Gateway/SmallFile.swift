internal import Glibc
internal import SessionStore
internal import Telemetry
internal import Wire

/// Reads and writes files of a few bytes.
enum SmallFile {
    /// The file's text; nil if there is none.
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Writes a file whole: whoever waits for it never sees half of it.
    static func write(_ text: String, to path: String) throws(StoreError) {
        func failure(_ path: String) -> StoreError { .cannotOpen(path: path, reason: String(cString: strerror(errno))) }
        let temporary = "\(path).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            let error = failure(path)
            unlink(temporary)
            throw error
        }
    }
}

/// The gateway's name on the bus: made once, kept beside the sessions, since the requests in there are its own.
enum GatewayName {
    /// The name kept in a folder, or a new one.
    static func read(in folder: String) throws(StoreError) -> String {
        let path = "\(folder)/gateway.id"
        let kept = SmallFile.read(path).flatMap { Identifier($0.filter { !$0.isWhitespace }) }
        if let kept { return kept.description }
        let made = Identifier.timeOrdered(milliseconds: UInt64(max(0, Timestamp.now.milliseconds)))
        try SmallFile.write("\(made)\n", to: path)
        return made.description
    }
}
