internal import CZMQ
public import Credentials
internal import Wire

/// A libzmq context: its I/O threads. Ends when nothing uses it any more, after its sockets.
public final class Context: Sendable {
    // Contexts are safe to share between threads (zmq_ctx_new(3)); the pointer never changes.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer

    /// Makes a context with one I/O thread, which carries some gigabits a second.
    public init() throws(BusError) {
        guard let pointer = zmq_ctx_new() else { throw BusError("zmq_ctx_new") }
        self.pointer = pointer
        zmq_ctx_set(pointer, ZMQ_MAX_SOCKETS, 4096)
    }

    deinit { zmq_ctx_term(pointer) }

    /// The version of libzmq in use.
    public static var libraryVersion: String {
        var parts: (Int32, Int32, Int32) = (0, 0, 0)
        zmq_version(&parts.0, &parts.1, &parts.2)
        return "\(parts.0).\(parts.1).\(parts.2)"
    }
}

/// A libzmq socket. Not copyable and not Sendable: it lives and dies on the thread that made it.
public struct Socket: ~Copyable {
    /// The kinds that the bus uses.
    public enum Kind: Sendable {
        /// Many peers, addressed.
        case router
        /// One peer.
        case dealer
        /// The other end of a monitor.
        case pair
        /// Answers questions one after the other.
        case answering
    }

    /// How the other side is known.
    public enum Security: Sendable {
        /// It is not: for loopback and files, and networks that nobody else is on.
        case plain
        /// By CURVE: this side binds, and an ``Authenticator`` of the context knows whom to let in. Without one nobody is.
        case server(KeyPair)
        /// By CURVE: this side connects, to whoever has the router's key.
        case client(ClientKey)
    }

    /// What became of a frame that was to be sent.
    public enum Outcome: Sendable {
        /// It is on its way.
        case sent
        /// The peer takes nothing more at the moment.
        case full
        /// There is no such peer.
        case unreachable
    }

    let pointer: UnsafeMutableRawPointer
    private let context: Context  // lives as long as the socket

    /// Makes a socket with every option that the bus relies on (docs/protocol.md, section 2).
    public init(_ kind: Kind, in context: Context, security: Security = .plain) throws(BusError) {
        let type =
            switch kind {
            case .router: ZMQ_ROUTER
            case .dealer: ZMQ_DEALER
            case .pair: ZMQ_PAIR
            case .answering: ZMQ_REP
            }
        guard let pointer = zmq_socket(context.pointer, type) else { throw BusError("zmq_socket") }
        let options = SocketOptions(socket: pointer)
        do throws(BusError) {
            try options.secure(security)
        } catch {
            zmq_close(pointer)
            throw error
        }
        options.prepare(kind)
        self.pointer = pointer
        self.context = context
    }

    deinit { zmq_close(pointer) }

    /// Whether this socket lets nobody in that the context's ``Authenticator`` does not: for tests.
    var isEnforcing: Bool {
        var value: Int32 = 0
        var size = MemoryLayout<Int32>.size
        return zmq_getsockopt(pointer, SocketOptions.enforceDomain, &value, &size) == 0 && value == 1
    }

    /// What can be waited for with `poll`; ``Poller`` knows what it means.
    var descriptor: Int32 {
        borrowing get throws(BusError) {
            var descriptor: Int32 = -1
            var size = MemoryLayout<Int32>.size
            guard zmq_getsockopt(pointer, ZMQ_FD, &descriptor, &size) == 0 else {
                throw BusError("zmq_getsockopt(FD)")
            }
            return descriptor
        }
    }

    /// Binds, and returns the address that it got: with port `*` or 0, the one chosen.
    public borrowing func bind(_ endpoint: String) throws(BusError) -> String {
        // Only where asked for: it makes IPv4 addresses read like IPv6 ones.
        if endpoint.contains("[") || endpoint.contains("//*") { SocketOptions(socket: pointer).set(ZMQ_IPV6, 1) }
        guard zmq_bind(pointer, endpoint) == 0 else { throw BusError("bind \(endpoint)") }
        var buffer = [CChar](repeating: 0, count: 512)
        var size = buffer.count
        guard zmq_getsockopt(pointer, ZMQ_LAST_ENDPOINT, &buffer, &size) == 0 else {
            throw BusError("zmq_getsockopt(LAST_ENDPOINT)")
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Connects, now and again after every loss.
    public borrowing func connect(_ endpoint: String) throws(BusError) {
        // Only where asked for: with it, names are looked up as IPv6 ones first.
        if endpoint.contains("[") { SocketOptions(socket: pointer).set(ZMQ_IPV6, 1) }
        guard zmq_connect(pointer, endpoint) == 0 else { throw BusError("connect \(endpoint)") }
    }

    /// Reports connects and disconnects to a pair socket at the given inproc address.
    public borrowing func monitor(at endpoint: String) throws(BusError) {
        let events =
            ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
            | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
        guard zmq_socket_monitor(pointer, endpoint, events) == 0 else { throw BusError("zmq_socket_monitor") }
    }

    /// Stops reporting. Before the socket is closed, so that nothing is written to a reader that is gone.
    public borrowing func stopMonitor() { zmq_socket_monitor(pointer, nil, 0) }

    /// Sends a frame if the peer can take it; never blocks.
    /// - Throws: `BusError` for what can only be a fault of this program or a context that has ended.
    public borrowing func send(_ message: consuming Message, more: Bool = false) throws(BusError) -> Outcome {
        let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
        while message.withHandle({ zmq_msg_send($0, pointer, flags) }) < 0 {
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return .full
            case EHOSTUNREACH: return .unreachable
            default: throw BusError("zmq_msg_send")
            }
        }
        return .sent
    }

    /// Sends the first frame of a message to one peer of a ROUTER.
    public borrowing func address(_ peer: Peer) throws(BusError) -> Outcome {
        var id = peer.routingID
        let flags = ZMQ_DONTWAIT | ZMQ_SNDMORE
        while zmq_send(pointer, &id, Peer.size, flags) < 0 {
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return .full
            case EHOSTUNREACH: return .unreachable
            default: throw BusError("zmq_send")
            }
        }
        return .sent
    }

    /// The next frame, or nil if none is waiting.
    public borrowing func receive() throws(BusError) -> Message? {
        var message = Message()
        while message.withHandle({ zmq_msg_recv($0, pointer, ZMQ_DONTWAIT) }) < 0 {
            switch zmq_errno() {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw BusError("zmq_msg_recv")
            }
        }
        return message
    }
}

/// A peer of a ROUTER socket: the five bytes that libzmq makes for those that choose no routing id themselves.
public struct Peer: Hashable, Sendable, CustomStringConvertible {
    static let size = 5
    let number: UInt32

    var routingID: (UInt8, UInt8, UInt8, UInt8, UInt8) {
        (
            0, UInt8(truncatingIfNeeded: number >> 24), UInt8(truncatingIfNeeded: number >> 16),
            UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)
        )
    }

    /// What `Dictionary` calls. libzmq counts its peers from a random number on: nobody chooses them.
    public func _rawHashValue(seed: Int) -> Int { UInt64(number).mixed(seed: seed) }

    /// For tests: a peer of the given number.
    public init(number: UInt32) { self.number = number }

    /// Reads the first frame of a message from a ROUTER; nil for a peer that has chosen its own routing id, which
    /// the protocol forbids: it could take the place of another.
    public init?(routingID: RawSpan) {
        guard routingID.byteCount == Peer.size, routingID.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == 0 else {
            return nil
        }
        number = UInt32(bigEndian: routingID.unsafeLoadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }

    /// Short, for logs.
    public var description: String { "peer-" + String(number, radix: 16) }
}
