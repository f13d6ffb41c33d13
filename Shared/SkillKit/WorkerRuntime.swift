internal import Bus
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// The worker's side of the protocol (docs/protocol.md, section 7): registration, credit, heartbeats, executions,
/// deadlines, cancellation, acknowledgement and drain. All messages are read and sent on the bus thread; executions run
/// as tasks and reach it through ``WorkerExecution``.
final class WorkerRuntime: BusClientUser {
    /// What ends the process without a signal.
    enum Ending: Sendable {
        case refused(JobError)
        case drained
    }

    enum Phase {
        case disconnected
        case registering(since: UInt64)
        case registered
    }

    struct State {
        var phase = Phase.disconnected
        var heartbeat: UInt64 = 1000
        var lastHeartbeat: UInt64 = 0
        var lastResend: UInt64 = 0
        var dispatchSeen: UInt64 = 0
        var executions: [Identifier: WorkerExecution] = [:]
        /// What has something to say.
        var unsent: [WorkerExecution] = []
        /// Empty: memory for the next list of that kind.
        var spare: [WorkerExecution] = []
        /// What has said that it may wait, and when the first of it has waited long enough.
        var waiting: [WorkerExecution] = []
        var waitingEnds: UInt64 = .max
        var slotsInUse = 0
        var slotsLent = 0
        var calls: [UInt64: CheckedContinuation<Result<SkillOutput, SkillError>, Never>] = [:]
        var nextCall: UInt64 = 1
        var isDraining = false
        var drainLimit: UInt64 = .max
        /// When the executions must be looked through for deadlines; until then no turn spends time on that.
        var nextDeadline: UInt64 = .max
        var hasEnded = false
    }

    let skills: [String: HostedSkill]
    let registration: Registration
    let client: BusClient
    let executor: SkillExecutor
    let tasks: ExecutionTasks
    let log: Log
    /// Turns of the bus thread, by which a service manager sees that it is alive.
    let turns = TurnCount()
    let state = Mutex(State())
    let onReady: @Sendable () -> Void
    let onEnd: @Sendable (Ending) -> Void
    /// How long a cancelled skill may take to stop before its job is ended without it.
    static let stopGrace: UInt64 = 5000
    /// Refusals of a registration that trying again would not change. An error about a single message is no reason to
    /// leave with all jobs.
    static let finalRefusals: Set = [JobError.Code.badManifest, JobError.Code.manifestConflict, "unsupported_version"]
    static let resendInterval: UInt64 = 2000
    static let registerInterval: UInt64 = 2000

    init(
        skills: [HostedSkill],
        registration: Registration,
        client: BusClient,
        log: Log,
        onReady: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable (Ending) -> Void
    ) {
        self.skills = Dictionary(skills.map { ($0.manifest.id, $0) }) { first, _ in first }
        self.registration = registration
        self.client = client
        executor = SkillExecutor(threads: SkillExecutor.defaultThreads) { client.poke() }
        tasks = ExecutionTasks(on: executor)
        self.log = log
        self.onReady = onReady
        self.onEnd = onEnd
    }

    // MARK: The bus thread

    func connected() {
        // What was called while nobody was there has been dropped with all that waited.
        failCalls()
        state.withLock { state in
            state.dispatchSeen = 0
            register(&state, now: Monotonic.milliseconds)
        }
    }

    func disconnected() {
        failCalls()
        state.withLock { $0.phase = .disconnected }
        log.info("router lost, reconnecting")
    }

    func refused() {
        log.warning("the router does not let this key in", ["hint": "it must be on the router's list, as a worker"])
    }

    /// What a call is answered may be lost with the connection: whoever waits decides what to do.
    private func failCalls() {
        let lost = state.withLock { state in
            defer { state.calls = [:] }
            return state.calls.values.map { $0 }
        }
        let error = SkillError(JobError.Code.noRouter, "the router was lost during the call", retryable: true)
        lost.forEach { $0.resume(returning: .failure(error)) }
    }

    func register(_ state: inout State, now: UInt64) {
        state.phase = .registering(since: now)
        var registration = registration
        registration.held = state.executions.values.map { execution in
            let isEnded = execution.hasEnded
            return .init(
                execution: execution.execution,
                sequence: execution.lastSequence,
                state: isEnded ? .unacknowledged : .running
            )
        }
        do {
            let free = freeSlots(state)
            let header = Header(
                .register,
                flags: .takesBatches,
                sequence: state.dispatchSeen,
                value: UInt64(free)
            )
            try client.send(Outgoing(header, json: registration))
        } catch {
            log.error("registration not sent", ["reason": "\(error)"])
        }
    }

    func freeSlots(_ state: borrowing State) -> Int {
        state.isDraining ? 0 : max(registration.concurrency - state.slotsInUse + state.slotsLent, 0)
    }

    func received(_ message: consuming Incoming) {
        let now = Monotonic.milliseconds
        let header = message.header
        switch header.type {
        case .dispatch: dispatch(message, now: now)
        case .welcome: welcome(message.body(), now: now)
        case .eventAck:
            state.withLock { state in
                _ = try? message.withBody { body throws(WireError) in
                    try ExecutionList.forEach(body) { execution in
                        guard state.executions[execution.job]?.execution == execution else { return }
                        state.executions[execution.job] = nil
                    }
                }
            }
        case .fenced:
            _ = try? message.withBody { body throws(WireError) in try ExecutionList.forEach(body) { fenced($0) } }
        case .cancel:
            let execution = state.withLock { state in
                state.nextDeadline = min(state.nextDeadline, now + WorkerRuntime.stopGrace)
                return state.executions[header.job]
            }
            execution?.stop(JobError(code: JobError.Code.cancelled, message: "cancelled"), now: now)
        case .result: result(header, message.body())
        case .error: problem(message.body(), now: now)
        case .heartbeat, .drain, .goodbye: break
        default: log.warning("unexpected message", ["type": "\(header.type)"])
        }
    }

    func rejected(_ error: WireError) { log.warning("unreadable message", ["reason": "\(error)"]) }

    func welcome(_ body: [UInt8], now: UInt64) {
        guard let welcome = try? JSONBody.decode(Welcome.self, from: body) else { return }
        state.withLock { state in
            state.phase = .registered
            state.heartbeat = UInt64(max(welcome.heartbeat, 50))
            state.lastResend = 0
        }
        log.info("registered", ["router": "\(welcome.router)"])
        onReady()
    }

    func problem(_ body: [UInt8], now: UInt64) {
        guard let error = try? JSONBody.decode(JobError.self, from: body) else { return }
        if error.code == "unregistered" {
            state.withLock { register(&$0, now: now) }
        } else if error.retryable || !WorkerRuntime.finalRefusals.contains(error.code) {
            log.warning("router refuses for now", ["code": "\(error.code)", "reason": "\(error.message)"])
        } else {
            onEnd(.refused(error))
        }
    }

    /// Takes nothing new, and ends when what is running has ended and has been acknowledged, or at the limit.
    func drain(within milliseconds: UInt64) {
        state.withLock { state in
            guard !state.isDraining else { return }
            state.isDraining = true
            state.drainLimit = Monotonic.milliseconds + milliseconds
        }
        try? client.send(Outgoing(Header(.drain)))
        client.poke()
    }

    /// Whether there is nothing to finish, and nobody to say goodbye to.
    var mayLeaveAtOnce: Bool {
        state.withLock { state in
            if case .registered = state.phase { return false }
            return state.executions.isEmpty
        }
    }

    /// Whether a router has taken this worker.
    var isRegistered: Bool {
        state.withLock { state in if case .registered = state.phase { true } else { false } }
    }
}
