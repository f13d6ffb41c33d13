internal import CLinux
internal import Glibc
internal import Synchronization

/// A TCP connection to this host that sends exactly the bytes a test wants, and keeps all that comes back.
public final class RawConnection: Sendable {
    private struct State {
        var received: [UInt8] = []
        var isAtEnd = false
        var isReading = false
    }
    private let state = Mutex(State())
    private let socket: Int32

    /// Connects.
    /// - Parameters:
    ///   - receiveBuffer: Bytes that the system keeps for us; small for a client that is to stall.
    ///   - reads: Whether to read from the start; otherwise from ``startReading()`` on.
    public init(port: Int, receiveBuffer: Int32? = nil, reads: Bool = true) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw SpawnError(code: errno) }
        if var size = receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var noDelay: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let failure = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard failure == 0 else {
            // `deinit` closes it: it runs for what was complete when its making failed.
            throw SpawnError(code: errno)
        }
        if reads { startReading() }
    }

    deinit {
        // The reading thread has its own copy of the descriptor, and ends by this.
        shutdown(socket, Int32(SHUT_RDWR))
        Glibc.close(socket)
    }

    public func startReading() {
        let isFirst = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard isFirst else { return }
        let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        thread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = recv(copy, &buffer, buffer.count, 0)
                if count < 0 && errno == EINTR { continue }
                guard let self else { break }
                self.state.withLock { state in
                    if count > 0 { state.received += buffer[..<count] } else { state.isAtEnd = true }
                }
                if count <= 0 { break }
            }
            Glibc.close(copy)
        }
    }

    /// Sends bytes, on a thread of its own where they may not fit into the system's buffer.
    /// - Returns: Whether all were taken.
    @discardableResult
    public func send(_ bytes: [UInt8]) async -> Bool {
        if bytes.count <= 16_384 { return sendNow(bytes) }
        return await withCheckedContinuation { continuation in
            thread { [self] in continuation.resume(returning: sendNow(bytes)) }
        }
    }

    @discardableResult
    public func send(_ text: String) async -> Bool { await send(Array(text.utf8)) }

    private func sendNow(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress! + sent, $0.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// Says that nothing more will be sent.
    public func closeWriting() { shutdown(socket, Int32(SHUT_WR)) }

    /// Leaves altogether.
    public func close() { shutdown(socket, Int32(SHUT_RDWR)) }

    public var bytes: [UInt8] { state.withLock { $0.received } }
    public var byteCount: Int { state.withLock { $0.received.count } }
    public var text: String { String(decoding: bytes, as: UTF8.self) }
    public var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// Waits until the text that has come contains this.
    public func receives(_ part: String, within limit: Duration = .seconds(20)) async -> Bool {
        await eventually(within: limit) { text.contains(part) || isAtEnd } && text.contains(part)
    }

    /// Waits until the other side has closed.
    public func ends(within limit: Duration = .seconds(20)) async -> Bool {
        await eventually(within: limit) { isAtEnd }
    }
}

/// What a server answered: the parts of the first response in the bytes.
public struct RawResponse: Sendable {
    public let status: Int
    public let headers: [String: String]
    public let body: [UInt8]
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Sends a request of one's own making and reads the answer to the end of the connection or of the body.
    public static func to(_ request: String, port: Int) async throws -> RawResponse {
        try await to(Array(request.utf8), port: port)
    }

    public static func to(_ request: [UInt8], port: Int) async throws -> RawResponse {
        let connection = try RawConnection(port: port)
        await connection.send(request)
        return try await read(connection)
    }

    public static func read(_ connection: RawConnection) async throws -> RawResponse {
        _ = await eventually { connection.isAtEnd || RawResponse(connection.bytes)?.isWhole == true }
        guard let response = RawResponse(connection.bytes) else { throw NoResponse(text: connection.text) }
        return response
    }

    public struct NoResponse: Error { public let text: String }

    private var isWhole: Bool {
        guard let length = headers["content-length"].flatMap({ Int($0) }) else { return status == 204 }
        return body.count >= length
    }

    /// The first response that is no interim one; nil if the headers have not come whole.
    public init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while true {
            guard let end = RawResponse.headerEnd(rest) else { return nil }
            let lines = String(decoding: rest[..<end], as: UTF8.self).split(separator: "\r\n")
            let words = lines.first?.split(separator: " ") ?? []
            guard words.count > 1, let status = Int(words[1]) else { return nil }
            rest = rest[(end + 4)...]
            if status < 200 { continue }
            self.status = status
            var headers: [String: String] = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2 {
                    headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
                }
            }
            self.headers = headers
            let length = headers["content-length"].flatMap { Int($0) }
            body = Array(rest.prefix(length ?? .max))
            return
        }
    }

    private static func headerEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (bytes.startIndex...(bytes.endIndex - 4)).first {
            bytes[$0] == 13 && bytes[$0 + 1] == 10 && bytes[$0 + 2] == 13 && bytes[$0 + 3] == 10
        }
    }
}
