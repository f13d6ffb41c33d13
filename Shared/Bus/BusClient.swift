internal import CLinux
public import Credentials
internal import Glibc
internal import Synchronization
public import Wire

/// The connections of a gateway or a worker to its routers: a DEALER for each, and the thread that owns them.
///
/// Other threads reach the sockets through bounded queues, one for each link; the thread is woken only when it sleeps.
public final class BusClient: Sendable {
    /// Why a message was not taken.
    public enum Refusal: Error, Sendable {
        /// More waits than may wait.
        case full
        /// The client has been closed, or the link is over.
        case closed
        /// Larger than what may be sent.
        case tooLarge(WireError)
    }

    /// What waits to be sent over one link.
    struct Queue {
        let link: BusLink
        var waiting: [Outgoing] = []
        var bytes = 0
        /// Bytes that the thread has, since the pipe is full.
        var unsentBytes = 0
        var isConnected = false

        var isEmpty: Bool { waiting.isEmpty && unsentBytes == 0 }
    }

    struct State {
        /// Nearly always one to three.
        var queues: [Queue] = [Queue(link: .first)]
        var isAsleep = false
        var isClosed = false
        var hasStarted = false
        var hasEnded = false
        var isPoked = false
        /// Addresses that are to have a connection, if they have changed; and how many those are.
        var addresses: [String]?
        var addressCount = 0
        /// Links that lead to a router which has another one.
        var parked: [BusLink] = []
        var endWaiters: [CheckedContinuation<Void, Never>] = []

        func index(of link: BusLink) -> Int? { queues.firstIndex { $0.link == link } }
    }
    let state = Mutex(State())
    let baton = Mutex(Baton())
    let watch = Semaphore()
    let wakeUp: WakeUp
    private let byteLimit: Int
    let key: ClientKey?
    let resolver = Mutex<AddressResolver?>(nil)
    /// Connections that a client may have at a time.
    public static let links = 16

    /// Makes a client that is not connected yet.
    /// - Parameters:
    ///   - byteLimit: Bytes that may wait to be sent over each link.
    ///   - key: This peer's key, where routers ask for one.
    /// - Throws: `BusError` when the process has no descriptor left.
    public init(byteLimit: Int = 64 * 1024 * 1024, key: ClientKey? = nil) throws(BusError) {
        wakeUp = try WakeUp()
        self.key = key
        self.byteLimit = byteLimit
    }

    /// Starts the thread, which connects to one address and stays connected until ``close()``. Returns when it runs.
    ///
    /// With `work`, which the thread may do between its turns, goes a second thread that can take over.
    /// - Throws: `BusError` when the address is none, or no socket can be had.
    public func start(
        _ endpoint: String,
        user: any BusClientUser,
        work: (any BusWork)? = nil
    ) throws(BusError) {
        try start([endpoint], user: user, work: work)
    }

    /// The same for several addresses, each of a router of its own. A name stands for all its addresses: it is looked up
    /// by a thread of its own, again every few seconds and after every loss.
    /// - Parameters:
    ///   - endpoints: The addresses.
    ///   - user: Is told what comes in.
    ///   - work: What the thread may do between its turns.
    ///   - lookUp: How names are looked up.
    /// - Throws: `BusError` when an address is none, or no socket can be had.
    public func start(
        _ endpoints: [String],
        user: any BusClientUser,
        work: (any BusWork)? = nil,
        lookUp: AddressResolver.LookUp = .system
    ) throws(BusError) {
        let resolver = AddressResolver(endpoints, lookUp: lookUp)
        let known = resolver.known
        let ready = Semaphore()
        let report = Report(ready)
        state.withLock { state in
            state.hasStarted = true
            state.addressCount = known.count
        }
        runThread(named: "bus") { [self] in
            do throws(BusError) {
                var loop = try BusLoop(key: key, wakeUp: wakeUp)
                try connect(known, &loop)
                report.succeed()
                loop.next = user.turn(now: Monotonic.milliseconds)
                if let work { runThread(named: "bus second") { [self] in second(user, work) } }
                try serve(loop, user, work)
            } catch {
                if !report.fail(error) { user.failed(error) }
                ended()
            }
        }
        ready.wait()
        if let error = report.error { throw error }
        guard resolver.hasNames else { return }
        self.resolver.withLock { $0 = resolver }
        resolver.start { [weak self] in self?.resolved($0) }
    }

    /// Other addresses, from the resolver's thread.
    private func resolved(_ addresses: [String]) {
        state.withLock { state in
            state.addresses = addresses
            state.addressCount = addresses.count
        }
        poke()
    }

    /// Queues a message. From any thread. What is still queued when a connection is made is dropped: send from
    /// ``BusClientUser/connected(_:)`` on.
    public func send(_ message: Outgoing, to link: BusLink = .first) throws(Refusal) {
        do throws(WireError) { try message.check() } catch { throw .tooLarge(error) }
        let mustWake = try state.withLock { state throws(Refusal) in
            guard !state.isClosed, let index = state.index(of: link) else { throw .closed }
            let bytes = state.queues[index].bytes + message.count
            let isOver = bytes + state.queues[index].unsentBytes > byteLimit
            if isOver, !state.queues[index].isEmpty { throw .full }
            state.queues[index].waiting.append(message)
            state.queues[index].bytes = bytes
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if mustWake { wakeUp.signal() }
    }

    /// Whether a message of so many bytes would be taken now. From any thread.
    public func hasRoom(for bytes: Int, on link: BusLink = .first) -> Bool {
        state.withLock { state in
            guard !state.isClosed, let index = state.index(of: link) else { return false }
            let queue = state.queues[index]
            return queue.isEmpty || queue.bytes + queue.unsentBytes + bytes <= byteLimit
        }
    }

    /// How many addresses routers have, as far as is known. From any thread.
    public var addresses: Int { state.withLock { $0.addressCount } }

    /// Leaves a link whose router has another one, until some link is lost. From any thread.
    public func park(_ link: BusLink) {
        state.withLock { $0.parked.append(link) }
        poke()
    }

    /// Asks for a call of ``BusClientUser/turn(now:)`` soon. From any thread.
    public func poke() {
        let mustWake = state.withLock { state in
            state.isPoked = true
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if mustWake { wakeUp.signal() }
    }

    /// Sends what is queued, ends the connections and the thread, and waits for that.
    public func close() async {
        resolver.withLock { $0 }?.stop()
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                let hasEnded = state.hasEnded || !state.hasStarted
                if !hasEnded { state.endWaiters.append(continuation) }
                return hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }
}

/// Tells the starter of a thread how it went.
private final class Report: Sendable {
    private let outcome = Mutex<(isDone: Bool, error: BusError?)>((false, nil))
    private let semaphore: Semaphore

    init(_ semaphore: Semaphore) { self.semaphore = semaphore }

    var error: BusError? { outcome.withLock { $0.error } }

    func succeed() { _ = finish(nil) }

    /// False when the start has been reported already.
    func fail(_ error: BusError) -> Bool { finish(error) }

    private func finish(_ error: BusError?) -> Bool {
        let isFirst = outcome.withLock { outcome in
            defer { if !outcome.isDone { outcome = (true, error) } }
            return !outcome.isDone
        }
        if isFirst { semaphore.signal() }
        return isFirst
    }
}
