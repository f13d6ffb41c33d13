internal import CLinux
internal import CMicroHTTPD
internal import Glibc

/// Why a server cannot start.
public enum HTTPServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Somebody else listens there.
    case portInUse(address: String, port: Int)
    /// No address of this host, or no address at all.
    case unknownAddress(String, reason: String)
    /// The system refuses for another reason.
    case cannotListen(address: String, port: Int, reason: String)
    /// The HTTP library could not start its thread.
    case noThread

    /// One sentence with what to do.
    public var description: String {
        switch self {
        case .portInUse(let address, let port):
            "port \(port) on \(address) is in use: stop what listens there, or choose another port (0 takes a free one)"
        case .unknownAddress(let address, let reason):
            "\"\(address)\" is no address to listen on: \(reason)"
        case .cannotListen(let address, let port, let reason):
            "cannot listen on \(address), port \(port): \(reason)"
        case .noThread: "the HTTP server could not start its thread: look at the limits on threads and open files"
        }
    }
}

/// Opens the socket that a server listens on. Done here and not by the library, which has no errors to report.
enum ListeningSocket {
    /// Binds and listens; port 0 takes a free one.
    /// - Throws: What the system says, with address and port.
    static func open(address: String, port: Int) throws(HTTPServerError) -> (descriptor: Int32, port: Int) {
        guard (0...65_535).contains(port) else {
            throw .cannotListen(address: address, port: port, reason: "a port is a number from 0 to 65535")
        }
        // [::1] is how an IPv6 address is written beside a port.
        let host = address.hasPrefix("[") && address.hasSuffix("]") ? String(address.dropFirst().dropLast()) : address
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host.isEmpty ? nil : host, String(port), &hints, &found)
        guard failure == 0, let info = found else {
            throw .unknownAddress(address, reason: gai_strerror(failure).map { String(cString: $0) } ?? "\(failure)")
        }
        defer { freeaddrinfo(found) }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(info.pointee.ai_family, type, 0)
        guard descriptor >= 0 else { throw error(address, port) }
        var on: Int32 = 1
        var off: Int32 = 0
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if info.pointee.ai_family == AF_INET6 {
            // "::" is every address, IPv4 too.
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, size)
        }
        guard bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0, listen(descriptor, 511) == 0 else {
            let error = error(address, port)
            close(descriptor)
            throw error
        }
        return (descriptor, Int(cmicrohttpd_port(descriptor)))
    }

    /// From here on the system refuses who comes, instead of letting them wait.
    ///
    /// The number stays taken until it is closed, by something that accepts nothing: the library's thread may be about
    /// to use it, and must not meet somebody else's descriptor.
    static func stopListening(_ descriptor: Int32) {
        let placeholder = eventfd(0, Int32(EFD_CLOEXEC))
        guard placeholder >= 0 else { return }
        _ = dup2(placeholder, descriptor)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        close(placeholder)
    }

    private static func error(_ address: String, _ port: Int) -> HTTPServerError {
        let code = errno
        if code == EADDRINUSE { return .portInUse(address: address, port: port) }
        let reason = strerror(code).map { String(cString: $0) } ?? "error \(code)"
        if code == EADDRNOTAVAIL { return .unknownAddress(address, reason: reason) }
        if code == EACCES {
            return .cannotListen(
                address: address,
                port: port,
                reason: "\(reason) (ports below 1024 need a privilege)"
            )
        }
        return .cannotListen(address: address, port: port, reason: reason)
    }
}
