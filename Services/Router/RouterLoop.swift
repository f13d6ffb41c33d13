import Bus
import Credentials
import Intent
import Lifecycle
import Synchronization
import Telemetry
import Wire

/// The thread that owns the router's sockets, and with them everything the router knows.
///
/// Each turn: wait, read what came from workers, then from gateways, decide (``Dispatcher``), send. Workers first, since
/// ends free slots for what gateways submit.
final class RouterLoop: Sendable {
    struct Settings: Sendable {
        var frontend: String
        var backend: String
        var heartbeat: UInt64 = 1000
        var liveness: UInt64 = 3
        var drainLimit: UInt64 = 50_000
        /// Milliseconds that a job may have to wait for a worker when it is taken; 0 for as long as it takes.
        var longestWait: UInt64 = 10_000
        /// Bytes of outputs that are kept to be used again; 0 for none.
        var cacheBytes = 64 * 1_000_000
        /// Nil while no keys are configured.
        var access: BusAccess?
        /// From which scores on skills are meant.
        var thresholds = RoutingThresholds()
    }

    struct Bound: Sendable {
        let frontend: String
        let backend: String
    }

    private struct Wish {
        var isDraining = false
        var mustStop = false
        var hasNewList = false
    }

    private let settings: Settings
    private let log: Log
    private let wakeUp: WakeUp
    /// Its turns, by which a service manager sees that it is alive.
    let turns = TurnCount()
    private let request = Mutex(Wish())

    init(_ settings: Settings, log: Log) throws(BusError) {
        self.settings = settings
        self.log = log
        wakeUp = try WakeUp()
    }

    /// Runs until drained or stopped. Blocks: give it a thread of its own.
    func run(ready: (Bound) -> Void) throws(BusError) {
        let context = try Context()
        // Before any socket: without somebody to ask, nobody would be let in.
        let authenticator = try settings.access?.authenticator(in: context, log: log)
        defer { authenticator?.stop() }
        try serve(context, ready: ready)
    }

    private func serve(_ context: Context, ready: (Bound) -> Void) throws(BusError) {
        let security = settings.access.map { Socket.Security.server($0.pair) } ?? .plain
        let frontend = try Socket(.router, in: context, security: security)
        let backend = try Socket(.router, in: context, security: security)
        let bound = Bound(
            frontend: try frontend.bind(settings.frontend),
            backend: try backend.bind(settings.backend)
        )
        ready(bound)
        var exchange = Exchange(
            settings: settings,
            log: log,
            planner: Planner(wakeUp: wakeUp, thresholds: settings.thresholds),
            access: settings.access,
            now: Monotonic.milliseconds
        )
        defer { exchange.planner.close() }
        var poller = Poller()
        try poller.add(backend)
        try poller.add(frontend)
        poller.add(wakeUp)
        var lastTurn = Monotonic.milliseconds
        while true {
            try poller.wait(milliseconds: exchange.waitTime(now: Monotonic.milliseconds))
            let now = Monotonic.milliseconds
            if now > lastTurn + 2 * settings.heartbeat {
                // This process itself has slept: that nobody was heard of in the meantime says nothing about them.
                exchange.wokeLate(now: now)
            }
            lastTurn = now
            turns.add()
            if poller.isReadable(2) { wakeUp.clear() }
            if poller.isReadable(0) {
                try exchange.receive(from: backend, as: .backend, frontend: frontend, backend: backend, now: now)
            }
            if poller.isReadable(1) {
                try exchange.receive(from: frontend, as: .frontend, frontend: frontend, backend: backend, now: now)
            }
            let wish = request.withLock { wish in
                defer { wish.hasNewList = false }
                return wish
            }
            if wish.hasNewList { exchange.enforceAccess(now: now) }
            let hasDrained = try exchange.endTurn(
                frontend: frontend,
                backend: backend,
                isDraining: wish.isDraining,
                now: now
            )
            if hasDrained || wish.mustStop { return }
        }
    }

    /// Makes it turn once.
    func wake() { wakeUp.signal() }

    /// Takes nothing new and ends when what runs has ended.
    func drain() {
        request.withLock { $0.isDraining = true }
        wakeUp.signal()
    }

    /// Reads the list of keys anew. Whoever is no longer on it is gone; a list that cannot be read changes nothing.
    func reload() {
        guard let access = settings.access else { return log.info("no keys are configured: nothing to read anew") }
        do throws(CredentialError) {
            try access.reload()
            log.info("the list of keys has been read anew")
        } catch {
            return log.error("the list of keys stays as it was", ["reason": "\(error)"])
        }
        request.withLock { $0.hasNewList = true }
        wakeUp.signal()
    }

    /// Ends now.
    func stop() {
        request.withLock { $0.mustStop = true }
        wakeUp.signal()
    }
}
