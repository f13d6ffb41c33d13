import Bus
import Lifecycle
import Telemetry
import Wire

/// Reads messages, has the dispatcher decide, and sends what came of it. Lives on the router's thread.
struct Exchange: ~Copyable {
    enum Side { case frontend, backend }

    /// Messages read from one socket, or actions decided on, before something is sent.
    static let turn = 256
    /// Bytes of messages to be passed on before something is sent.
    static let turnBytes = 1024 * 1024

    let settings: RouterLoop.Settings
    let log: Log
    let planner: Planner
    /// Nil while no keys are configured.
    let access: BusAccess?
    var instance: Identifier { dispatcher.instance }
    var dispatcher: Dispatcher
    var taken: [Dispatcher.Action] = []
    var passing = PassingMessages()
    var batch = BatchWriter()
    /// What goes to somebody in this turn.
    var filled: [Outbox] = []
    var offenders = Offenders()
    private var lastTick: UInt64
    private var lastHeartbeat: UInt64
    private var manifestRevision: UInt64 = 0
    /// The skills that gateways were told of last.
    var announced: [String] = []
    private var drainStart: UInt64?
    var nextTask: UInt64 = 1
    var tasks: [UInt64: PlanningTask] = [:]
    var questions: [UInt64: (peer: Peer, side: Side, sequence: UInt64)] = [:]

    init(
        settings: RouterLoop.Settings,
        log: Log,
        planner: Planner,
        access: BusAccess? = nil,
        now: UInt64
    ) {
        self.settings = settings
        self.access = access
        self.log = log
        self.planner = planner
        dispatcher = Dispatcher(
            now: now,
            instance: .timeOrdered(milliseconds: WallClock.milliseconds),
            heartbeat: settings.heartbeat,
            liveness: settings.liveness,
            longestWait: settings.longestWait,
            cacheBytes: settings.cacheBytes
        )
        lastTick = now
        lastHeartbeat = now
    }

    /// How long the loop may wait: until a heartbeat or something timed is due.
    func waitTime(now: UInt64) -> Int {
        let isWaiting = !dispatcher.early.isEmpty || !dispatcher.returning.isEmpty
        let isBusy = isWaiting || !dispatcher.jobs.isEmpty || drainStart != nil
        let tick = lastTick + (isBusy ? 250 : settings.heartbeat)
        let next = min(tick, lastHeartbeat + settings.heartbeat)
        return next > now ? Int(next - now) : 0
    }

    mutating func wokeLate(now: UInt64) {
        // Connections may have been given up meanwhile, for the same reason: whoever is alive comes back and says so.
        dispatcher.graceEnds = now + 3 * settings.heartbeat
        for worker in dispatcher.registry.workers.values { worker.lastHeard = now }
        for gateway in dispatcher.registry.gateways.values { gateway.lastHeard = now }
    }

    // MARK: The end of a turn

    /// What happens once a turn. True when the router has drained.
    mutating func endTurn(
        frontend: borrowing Socket,
        backend: borrowing Socket,
        isDraining: Bool,
        now: UInt64
    ) throws(BusError) -> Bool {
        takePlans(now: now)
        if manifestRevision != dispatcher.registry.revision {
            manifestRevision = dispatcher.registry.revision
            planner.update(dispatcher.registry.manifests)
        }
        if now >= lastHeartbeat + settings.heartbeat {
            lastHeartbeat = now
            for worker in dispatcher.registry.workers.values {
                let heartbeat = Header(.heartbeat, value: UInt64(worker.waitingJobs))
                dispatcher.actions.append(.toWorker(worker.peer, Outgoing(heartbeat)))
            }
            tellGateways()
            offenders.forget(now: now)
        }
        if now >= lastTick + 250 || dispatcher.jobs.isEmpty && now >= lastTick + settings.heartbeat {
            lastTick = now
            dispatcher.tick(now: now)
        }
        if isDraining { beginDrain(now: now) }
        try perform(frontend: frontend, backend: backend, now: now)
        guard let drainStart else { return false }
        guard dispatcher.jobs.isEmpty || now >= drainStart + settings.drainLimit else { return false }
        sayGoodbye()
        try perform(frontend: frontend, backend: backend, now: now)
        return true
    }

    private mutating func beginDrain(now: UInt64) {
        guard drainStart == nil else { return }
        drainStart = now
        dispatcher.isDraining = true
        log.info("draining", ["jobs": .number(dispatcher.jobs.count)])
        for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
            dispatcher.actions.append(.toGateway(gateway, Outgoing(Header(.drain))))
        }
    }

    private mutating func sayGoodbye() {
        for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
            dispatcher.actions.append(.toGateway(gateway, Outgoing(Header(.goodbye))))
        }
        for peer in dispatcher.registry.workers.keys {
            dispatcher.actions.append(.toWorker(peer, Outgoing(Header(.goodbye))))
        }
    }
}
