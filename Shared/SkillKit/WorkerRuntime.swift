internal import Bus
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// The worker's side of the protocol (docs/protocol.md, section 7): registration, credit, heartbeats, executions,
/// deadlines, cancellation, acknowledgement and drain, with one router or several. All messages are read and sent on the
/// bus thread; executions run as tasks and reach it through ``WorkerExecution``.
final class WorkerRuntime: BusClientUser {
    /// What ends the process without a signal.
    enum Ending: Sendable {
        case refused(JobError)
        case drained
    }

    /// How it stands with one router. There is one for each that is connected.
    struct Link {
        /// Since when a registration waits for its answer.
        var registering: UInt64?
        /// Its instance, once it has welcomed this worker.
        var router: Identifier?
        var heartbeat: UInt64 = 1000
        var lastHeartbeat: UInt64 = 0
        var lastResend: UInt64 = 0
        var dispatchSeen: UInt64 = 0

        var isRegistered: Bool { registering == nil && router != nil }
    }

    /// A call of another skill that waits for its answer.
    struct Call {
        let link: BusLink
        /// Who waits for it.
        let execution: WorkerExecution
        let continuation: CheckedContinuation<Result<SkillOutput, SkillError>, Never>
    }

    /// A question to a router that waits for its answer.
    struct OpenQuery {
        let link: BusLink
        let continuation: CheckedContinuation<Result<[UInt8], SkillError>, Never>
    }

    struct State {
        var links: [BusLink: Link] = [:]
        var shares = SlotShares()
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
        var calls: [UInt64: Call] = [:]
        /// By their numbers.
        var queries: [UInt64: OpenQuery] = [:]
        /// The next number of a call, a query or a question.
        var nextCall: UInt64 = 1
        var questions: [UInt64: Question] = [:]
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
        // The low bits are random.
        state.withLock { $0.shares.seed = Int(registration.instance.low >> 16 & 0xffff) }
    }

    func freeSlots(_ state: borrowing State) -> Int {
        state.isDraining ? 0 : max(registration.concurrency - state.slotsInUse + state.slotsLent, 0)
    }

    func received(_ message: consuming Incoming, from link: BusLink) {
        let now = Monotonic.milliseconds
        let header = message.header
        switch header.type {
        case .dispatch:
            let frames = message.attachments
            message.withBody { dispatch(header, $0, frames, from: link, now: now) }
        case .welcome: welcome(message.body(), from: link, now: now)
        case .eventAck: message.withBody { acknowledged($0) }
        case .fenced:
            _ = try? message.withBody { body throws(WireError) in
                try ExecutionList.forEach(body) { fenced($0, by: link) }
            }
        case .adopted:
            _ = try? message.withBody { body throws(WireError) in
                try ExecutionList.forEach(body) { adopted($0, by: link) }
            }
        case .cancel:
            let execution = state.withLock { state in
                state.nextDeadline = min(state.nextDeadline, now + WorkerRuntime.stopGrace)
                return state.executions[header.job]
            }
            execution?.stop(JobError(code: JobError.Code.cancelled, message: "cancelled"), now: now)
        case .result: result(header, message.body())
        case .approval: answered(header, message.body())
        case .answer: answered(header.sequence, .success(message.body()))
        case .error: if !refused(header, message.body()) { problem(message.body(), from: link, now: now) }
        case .heartbeat:
            let wanted = min(Int(clamping: header.value), registration.concurrency)
            state.withLock { $0.shares.wants(wanted, link) }
        case .drain, .goodbye: break
        default: log.warning("unexpected message", ["type": "\(header.type)"])
        }
    }

    func read(_ header: Header, _ body: RawSpan, from link: BusLink) -> Bool {
        switch header.type {
        case .dispatch: dispatch(header, body, [], from: link, now: Monotonic.milliseconds)
        case .eventAck: acknowledged(body)
        default: return false
        }
        return true
    }

    /// Ends that the gateway has stored need not be said again.
    private func acknowledged(_ body: RawSpan) {
        state.withLock { state in
            _ = try? ExecutionList.forEach(body) { execution in
                guard state.executions[execution.job]?.execution == execution else { return }
                state.executions[execution.job] = nil
            }
        }
    }

    func rejected(_ error: WireError) { log.warning("unreadable message", ["reason": "\(error)"]) }

    /// Takes nothing new, and ends when what is running has ended and has been acknowledged, or at the limit.
    func drain(within milliseconds: UInt64) {
        let links = state.withLock { state -> [BusLink] in
            guard !state.isDraining else { return [] }
            state.isDraining = true
            state.drainLimit = Monotonic.milliseconds + milliseconds
            return state.links.filter { $0.value.isRegistered }.map(\.key)
        }
        for link in links { try? client.send(Outgoing(Header(.drain)), to: link) }
        client.poke()
    }

    /// Whether there is nothing to finish, and nobody to say goodbye to.
    var mayLeaveAtOnce: Bool {
        state.withLock { state in !state.links.values.contains { $0.isRegistered } && state.executions.isEmpty }
    }

    /// Whether a router has taken this worker.
    var isRegistered: Bool { state.withLock { state in state.links.values.contains { $0.isRegistered } } }
}
