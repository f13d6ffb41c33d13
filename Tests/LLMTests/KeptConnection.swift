import Glibc
import Synchronization
import TestSupport

/// A server that keeps its connections open: each request is answered with the next of its answers, and with silence when
/// there is none left.
final class KeptConnection: Sendable {
    struct NoSocket: Error {}
    let port: Int
    private let listener: Int32
    private let count = Count()
    var connections: Int { count.value }

    init(answers: [String]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let failed = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) != 0 || listen(listener, 8) != 0
                    || getsockname(listener, address, &size) != 0
            }
        }
        guard listener >= 0, !failed else {
            if listener >= 0 { close(listener) }
            throw NoSocket()
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let count = count
        let left = Mutex(answers[...])
        let next: @Sendable () -> String? = { left.withLock { $0.popFirst() } }
        thread {
            while true {
                let socket = accept(listener, nil, nil)
                guard socket >= 0 else {
                    close(listener)
                    return
                }
                count.next()
                thread {
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    while recv(socket, &buffer, buffer.count, 0) > 0 {
                        guard let answer = next() else { continue }
                        _ = answer.withCString { Glibc.send(socket, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
                    }
                    close(socket)
                }
            }
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
