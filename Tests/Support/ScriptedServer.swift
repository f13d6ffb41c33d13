internal import Glibc
internal import Synchronization

/// An HTTP server on a free port of this host that answers as a test wants, byte by byte if it must be.
///
/// Each connection serves one request, on a thread of its own, and is closed when the closure returns.
public final class ScriptedServer: Sendable {
    public struct Request: Sendable {
        public var method: String
        public var path: String
        /// Names in lower case.
        public var headers: [String: String]
        public var body: [UInt8]
    }

    public final class Connection: Sendable {
        private let socket: Int32
        init(_ socket: Int32) { self.socket = socket }

        /// False when the client has gone.
        @discardableResult
        public func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }

        @discardableResult
        public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// A whole answer.
        public func answer(
            _ status: Int,
            _ body: String = "",
            type: String = "application/json",
            headers: [String] = []
        ) {
            let lines = headers.map { $0 + "\r\n" }.joined()
            send(
                "HTTP/1.1 \(status) Status\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n"
                    + "Connection: close\r\n\(lines)\r\n\(body)"
            )
        }

        /// The start of a stream; what is sent after it is its body.
        public func startStream() {
            send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        }

        /// Waits until the client closes the connection.
        public func waitForClose() {
            var byte: UInt8 = 0
            while recv(socket, &byte, 1, 0) > 0 {}
        }
    }

    public let port: Int
    public var url: String { "http://127.0.0.1:\(port)" }
    private let listener: Int32
    private let seen = Mutex<[Request]>([])

    public init(_ handler: @escaping @Sendable (Request, Connection) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw SpawnError(code: errno) }
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failure = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) != 0 || listen(listener, 64) != 0
                    || getsockname(listener, address, &size) != 0
            }
        }
        guard !failure else {
            close(listener)
            throw SpawnError(code: errno)
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        thread { [weak self] in
            while true {
                let socket = accept(listener, nil, nil)
                if socket < 0 && errno == EINTR { continue }
                guard socket >= 0, let self else {
                    if socket >= 0 { close(socket) }
                    close(listener)
                    return
                }
                var on: Int32 = 1
                setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
                _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
                thread {
                    defer { close(socket) }
                    guard let request = ScriptedServer.read(socket) else { return }
                    self.seen.withLock { $0.append(request) }
                    handler(request, Connection(socket))
                    shutdown(socket, Int32(SHUT_WR))
                }
            }
        }
    }

    // The accepting thread closes the descriptor, so that its number is not another server's while it still uses it.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Requests so far.
    public var requests: [Request] { seen.withLock { $0 } }

    private static func read(_ socket: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        func more() -> Bool {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
        let mark = Array("\r\n\r\n".utf8)
        var end: Int?
        while end == nil {
            guard more() else { return nil }
            end = (0...max(0, bytes.count - 4)).first { bytes[$0...].starts(with: mark) }
        }
        let head = String(decoding: bytes[..<(end ?? 0)], as: UTF8.self).split(separator: "\r\n")
        let words = head.first?.split(separator: " ") ?? []
        guard let end, words.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in head.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers[line[..<colon].lowercased()] = String(value)
        }
        let length = Int(headers["content-length"] ?? "0") ?? 0
        while bytes.count < end + 4 + length { guard more() else { return nil } }
        let body = Array(bytes[(end + 4)..<(end + 4 + length)])
        return Request(method: String(words[0]), path: String(words[1]), headers: headers, body: body)
    }
}
