internal import CLinux
public import Credentials
internal import Glibc
internal import Synchronization
public import Wire

/// What uses a connection to a router. Every method is called on the thread that owns the socket, one at a time: none
/// may block, and state that only they touch needs no lock beyond what the compiler asks for.
public protocol BusClientUser: AnyObject, Sendable {
    /// The router has been reached, for the first time or again. Introduce yourself.
    func connected()
    /// The router has gone. The client keeps trying.
    func disconnected()
    /// A message. It may be consumed by moving it away.
    func received(_ message: consuming Incoming)
    /// Something that was not a message came in.
    func rejected(_ error: WireError)
    /// Called when what was waiting has been read, and at the time that the last call asked for.
    /// - Returns: When to be called next at the latest, in ``Monotonic`` milliseconds; nil for "when something comes".
    func turn(now: UInt64) -> UInt64?
    /// The router has not let this peer in, and will be asked again every few seconds: its list may change.
    func refused()
    /// The socket cannot be used any more; nothing is called after this. Unless a process can do without its bus, it ends.
    func failed(_ error: BusError)
}

extension BusClientUser {
    /// Nothing.
    public func refused() {}

    /// Ends the process: a supervisor starts it again, which is better than one that looks alive.
    public func failed(_ error: BusError) {
        let line = Array("bus: \(error)\n".utf8)
        _ = write(2, line, line.count)
        exit(1)
    }
}

/// The connection of a gateway or a worker to one router: a DEALER socket and the thread that owns it.
///
/// Other threads reach the socket through a bounded queue; the thread is woken only when it sleeps.
public final class BusClient: Sendable {
    /// Why a message was not taken.
    public enum Refusal: Error, Sendable {
        /// More waits than may wait.
        case full
        /// The client has been closed.
        case closed
        /// Larger than what may be sent.
        case tooLarge(WireError)
    }

    private struct State {
        var waiting: [Outgoing] = []
        var bytes = 0
        var isAsleep = false
        var isClosed = false
        var hasStarted = false
        var hasEnded = false
        var isPoked = false
        var endWaiters: [CheckedContinuation<Void, Never>] = []
    }
    private let state = Mutex(State())
    private let baton = Mutex(Baton())
    private let watch = Semaphore()
    private let wakeUp: WakeUp
    private let byteLimit: Int
    private let key: ClientKey?
    /// After a refusal, in milliseconds.
    private static let pause: UInt64 = 2000

    /// Makes a client that is not connected yet.
    /// - Parameters:
    ///   - byteLimit: Bytes that may wait to be sent.
    ///   - key: This peer's key, where the router asks for one.
    /// - Throws: `BusError` when the process has no descriptor left.
    public init(byteLimit: Int = 64 * 1024 * 1024, key: ClientKey? = nil) throws(BusError) {
        wakeUp = try WakeUp()
        self.key = key
        self.byteLimit = byteLimit
    }

    /// Starts the thread, which connects to the address and stays connected until ``close()``. Returns when it runs.
    ///
    /// With `work`, which the thread may do between its turns, goes a second thread that can take over.
    /// - Throws: `BusError` when the address is none, or no socket can be had.
    public func start(
        _ endpoint: String,
        user: any BusClientUser,
        work: (any BusWork)? = nil
    ) throws(BusError) {
        let ready = Semaphore()
        let report = Report(ready)
        state.withLock { $0.hasStarted = true }
        runThread(named: "bus") { [self] in
            do throws(BusError) {
                var loop = try BusLoop(endpoint, key: key, monitoredAt: BusClient.monitorAddress, wakeUp: wakeUp)
                report.succeed()
                loop.next = user.turn(now: Monotonic.milliseconds)
                if let work { runThread(named: "bus second") { [self] in second(endpoint, user, work) } }
                try serve(loop, endpoint, user, work)
            } catch {
                if !report.fail(error) { user.failed(error) }
                ended()
            }
        }
        ready.wait()
        if let error = report.error { throw error }
    }

    /// Of the context of a loop, which has one socket that is watched.
    private static let monitorAddress = "inproc://monitor"

    /// Is the bus thread until the client is closed, or until another thread has become it.
    private func serve(
        _ given: consuming BusLoop,
        _ endpoint: String,
        _ user: any BusClientUser,
        _ work: (any BusWork)?
    ) throws(BusError) {
        var own: BusLoop? = consume given
        while var loop = own.take() {
            var step = Step.turn
            while case .turn = step {
                step = try turn(&loop, user, work)
                if let time = loop.beginsAnew, Monotonic.milliseconds >= time {
                    loop.socket.stopMonitor()
                    loop = try BusLoop(endpoint, key: key, monitoredAt: BusClient.monitorAddress, wakeUp: wakeUp)
                }
            }
            guard case .work(let work) = step else {
                loop.socket.stopMonitor()
                _ = consume loop
                return ended()
            }
            own = consume loop
            let mustWake = baton.withLock { $0.put(own.take(), now: Monotonic.milliseconds) }
            if mustWake { watch.signal() }
            work.perform()
            own = baton.withLock { $0.take() }
            guard own != nil else { break }
            work.performed()
            // What it brought is to be sent before anything is waited for.
            own?.next = 0
            own?.hasWorked = true
        }
        if let work { second(endpoint, user, work) }
    }

    /// Watches over the work of the bus thread, and becomes the bus thread when that takes long.
    private func second(_ endpoint: String, _ user: any BusClientUser, _ work: any BusWork) {
        let isOver = baton.withLock { baton in
            baton.hasSecond = true
            return baton.isOver
        }
        if isOver { return }
        while true {
            watch.wait()
            watching: while true {
                usleep(2500)
                switch baton.withLock({ $0.watch(now: Monotonic.milliseconds) }) {
                case .over: return
                case .again: continue watching
                case .rest: break watching
                case .takeOver(var loop):
                    work.overran(now: Monotonic.milliseconds)
                    loop.next = 0
                    do throws(BusError) {
                        return try serve(loop, endpoint, user, work)
                    } catch {
                        user.failed(error)
                        return ended()
                    }
                }
            }
        }
    }

    /// The sockets are closed.
    private func ended() {
        baton.withLock { $0.isOver = true }
        watch.signal()
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.endWaiters = [] }
            return state.endWaiters
        }
        waiters.forEach { $0.resume() }
    }

    /// Queues a message. From any thread. What is still queued when a connection is made is dropped: send from
    /// ``BusClientUser/connected()`` on.
    public func send(_ message: Outgoing) throws(Refusal) {
        do throws(WireError) { try message.check() } catch { throw .tooLarge(error) }
        let mustWake = try state.withLock { state throws(Refusal) in
            if state.isClosed { throw .closed }
            if state.bytes + message.count > byteLimit, !state.waiting.isEmpty { throw .full }
            state.waiting.append(message)
            state.bytes += message.count
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if mustWake { wakeUp.signal() }
    }

    /// Whether a message of so many bytes would be taken now. From any thread.
    public func hasRoom(for bytes: Int) -> Bool {
        state.withLock { !$0.isClosed && ($0.waiting.isEmpty || $0.bytes + bytes <= byteLimit) }
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

    /// Sends what is queued, ends the connection and the thread, and waits for that.
    public func close() async {
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

    private enum Step { case turn, closed, work(any BusWork) }

    private func turn(
        _ loop: inout BusLoop,
        _ user: any BusClientUser,
        _ work: (any BusWork)?
    ) throws(BusError) -> Step {
        let isBlocked = try sendWaiting(&loop)
        var mustLookSoon = isBlocked
        if loop.hasWorked {
            loop.hasWorked = false
        } else if let work {
            let mayPerform = loop.isConnected && !isBlocked && baton.withLock { $0.hasSecond }
            switch work.next(now: Monotonic.milliseconds, mayPerform: mayPerform) {
            case .perform: return .work(work)
            case .waitShortly: mustLookSoon = true
            case .wait: break
            }
        }
        // Between emptying the queue and falling asleep nothing may be missed, so both are one step under the lock.
        let (mayWait, isClosed) = state.withLock { state in
            state.isAsleep = state.waiting.isEmpty && !state.isClosed && !state.isPoked
            let mayWait = state.isAsleep || !loop.isConnected && !state.isClosed && !state.isPoked
            return (mayWait, state.isClosed && (state.waiting.isEmpty || !loop.isConnected || isBlocked))
        }
        if isClosed { return .closed }
        let now = Monotonic.milliseconds
        let next = loop.beginsAnew.map { min($0, loop.next ?? .max) } ?? loop.next
        let limit = next.map { Int($0 > now ? min($0 - now, 60_000) : 0) }
        // A pipe that is full empties at the pace of its reader: not asked again and again, but soon.
        let soon = isBlocked ? 5 : 1
        try loop.poller.wait(milliseconds: mustLookSoon ? min(limit ?? soon, soon) : mayWait ? limit : 0)
        try read(&loop, user)
        loop.next = user.turn(now: Monotonic.milliseconds)
        return .turn
    }

    private func read(_ loop: inout BusLoop, _ user: any BusClientUser) throws(BusError) {
        state.withLock {
            $0.isAsleep = false
            $0.isPoked = false
        }
        if loop.poller.isReadable(2) { wakeUp.clear() }
        if loop.poller.isReadable(1) {
            try readMonitor(&loop, user: user)
            // The next router says for itself.
            loop.takesBatches = false
        }
        if loop.poller.isReadable(0) { try receive(&loop, user: user) }
    }

    /// Sends what waits. True when the pipe is full.
    private func sendWaiting(_ loop: inout BusLoop) throws(BusError) -> Bool {
        guard loop.isConnected else { return false }
        state.withLock { state in
            guard !state.waiting.isEmpty else { return }
            swap(&loop.sending, &state.waiting)
            state.bytes = 0
        }
        defer { loop.sending.removeAll(keepingCapacity: loop.sending.capacity <= 4096) }
        guard let firstUnsent = try send(&loop) else { return false }
        // The pipe is full or just went: keep the order, try again later.
        let unsent = loop.sending[firstUnsent...]
        state.withLock { state in
            state.waiting.insert(contentsOf: unsent, at: 0)
            state.bytes += unsent.reduce(0) { $0 + $1.count }
        }
        return true
    }

    /// Sends what the loop has to send, small messages together where the router takes that.
    /// - Returns: The place of the first message that could not be sent; nil when there is none.
    private func send(_ loop: inout BusLoop) throws(BusError) -> Int? {
        let mayBatch = loop.takesBatches && loop.sending.count > 1
        var firstOfBatch = 0
        for index in loop.sending.indices {
            let isSmall = mayBatch && loop.sending[index].isSmall
            if loop.batch.count > 0, !isSmall || !loop.batch.hasRoom(for: loop.sending[index].count) {
                if try loop.batch.send(on: loop.socket, to: nil) != .sent { return firstOfBatch }
            }
            if isSmall {
                if loop.batch.count == 0 { firstOfBatch = index }
                loop.sending[index].append(to: &loop.batch)
            } else if try loop.sending[index].send(on: loop.socket, to: nil) != .sent {
                return index
            }
        }
        guard loop.batch.count > 0 else { return nil }
        return try loop.batch.send(on: loop.socket, to: nil) != .sent ? firstOfBatch : nil
    }

    private func receive(_ loop: inout BusLoop, user: any BusClientUser) throws(BusError) {
        for _ in 0..<256 {
            guard let first = try loop.socket.receive() else { return }
            do throws(IncomingError) {
                let message = try Incoming(first: first, from: loop.socket)
                switch message.header.type {
                case .batch:
                    unpack(message, user: user)
                    continue
                case .welcome: loop.takesBatches = message.header.flags.contains(.takesBatches)
                default: break
                }
                user.received(message)
            } catch {
                switch error {
                case .wire(let error): user.rejected(error)
                case .bus(let error): throw error
                }
            }
        }
    }

    private func unpack(_ batch: consuming Incoming, user: any BusClientUser) {
        do throws(WireError) {
            try batch.withBody { body throws(WireError) in
                var cursor = BatchCursor()
                while let part = try cursor.next(in: body) {
                    do throws(WireError) {
                        user.received(try Incoming(copying: body.extracting(part)))
                    } catch {
                        user.rejected(error)
                    }
                }
            }
        } catch {
            user.rejected(error)
        }
    }

    private func readMonitor(_ loop: inout BusLoop, user: any BusClientUser) throws(BusError) {
        while var event = try loop.monitor.receive() {
            let number = event.withBytes { bytes in
                bytes.byteCount >= 2 ? bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self) : 0
            }
            if event.isFollowed { _ = try loop.monitor.receive() }
            if number == MonitorEvent.handshakeSucceeded {
                loop.isConnected = true
                // What waited was meant for a connection that is gone: what matters of it, its senders send again.
                state.withLock { state in
                    state.waiting = []
                    state.bytes = 0
                }
                user.connected()
            } else if number == MonitorEvent.disconnected, loop.isConnected {
                loop.isConnected = false
                user.disconnected()
            } else if MonitorEvent.refused.contains(number) {
                if loop.beginsAnew == nil { loop.beginsAnew = Monotonic.milliseconds + BusClient.pause }
                user.refused()
            }
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
