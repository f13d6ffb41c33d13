import Bus
import Wire

/// Who runs what: the life of requests and jobs inside one router. It does no I/O and reads no clock; what is to be
/// sent comes out as actions, which the loop performs in order.
///
/// Invariants, each a test in DispatcherTests:
/// (1) A worker never holds more jobs than the credit it gave.
/// (2) An event whose (generation, attempt) is not the leased one changes nothing; its sender is fenced.
/// (3) A job that is not idempotent is dispatched at most once.
/// (4) Every job ends by exactly one terminal event that is passed on, or is superseded.
struct Dispatcher {
    enum Action {
        case toWorker(Peer, Outgoing)
        case toGateway(GatewayLink, Outgoing)
        case dispatch(Job, Worker, Header)
        case plan(PlanningTask)
        /// An event that came in.
        case passOn(Passage, GatewayLink)
    }

    /// What to do with an event message that came in.
    enum EventDecision {
        case forward(GatewayLink)
        case drop
        case fence
    }

    /// Attempts that may be lost or fail in passing before a job is given up.
    static let maximumAttempts = 3
    /// Losses that cost no attempt because nothing had been heard of the job yet: after so many they cost one each.
    static let unseenLosses = 5
    /// How long a known skill may be without a worker: a restart takes less.
    static let orphanLimit: UInt64 = 10_000
    /// A deadline further away than this counts as this far: no request runs for a week.
    static let longestDeadline: UInt64 = 7 * 86_400_000
    /// How often a question to a gateway or an end of this router's own is sent again until it is answered.
    static let repeatInterval: UInt64 = 2000
    /// How long a worker may run past a deadline that it knows before the job is ended without it.
    static let deadlineGrace: UInt64 = 10_000
    /// How long an ended job waits for an acknowledgement before it is forgotten: the gateway is gone for good.
    static let acknowledgementLimit: UInt64 = 600_000
    /// How long after its start a router takes an unknown skill for one whose worker is still on its way.
    static let startGrace: UInt64 = 3000

    var registry = Registry()
    var jobs: [Identifier: Job] = [:]
    var requests: [Identifier: PlannedRequest] = [:]
    var actions: [Action] = []
    /// Requests that came before the workers did.
    var early: [EarlyRequest] = []
    var acknowledgements: [(peer: Peer, body: [UInt8])] = []
    /// Requests that were with another router, by their ids, and executions that workers have of one, by their jobs.
    var returning: [Identifier: ReturningRequest] = [:]
    var claims: [Identifier: Claim] = [:]
    /// Executions taken over so far.
    var adoptions = 0
    /// Requests that are with the planner.
    var planning: [Identifier: Planning] = [:]
    /// Requests for which a model is asked which skill is meant.
    var choosing: [Identifier: Choosing] = [:]
    /// Numbers of the next called jobs, of requests whose skills have called others. A number is used once while the
    /// request has jobs here.
    var nextCallStep: [Identifier: UInt16] = [:]
    /// Outputs that may be used again, and jobs that wait for one.
    var cache: OutputCache
    var isDraining = false
    private var picks: UInt64 = 0
    /// Until when a worker that cannot be reached is waited for, since this process itself was away.
    var graceEnds: UInt64 = 0
    /// This router's.
    let instance: Identifier
    let startTime: UInt64
    let heartbeat: UInt64
    let liveness: UInt64
    /// Milliseconds that a job may have to wait for a worker when it is taken; 0 for as long as it takes.
    let longestWait: UInt64

    init(
        now: UInt64,
        instance: Identifier = .none,
        heartbeat: UInt64 = 1000,
        liveness: UInt64 = 3,
        longestWait: UInt64 = 10_000,
        cacheBytes: Int = 0
    ) {
        cache = OutputCache(limit: cacheBytes)
        self.instance = instance
        startTime = now
        self.heartbeat = heartbeat
        self.liveness = liveness
        self.longestWait = longestWait
    }

    /// Jobs and requests that it has to do with.
    var load: Int { jobs.values.reduce(planning.count + early.count + returning.count) { $0 + ($1.isEnded ? 0 : 1) } }

    /// Exchanges the actions since the last call for an empty list, whose memory is used for the next ones.
    mutating func takeActions(into empty: inout [Action]) { swap(&actions, &empty) }

    // MARK: Requests

    struct Planning {
        let generation: UInt32
        let bytes: Int
        /// The one that has asked for it since; nil if none has.
        var gateway: GatewayLink?
        var isCancelled = false
    }

    /// Takes a request back from the planner; nil when it has been submitted anew since.
    mutating func takePlanning(_ id: Identifier, generation: UInt32) -> Planning? {
        guard let planned = planning[id], planned.generation == generation else { return nil }
        planning[id] = nil
        return planned
    }

    /// Takes out the requests that wait for the first workers.
    mutating func takeEarly() -> [EarlyRequest] {
        defer { early = [] }
        return early
    }

    struct EarlyRequest {
        let header: Header
        let parcel: Parcel
        var gateway: GatewayLink
        var until: UInt64
    }

    /// A request. `skill` is empty when the router is to choose; `hasWaited` is set for one that comes back from
    /// ``waitsForClaims(_:skill:_:_:now:)``.
    mutating func submitted(
        _ header: Header,
        skill: String,
        parcel: Parcel,
        from gateway: GatewayLink,
        hasWaited: Bool = false,
        now: UInt64
    ) {
        let id = header.job.request
        // Asked whether it still has it. To begin anew under the same number would be to run it twice unseen.
        let isQuestion = header.flags.contains(.resent)
        if isQuestion, holds(id, generation: header.generation) {
            handOver(id, to: gateway)
            return repeatUnanswered(id)
        }
        guard !isDraining else {
            return refuse(
                header,
                gateway,
                JobError(
                    code: JobError.Code.draining,
                    message: "the router is shutting down",
                    retryable: true,
                    retryAfter: 1
                )
            )
        }
        if isQuestion {
            return refuse(
                header,
                gateway,
                JobError(code: JobError.Code.unknownRequest, message: "this router does not have the request")
            )
        }
        if !choosing.isEmpty { dropChoice(of: id, before: header.generation, now: now) }
        let planned = requests.isEmpty ? nil : requests[id]
        if let known = planned?.generation ?? jobs[id.job(step: 1)]?.submission {
            // The same submission again, after a reconnect: its jobs go on, the link has been renewed by HELLO.
            guard known < header.generation else { return repeatUnanswered(id) }
            supersede(id, now: now)
        }
        let isReturning = header.flags.contains(.elsewhere)
        if isReturning, !hasWaited, waitsForClaims(header, skill: skill, parcel, gateway, now: now) { return }
        guard gateway.unacknowledged < Limits.unacknowledgedEnds else {
            return refuse(header, gateway, acknowledgementsMissing(gateway))
        }
        let isEarly = now < startTime + Dispatcher.startGrace
        if skill.isEmpty {
            // A request that was with another router before comes back sooner than all workers do: what it means must
            // not be decided among the few that are here already.
            let isReturning = header.generation > 1
            if isEarly, registry.skills.isEmpty || isReturning { return wait(header, parcel, gateway) }
            // The same submission again while it is being planned.
            if let known = planning[id], known.generation >= header.generation { return }
            let bytes = parcel.count
            let waiting = planning(isChoosing: false)
            let isFull = waiting.count >= Limits.planning || waiting.bytes + bytes > Limits.queuedBytesPerSkill
            guard !isFull || waiting.count == 0 else { return refuse(header, gateway, plannerBusy) }
            planning[id] = Planning(generation: header.generation, bytes: bytes)
            actions.append(.plan(PlanningTask(header: header, parcel: parcel, gateway: gateway)))
            return
        }
        guard let entry = registry.skill(skill) else {
            if isEarly { return wait(header, parcel, gateway) }
            return refuse(header, gateway, isReturning ? notBack(skill) : unknown(skill))
        }
        let job = Job(
            id: id.job(step: 1),
            skill: skill,
            generation: header.generation,
            gateway: gateway,
            parcel: parcel,
            deadline: deadline(header, now: now),
            now: now,
            priority: Priority(header.flags)
        )
        defer { if entry.isShut { came(entry, from: gateway, now: now) } }
        if isReturning {
            dropCalledClaims(of: id)
            note((try? JobBody.begun(parcel.body().span.bytes))?[job.id], of: job)
            if adoptsClaim(job, now: now) { return }
        }
        if entry.mayCache, isAnswered(job, entry, now: now) { return }
        guard hasRoom(for: job, entry, now: now) else {
            leave(job, now: now)
            return refuse(header, gateway, overloaded(entry))
        }
        start(job, entry, now: now)
    }

    /// Notes the last execution of a job that had begun under another router: attempts count on from there, and nothing
    /// older is taken over.
    func note(_ begun: Execution?, of job: Job) {
        guard let begun, begun.generation < job.submission else { return }
        job.begun = begun
        job.attempt = begun.attempt
    }

    /// From now on a request is this gateway's: the one that had it has given it back, and says nothing about it any more.
    private mutating func handOver(_ id: Identifier, to gateway: GatewayLink) {
        requests[id]?.gateway = gateway
        planning[id]?.gateway = gateway
        returning[id]?.request.gateway = gateway
        for index in early.indices where early[index].header.job.request == id { early[index].gateway = gateway }
        for job in jobs.values where job.id.request == id { job.gateway = gateway }
    }

    /// Whether a request is here under a generation.
    private func holds(_ id: Identifier, generation: UInt32) -> Bool {
        let known = requests[id]?.generation ?? jobs[id.job(step: 1)]?.submission ?? planning[id]?.generation
        return known == generation
            || returning[id]?.request.header.generation == generation
            || early.contains { $0.header.job.request == id && $0.header.generation == generation }
    }

    private mutating func wait(_ header: Header, _ parcel: Parcel, _ gateway: GatewayLink) {
        let bytes = early.reduce(parcel.count) { $0 + $1.parcel.count }
        guard early.count < Limits.queuedJobsPerSkill, bytes <= Limits.queuedBytesPerSkill else {
            return refuse(
                header,
                gateway,
                JobError(
                    code: JobError.Code.overloaded,
                    message: "too many requests wait for the first worker",
                    retryable: true,
                    retryAfter: 1
                )
            )
        }
        let until = startTime + Dispatcher.startGrace
        early.append(EarlyRequest(header: header, parcel: parcel, gateway: gateway, until: until))
    }

    func deadline(_ header: Header, now: UInt64) -> UInt64? {
        header.value == 0 ? nil : now + min(header.value, Dispatcher.longestDeadline)
    }

    /// Puts a job in the queue of its skill, or straight to a worker.
    mutating func start(_ job: Job, _ entry: SkillEntry, now: UInt64) {
        jobs[job.id] = job
        if !entry.isIdempotent, !job.mayStart {
            // The gateway says durably that it may run; only then it is sent anywhere.
            job.isAsking = true
            job.lastSaid = now
            return askMayStart(job)
        }
        if entry.queue.count == 0, let worker = entry.freeWorker() {
            lease(job, to: worker, now: now)
        } else {
            queue(job, entry, now: now)
            askForSlots(entry, now: now)
        }
    }

    mutating func askMayStart(_ job: Job) {
        let question = Header(.mayStart, job: job.id, generation: job.submission)
        actions.append(.toGateway(job.gateway, Outgoing(question)))
    }

    /// The gateway's answer for a job that is not idempotent. If it may not, the gateway has ended it already.
    mutating func mayStart(_ id: Identifier, generation: UInt32, isGranted: Bool, now: UInt64) {
        guard let job = jobs[id], job.submission == generation, !job.mayStart, case .waiting = job.state else { return }
        job.isAsking = false
        guard isGranted else {
            // The gateway has told the user; whoever waits for the job here is told too.
            forget(job)
            let error = JobError(
                code: JobError.Code.outcomeUnknown,
                message: "\(job.skill) may have run before, and must not run twice"
            )
            return passOn(job, .failed, (try? JSONBody.encode(error)) ?? [], now: now)
        }
        guard let entry = registry.skills[job.skill] else { return fail(job, unknown(job.skill), now: now) }
        job.mayStart = true
        start(job, entry, now: now)
    }

    mutating func lease(_ job: Job, to worker: Worker, now: UInt64) {
        job.generation = job.submission
        job.attempt += 1
        job.leased = now
        job.wasDispatched = true
        picks += 1
        worker.lastPick = picks
        worker.credit -= 1
        worker.dispatches += 1
        job.state = .leased(to: worker.peer, dispatch: worker.dispatches, isAccepted: false)
        worker.leases.add(job)
        let remaining = job.deadline.map { $0 > now ? $0 - now : 1 } ?? 0
        let header = Header(
            .dispatch,
            flags: job.parcel.header.flags.subtracting([.highPriority, .lowPriority]),
            job: job.id,
            generation: job.generation,
            attempt: job.attempt,
            sequence: worker.dispatches,
            value: remaining
        )
        actions.append(.dispatch(job, worker, header))
    }
}
