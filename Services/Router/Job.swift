import Bus
import Wire

/// The gateway that a request came from. It keeps its identity over reconnects; only its peer changes.
final class GatewayLink {
    let id: String
    var peer: Peer
    var lastHeard: UInt64
    var isConnected = true
    let outbox = Outbox()
    /// Ended jobs that it has not acknowledged, as counted last.
    var unacknowledged = 0
    /// Whether it has said that it takes LOAD.
    var takesLoad = false
    /// How many requests of a skill it may send until it is told more, for skills with too much to do.
    var room: [String: Int] = [:]
    /// The number of its key, where keys are configured.
    var key: UInt32?

    init(id: String, peer: Peer, now: UInt64) {
        self.id = id
        self.peer = peer
        lastHeard = now
    }
}

/// A job inside this router.
///
///     waiting --credit--> leased --terminal event--> ended --acknowledged--> (forgotten)
///        ^                  |  \--cancelled, out of time, out of attempts--> (forgotten, after a terminal event of ours)
///        +--worker lost-----+
final class Job {
    enum State {
        /// In the queue of its skill, or waiting for the end of a pause before the next attempt.
        case waiting
        /// At a worker.
        case leased(to: Peer, dispatch: UInt64, isAccepted: Bool)
        /// Its terminal event has gone to the gateway, whose acknowledgement is not here yet.
        case ended(worker: Peer)
        /// This router has ended it, with an error or with an output that was there: the event is kept until the gateway acknowledges it, as it may not have arrived.
        case failed(Outgoing)
    }

    /// Who called it, if a skill did.
    struct Caller {
        let worker: Peer
        let execution: Execution
        let number: UInt64
    }

    let id: Identifier
    let skill: String
    /// The generation under which it was submitted.
    let submission: UInt32
    /// That of the execution: lower where an execution was taken over that had begun under another router.
    var generation: UInt32
    var gateway: GatewayLink
    let parcel: Parcel
    let caller: Caller?
    /// Set for the steps of a plan that the router made.
    let request: PlannedRequest?
    /// Whether it chooses the skill of its request: it is run once, whatever happens to it.
    let isChoice: Bool
    /// When its request must be over; nil for never.
    let deadline: UInt64?
    let submitted: UInt64
    let size: Int
    let priority: Priority
    /// When it was last given to a worker.
    var leased: UInt64 = 0
    var state = State.waiting
    /// Where it stands among the leases of its worker.
    var leasePlace = 0
    /// Number of the last dispatch. Attempts count from 1.
    var attempt: UInt32 = 0
    /// Attempts that a worker had accepted when it was lost, or that failed in passing.
    var spentAttempts = 0
    /// Whether it was running on a worker that died with several jobs.
    var hasSharedLoss = false
    /// Whether that was so twice: any of the jobs may be why. From then on it runs alone, so that what ends workers is
    /// known for what it is, and costs its neighbours no attempt.
    var isSuspect = false
    /// Losses of a worker that had said nothing of the job yet.
    var unseenLosses = 0
    /// Workers that were lost with it, alone or with others, and had begun it.
    var losses: [(instance: Identifier, isShared: Bool)] = []
    /// How many of these losses did not count in the end.
    var refunds = 0
    var isCancelled = false
    /// Of a skill that is not idempotent: whether the gateway has said that the job may run.
    var mayStart = false
    /// Whether that question is open.
    var isAsking = false
    /// When the gateway was last told or asked something that it must answer.
    var lastSaid: UInt64 = 0
    /// Whether its end went to the gateway, and the gateway has asked for the job since: then that end was lost, and it
    /// takes the worker to say it again.
    var isEndMissing = false
    /// Not to be dispatched before this time.
    var notBefore: UInt64 = 0
    /// Whether this router has sent it to a worker.
    var wasDispatched = false
    /// The last execution of it under another router, by all that its gateway knows.
    var begun: Execution?
    /// Jobs with the same input that wait for one of them, this one among them.
    var flight: Flight?
    /// Until when its worker may leave it out of a heartbeat, since it was taken over a moment ago.
    var missingUntil: UInt64 = 0

    init(
        id: Identifier,
        skill: String,
        generation: UInt32,
        gateway: GatewayLink,
        parcel: Parcel,
        deadline: UInt64?,
        now: UInt64,
        caller: Caller? = nil,
        request: PlannedRequest? = nil,
        priority: Priority = .normal,
        origin: (tenant: UInt64, session: UInt64)? = nil,
        isChoice: Bool = false
    ) {
        self.id = id
        self.skill = skill
        submission = generation
        self.generation = generation
        self.gateway = gateway
        self.parcel = parcel
        self.deadline = deadline
        self.caller = caller
        self.request = request
        self.isChoice = isChoice
        submitted = now
        size = parcel.count
        self.priority = priority
        if let origin { self.origin = origin }
    }

    /// Whose turn it takes when it has to wait: numbers of its tenant and its session. Read when that is needed, since
    /// most jobs never wait.
    private(set) lazy var origin: (tenant: UInt64, session: UInt64) = parcel.origin
    var tenant: UInt64 { origin.tenant }
    var session: UInt64 { origin.session }

    var execution: Execution { Execution(job: id, generation: generation, attempt: attempt) }

    /// Whether it has ended, and only the gateway's acknowledgement is missing.
    var isEnded: Bool {
        switch state {
        case .waiting, .leased: false
        case .ended, .failed: true
        }
    }

    /// The execution that a record of the router's own belongs to: one above all that workers have had.
    var nextExecution: Execution { Execution(job: id, generation: submission, attempt: attempt + 1) }
}

/// A request whose steps this router planned, until its last step has ended.
final class PlannedRequest {
    let id: Identifier
    let generation: UInt32
    var gateway: GatewayLink
    let plan: Plan
    let input: JobInput
    let material: String?
    let attachments: [SharedFrame]
    let deadline: UInt64?
    let priority: Priority
    /// Outputs of the steps that have finished, by the step's id.
    var outputs: [String: SkillOutput] = [:]
    /// Steps that failed, were skipped or were cancelled.
    var failed: Set<String> = []
    /// Steps that have been started.
    var started: Set<String> = []
    /// Jobs whose ends the gateway has not acknowledged.
    var openJobs = 0
    /// Whether the gateway has the plan from this router, and when it was last sent: until the request is over nothing
    /// says that it arrived.
    let isPlanOurs: Bool
    var planSaid: UInt64
    /// Jobs that had begun under another router, by all that the gateway knows.
    let begun: [Identifier: Execution]

    init(
        id: Identifier,
        generation: UInt32,
        gateway: GatewayLink,
        plan: Plan,
        input: JobInput,
        material: String?,
        attachments: [SharedFrame],
        deadline: UInt64?,
        priority: Priority,
        isPlanOurs: Bool,
        begun: [Identifier: Execution] = [:],
        now: UInt64
    ) {
        self.id = id
        self.generation = generation
        self.gateway = gateway
        self.plan = plan
        self.input = input
        self.material = material
        self.attachments = attachments
        self.deadline = deadline
        self.priority = priority
        self.isPlanOurs = isPlanOurs
        self.begun = begun
        planSaid = now
    }

    var isOver: Bool { outputs.count + failed.count >= plan.steps.count }

    /// Whether another step needs the output of this one: only then is it read.
    func isNeeded(_ step: String) -> Bool { plan.steps.contains { $0.after.contains(step) } }
}
