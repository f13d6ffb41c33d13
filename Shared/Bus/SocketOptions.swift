internal import CZMQ
internal import Credentials
internal import Wire

/// The options of a socket, set before it is used.
struct SocketOptions {
    /// ZMQ_ZAP_ENFORCE_DOMAIN, which the header has among its drafts.
    static let enforceDomain: Int32 = 93

    let socket: UnsafeMutableRawPointer

    /// What every socket of its kind has.
    func prepare(_ kind: Socket.Kind) {
        guard kind == .router || kind == .dealer else { return set(ZMQ_LINGER, 0) }
        set(ZMQ_LINGER, 2000)  // without it, closing waits for ever for a peer that is gone
        set(ZMQ_SNDHWM, 10_000)  // credit is the bound; these must never be reached
        set(ZMQ_RCVHWM, 10_000)
        set(ZMQ_HEARTBEAT_IVL, 1000)
        set(ZMQ_HEARTBEAT_TIMEOUT, 3000)
        set(ZMQ_HEARTBEAT_TTL, 3000)
        set(ZMQ_HANDSHAKE_IVL, 5000)
        set(ZMQ_TCP_KEEPALIVE, 1)
        setWide(ZMQ_MAXMSGSIZE, Int64(Limits.frame))
        if kind == .router {
            set(ZMQ_ROUTER_MANDATORY, 1)  // a send to nobody is an error, not silence
            set(ZMQ_BACKLOG, 1024)
        } else {
            set(ZMQ_IMMEDIATE, 1)  // nothing is queued for a router that is not there
            set(ZMQ_RECONNECT_IVL, 100)
            set(ZMQ_RECONNECT_IVL_MAX, 2000)
            set(ZMQ_CONNECT_TIMEOUT, 2000)
            set(ZMQ_TCP_MAXRT, 5000)
        }
    }

    /// How the other side is known. What cannot be set must not be passed over.
    func secure(_ security: Socket.Security) throws(BusError) {
        switch security {
        case .plain: return
        case .server(let pair):
            try setKey(ZMQ_CURVE_SECRETKEY, pair.secretKey)
            try require(ZMQ_CURVE_SERVER, 1)
            // Without both of these libzmq lets everybody in when there is no handler to ask.
            let domain = Authenticator.domain
            guard zmq_setsockopt(socket, ZMQ_ZAP_DOMAIN, domain, domain.utf8.count) == 0 else {
                throw BusError("zmq_setsockopt(ZAP_DOMAIN)")
            }
            try require(SocketOptions.enforceDomain, 1)
        case .client(let key):
            try setKey(ZMQ_CURVE_SECRETKEY, key.pair.secretKey)
            try setKey(ZMQ_CURVE_PUBLICKEY, key.pair.publicKey)
            try setKey(ZMQ_CURVE_SERVERKEY, key.router)
        }
    }

    func set(_ option: Int32, _ value: Int32) {
        var value = value
        zmq_setsockopt(socket, option, &value, MemoryLayout<Int32>.size)
    }

    private func setWide(_ option: Int32, _ value: Int64) {
        var value = value
        zmq_setsockopt(socket, option, &value, MemoryLayout<Int64>.size)
    }

    private func require(_ option: Int32, _ value: Int32) throws(BusError) {
        var value = value
        guard zmq_setsockopt(socket, option, &value, MemoryLayout<Int32>.size) == 0 else {
            throw BusError("zmq_setsockopt(\(option))")
        }
    }

    private func setKey(_ option: Int32, _ key: SecretKey) throws(BusError) {
        let failure = key.withBytes { zmq_setsockopt(socket, option, $0.baseAddress, $0.count) }
        guard failure == 0 else { throw BusError("zmq_setsockopt(CURVE)") }
    }

    private func setKey(_ option: Int32, _ key: PublicKey) throws(BusError) {
        guard zmq_setsockopt(socket, option, key.bytes, key.bytes.count) == 0 else {
            throw BusError("zmq_setsockopt(CURVE)")
        }
    }
}
