internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// All connections of a server, and one thread that watches over them: it sees peers leave while the library does not
/// look (it takes a suspended connection out of its own event loop), and ends what is too late.
///
/// The thread sleeps until something happens or the next deadline comes; it never polls.
final class ConnectionWatch: Sendable {
    private struct State {
        var connections: [UInt64: HTTPConnection] = [:]
        var perAddress: [String: Int] = [:]
        var lastID: UInt64 = 0
        /// When the thread will look at the deadlines next.
        var nextLook = UInt64.max
        var isStopped = false
        var onEmpty: AsyncStream<Void>.Continuation?
    }
    private let state = Mutex(State())
    private let events: Int32
    private let wakeUp: Int32
    private let limits: HTTPLimits

    init?(limits: HTTPLimits) {
        self.limits = limits
        events = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = WakeUpDescriptor.make()
        // Where one is missing, `deinit` closes the other: it runs for what was complete when its making failed.
        guard events >= 0, wakeUp >= 0 else { return nil }
        add(wakeUp, EPOLLIN.rawValue, id: 0)
    }

    deinit {
        if events >= 0 { close(events) }
        if wakeUp >= 0 { close(wakeUp) }
    }

    private func add(_ descriptor: Int32, _ what: UInt32, id: UInt64) {
        var event = epoll_event(events: what, data: epoll_data_t(u64: id))
        epoll_ctl(events, EPOLL_CTL_ADD, descriptor, &event)
    }

    /// Starts the thread. It holds on to the watch until ``stop()``.
    func start() {
        startThread(named: "http watch") { [self] in run() }
    }

    /// Ends the thread. No connection may be opened after this.
    func stop() {
        state.withLock { $0.isStopped = true }
        wake()
    }

    private func wake() { WakeUpDescriptor.signal(wakeUp) }

    // MARK: Called by the library's thread

    /// A connection was accepted.
    func opened(descriptor: Int32, peer: String) -> HTTPConnection {
        let now = HTTPConnection.now()
        let deadline = now + limits.headerTime.nanoseconds
        let (connection, mustWake) = state.withLock { state in
            state.lastID += 1
            let ofAddress = state.perAddress[peer, default: 0] + 1
            state.perAddress[peer] = ofAddress
            let connection = HTTPConnection(
                id: state.lastID,
                descriptor: descriptor,
                peer: peer,
                refusal: refusal(open: state.connections.count, ofAddress: ofAddress, peer: peer),
                deadline: deadline
            )
            state.connections[connection.id] = connection
            return (connection, ConnectionWatch.mustWake(&state, for: deadline))
        }
        // Edge-triggered and only for the end: one event in the life of a connection.
        add(descriptor, EPOLLRDHUP.rawValue | EPOLLET.rawValue, id: connection.id)
        if mustWake { wake() }
        return connection
    }

    private func refusal(open: Int, ofAddress: Int, peer: String) -> HTTPProblem? {
        if open >= limits.connections {
            return HTTPProblem(
                503,
                "too_many_connections",
                "\(limits.connections) connections are open; that is the limit.",
                hint: "Try again in a moment.",
                headers: ["Retry-After": "2"]
            )
        }
        let isLoopback = peer.hasPrefix("127.") || peer == "::1" || peer.hasPrefix("::ffff:127.")
        guard !isLoopback, ofAddress > limits.connectionsPerAddress else { return nil }
        return HTTPProblem(
            429,
            "too_many_connections",
            "\(limits.connectionsPerAddress) connections of one address are the limit.",
            hint: "Close some, or use fewer at a time.",
            headers: ["Retry-After": "2"]
        )
    }

    /// A connection enters a phase.
    func enter(_ phase: HTTPConnection.Phase, _ connection: HTTPConnection, within time: Duration?) {
        let deadline = time.map { HTTPConnection.now() + $0.nanoseconds } ?? .max
        connection.enter(phase, deadline: deadline)
        look(before: deadline)
    }

    /// A request begins.
    func begin(_ exchange: HTTPExchange) {
        let deadline = HTTPConnection.now() + limits.headerTime.nanoseconds
        exchange.connection.begin(exchange, deadline: deadline)
        look(before: deadline)
    }

    /// A request has been answered.
    func end(_ connection: HTTPConnection) {
        let deadline = HTTPConnection.now() + limits.idleTime.nanoseconds
        connection.end(idleUntil: deadline)
        look(before: deadline)
    }

    /// A connection's descriptor is about to be closed.
    func closed(_ connection: HTTPConnection) {
        connection.noticeClosed()
        var unused = epoll_event()
        epoll_ctl(events, EPOLL_CTL_DEL, connection.descriptor, &unused)
        let onEmpty = state.withLock { state in
            state.connections[connection.id] = nil
            let ofAddress = state.perAddress[connection.peer, default: 1] - 1
            state.perAddress[connection.peer] = ofAddress > 0 ? ofAddress : nil
            return state.connections.isEmpty ? state.onEmpty : nil
        }
        onEmpty?.finish()
    }

    private func look(before deadline: UInt64) {
        if state.withLock({ ConnectionWatch.mustWake(&$0, for: deadline) }) { wake() }
    }

    /// Whether the thread sleeps past the deadline. It is woken once, then it knows.
    private static func mustWake(_ state: inout State, for deadline: UInt64) -> Bool {
        guard deadline < state.nextLook else { return false }
        state.nextLook = deadline
        return true
    }

    // MARK: Called by anybody

    /// All connections.
    var connections: [HTTPConnection] { state.withLock { Array($0.connections.values) } }

    /// How many there are.
    var count: Int { state.withLock { $0.connections.count } }

    /// Ends when there is no connection left. Ask once.
    func emptied() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let isEmpty = state.withLock { state in
            state.onEmpty = continuation
            return state.connections.isEmpty
        }
        if isEmpty { continuation.finish() }
        return stream
    }

    // MARK: The thread

    private func run() {
        var found = [epoll_event](repeating: epoll_event(), count: 64)
        while !state.withLock({ $0.isStopped }) {
            let count = epoll_wait(events, &found, Int32(found.count), waitTime())
            for event in found.prefix(max(0, Int(count))) {
                let id = event.data.u64
                if id == 0 {
                    WakeUpDescriptor.clear(wakeUp)
                } else {
                    state.withLock { $0.connections[id] }?.noticePeerLeft()
                }
            }
            endWhatIsLate()
        }
    }

    /// Milliseconds until the next look; -1 for never.
    private func waitTime() -> Int32 {
        let next = state.withLock { $0.nextLook }
        guard next < .max else { return -1 }
        let now = HTTPConnection.now()
        return next <= now ? 0 : Int32(clamping: (next - now) / 1_000_000 + 1)
    }

    private func endWhatIsLate() {
        let now = HTTPConnection.now()
        let all: [HTTPConnection]? = state.withLock { state in
            guard state.nextLook <= now else { return nil }
            // Set before the deadlines are read, so that one that comes meanwhile wakes the thread again.
            state.nextLook = .max
            return Array(state.connections.values)
        }
        guard let all else { return }
        var next = UInt64.max
        for connection in all {
            connection.expire(now: now)
            next = min(next, connection.deadline)
        }
        state.withLock { $0.nextLook = min($0.nextLook, next) }
    }
}
