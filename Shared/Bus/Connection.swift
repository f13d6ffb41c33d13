internal import Credentials
internal import Wire

/// The sockets of one link, and what is known of the other side. Belongs to the thread that has the ``BusLoop``.
final class Connection {
    let link: BusLink
    let endpoint: String
    let socket: Socket
    let monitor: Socket
    var isConnected = false
    /// Whether the router has said that it takes BATCH.
    var takesBatches = false
    /// Messages that the pipe did not take when they were tried last, and the first of them.
    var unsent: [Outgoing] = []
    var firstUnsent = 0
    /// When to begin anew after a refusal, in ``Monotonic`` milliseconds.
    var beginsAnew: UInt64?

    /// Connects. `monitorAddress` must be one that was never used in the context.
    init(
        _ link: BusLink,
        to endpoint: String,
        in context: Context,
        key: ClientKey?,
        monitorAddress: String
    ) throws(BusError) {
        let socket = try Socket(.dealer, in: context, security: key.map { .client($0) } ?? .plain)
        let monitor = try Socket(.pair, in: context)
        try socket.monitor(at: monitorAddress)
        try monitor.connect(monitorAddress)
        do throws(BusError) {
            try socket.connect(endpoint)
        } catch {
            socket.stopMonitor()
            throw error
        }
        self.link = link
        self.endpoint = endpoint
        self.socket = socket
        self.monitor = monitor
    }

    deinit { socket.stopMonitor() }
}
