internal import Glibc

/// The `--health` option: asks a gateway on this host whether it is ready, with nothing but a socket, so that an image
/// needs no HTTP client for its health check.
enum HealthProbe {
    /// Whether `/readyz` answers 200 within three seconds.
    static func isReady(host: String, port: Int) -> Bool {
        let name = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, String(port), &hints, &found) == 0 else { return false }
        defer { freeaddrinfo(found) }
        var next = found
        while let address = next?.pointee {
            if let status = ask(address, host: name, port: port) { return status == 200 }
            next = address.ai_next
        }
        return false
    }

    /// The status that the address answers with; nil if nobody does.
    private static func ask(_ address: addrinfo, host: String, port: Int) -> Int? {
        let descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 3, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else { return nil }
        let shown = host.contains(":") ? "[\(host)]" : host
        let question = Array("GET /readyz HTTP/1.1\r\nHost: \(shown):\(port)\r\nConnection: close\r\n\r\n".utf8)
        guard send(descriptor, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else {
            return nil
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256)
        while answer.count < 12 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            answer += buffer[..<count]
        }
        // "HTTP/1.1 200 ..."
        return Int(String(decoding: answer[9..<12], as: UTF8.self))
    }
}
