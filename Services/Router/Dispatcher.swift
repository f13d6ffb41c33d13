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
    /// Requests that were with another router, by their ids, and executions that workers have of one, by their jobs.
    var returning: [Identifier: ReturningRequest] = [:]
    var claims: [Identifier: Claim] = [:]
    /// Executions taken over so far.
    var adoptions = 0
    private var acknowledgements: [(peer: Peer, body: [UInt8])] = []
    /// Requests that are with the planner.
    var planning: [Identifier: Planning] = [:]
    /// Numbers of the next called jobs, of requests whose skills have called others. A number is used once while the
    /// request has jobs here.
    var nextCallStep: [Identifier: UInt16] = [:]
    var isDraining = false
    private var picks: UInt64 = 0
    /// Until when a worker that cannot be reached is waited for, since this process itself was away.
    var graceEnds: UInt64 = 0
    /// This router's.
    let instance: Identifier
    let startTime: UInt64
    let heartbeat: UInt64
    let liveness: UInt64

    init(now: UInt64, instance: Identifier = .none, heartbeat: UInt64 = 1000, liveness: UInt64 = 3) {
        self.instance = instance
        startTime = now
        self.heartbeat = heartbeat
        self.liveness = liveness
    }

    /// Jobs and requests that it has to do with.
    var load: Int { jobs.values.reduce(planning.count + early.count + returning.count) { $0 + ($1.isEnded ? 0 : 1) } }

    /// Exchanges the actions since the last call for an empty list, whose memory is used for the next ones.
    mutating func takeActions(into empty: inout [Action]) { swap(&actions, &empty) }

    // MARK: Requests

    struct Planning {
        let generation: UInt32
        let bytes: Int
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
        let gateway: GatewayLink
        let until: UInt64
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
        if isQuestion, holds(id, generation: header.generation) { return repeatUnanswered(id) }
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
            let waiting = planning.values.reduce(0) { $0 + $1.bytes }
            let isFull = planning.count >= Limits.planning || waiting + bytes > Limits.queuedBytesPerSkill
            guard !isFull || planning.isEmpty else { return refuse(header, gateway, plannerBusy) }
            planning[id] = Planning(generation: header.generation, bytes: bytes)
            actions.append(.plan(PlanningTask(header: header, parcel: parcel, gateway: gateway)))
            return
        }
        guard let entry = registry.skill(skill) else {
            if isEarly { return wait(header, parcel, gateway) }
            return refuse(header, gateway, unknown(skill))
        }
        let job = Job(
            id: id.job(step: 1),
            skill: skill,
            generation: header.generation,
            gateway: gateway,
            parcel: parcel,
            deadline: deadline(header, now: now),
            now: now
        )
        if isReturning {
            dropCalledClaims(of: id)
            note((try? JobBody.begun(parcel.body().span.bytes))?[job.id], of: job)
            if adoptsClaim(job, now: now) { return }
        }
        guard hasRoom(for: job, entry, now: now) else { return refuse(header, gateway, overloaded(entry)) }
        start(job, entry, now: now)
    }

    /// Notes the last execution of a job that had begun under another router: attempts count on from there, and nothing
    /// older is taken over.
    func note(_ begun: Execution?, of job: Job) {
        guard let begun, begun.generation < job.submission else { return }
        job.begun = begun
        job.attempt = begun.attempt
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
            entry.queue.append(job)
            // Jobs in a pause before their next attempt are no reason to wait.
            if entry.queue.count > 1 { fill(entry, now: now) }
            askForSlots(entry, now: now)
        }
    }

    private mutating func askMayStart(_ job: Job) {
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
            flags: job.parcel.header.flags,
            job: job.id,
            generation: job.generation,
            attempt: job.attempt,
            sequence: worker.dispatches,
            value: remaining
        )
        actions.append(.dispatch(job, worker, header))
    }

    // MARK: Events

    /// An event message from a worker. The terminal payload is read only where the router needs it.
    mutating func event(
        _ header: Header,
        from peer: Peer,
        now: UInt64,
        terminalRecord: () -> (kind: EventKind, payload: [UInt8])?
    ) -> EventDecision {
        guard let job = jobs[header.job], job.execution == header.execution else {
            return eventOfUnknown(header.execution)
        }
        switch job.state {
        case .waiting, .failed: return .fence
        case .ended(let worker):
            // Sent again because the acknowledgement has not come: pass it on again. Perhaps over a new connection.
            guard header.flags.contains(.terminal) else { return .drop }
            if worker != peer {
                guard registry.workers[worker] == nil else { return .drop }
                job.state = .ended(worker: peer)
            }
            return .forward(job.gateway)
        case .leased(let owner, let dispatch, let isAccepted):
            guard owner == peer else { return .fence }
            if !isAccepted { job.state = .leased(to: peer, dispatch: dispatch, isAccepted: true) }
            guard header.flags.contains(.terminal) else { return .forward(job.gateway) }
            return ended(job, header, peer, now: now, terminalRecord: terminalRecord)
        }
    }

    private mutating func ended(
        _ job: Job,
        _ header: Header,
        _ peer: Peer,
        now: UInt64,
        terminalRecord: () -> (kind: EventKind, payload: [UInt8])?
    ) -> EventDecision {
        let worker = registry.workers[peer]
        worker?.leases.remove(job)
        if !header.flags.contains(.slotMoves) { worker?.credit += 1 }
        defer { if let worker { fill(worker, now: now) } }
        let mayTryAgain =
            header.flags.contains(.retryable) && !job.isCancelled
            && job.spentAttempts + 1 < Dispatcher.maximumAttempts && registry.isIdempotent(job.skill)
        if mayTryAgain {
            job.spentAttempts += 1
            var body: [UInt8] = []
            ExecutionList.append(header.execution, to: &body)
            actions.append(.toWorker(peer, Outgoing(Header(.eventAck), body: body)))
            let reason = terminalRecord().flatMap { try? JSONBody.decode(JobError.self, from: $0.payload) }
            tryAgain(job, reason: reason?.message ?? "the skill failed", after: pause(job), now: now)
            return .drop
        }
        job.state = .ended(worker: peer)
        if job.request != nil || job.caller != nil, let (kind, payload) = terminalRecord() {
            passOn(job, kind, payload, now: now)
        }
        return .forward(job.gateway)
    }

    /// A pause before the next attempt: 0.2 s, doubled each time, up to 30 s, all but a random part of it.
    private func pause(_ job: Job) -> UInt64 {
        let longest = min(200 << UInt64(min(job.spentAttempts, 8)), 30_000)
        return 200 + UInt64.random(in: 0...UInt64(longest))
    }

    /// Queues the job for another attempt, before all that has not begun, and tells the user why.
    mutating func tryAgain(_ job: Job, reason: String, after pause: UInt64, now: UInt64) {
        job.state = .waiting
        job.notBefore = now + pause
        let retrying = JobRetrying(reason: reason, attempt: job.attempt + 1)
        report(job, .retrying, (try? JSONBody.encode(retrying)) ?? [])
        guard let entry = registry.skills[job.skill] else {
            return fail(job, unknown(job.skill), now: now)
        }
        entry.queue.prepend(job)
        fill(entry, now: now)
    }

    /// Sends a record of the router's own.
    func reportHeader(_ job: Job, _ kind: EventKind) -> Header {
        let execution = job.nextExecution
        return Header(
            .event,
            flags: kind.isTerminal ? [.terminal, .failed] : [],
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            sequence: 0,
            value: 1
        )
    }

    mutating func report(_ job: Job, _ kind: EventKind, _ payload: [UInt8]) {
        var record = EventRecordWriter()
        record.append(kind, payload)
        actions.append(.toGateway(job.gateway, Outgoing(reportHeader(job, kind), body: record.bytes)))
    }

    /// Ends a job that no worker will end.
    mutating func fail(_ job: Job, _ error: JobError, now: UInt64) {
        let payload = (try? JSONBody.encode(error)) ?? []
        var record = EventRecordWriter()
        record.append(.failed, payload)
        let message = Outgoing(reportHeader(job, .failed), body: record.bytes)
        job.generation = job.submission
        job.attempt += 1
        job.state = .failed(message)
        job.lastSaid = now
        actions.append(.toGateway(job.gateway, message))
        passOn(job, .failed, payload, now: now)
    }

    /// Says again what the gateway may have missed while it was away: the plan, questions, and ends of this router's own.
    private mutating func repeatUnanswered(_ id: Identifier) {
        if let request = requests[id] {
            send(request.plan, of: id, request.generation, to: request.gateway)
        }
        for job in jobs.values where job.id.request == id { repeatUnanswered(job) }
    }

    mutating func repeatUnanswered(_ job: Job) {
        if case .failed(let message) = job.state { actions.append(.toGateway(job.gateway, message)) }
        if job.isAsking { askMayStart(job) }
    }

    /// Nothing more will be said about a job.
    mutating func forget(_ job: Job) {
        jobs[job.id] = nil
        let id = job.id.request
        if nextCallStep[id] != nil, !jobs.keys.contains(where: { $0.request == id }) { nextCallStep[id] = nil }
        guard let request = job.request else { return }
        request.openJobs -= 1
        close(request)
    }

    /// A request is kept until the gateway has all its ends: until then its plan may have to be sent again.
    mutating func close(_ request: PlannedRequest) {
        guard request.isOver, request.openJobs <= 0, requests[request.id] === request else { return }
        requests[request.id] = nil
        dropClaims(of: request.id)
    }

    /// The gateway has committed these ends. Call ``passOnAcknowledgements()`` after the last one.
    mutating func acknowledged(_ execution: Execution) {
        guard let index = jobs.index(forKey: execution.job) else { return }
        let job = jobs.values[index]
        guard job.execution == execution else { return }
        if case .failed = job.state { return forget(job) }
        guard case .ended(let peer) = job.state else { return }
        if job.request == nil, nextCallStep.isEmpty { jobs.remove(at: index) } else { forget(job) }
        // Nearly always few workers: a list, as a dictionary would cost more than the rest.
        for index in acknowledgements.indices where acknowledgements[index].peer == peer {
            return ExecutionList.append(execution, to: &acknowledgements[index].body)
        }
        var body: [UInt8] = []
        body.reserveCapacity(32 * ExecutionList.entry)
        ExecutionList.append(execution, to: &body)
        acknowledgements.append((peer, body))
    }

    /// Tells each worker which of its ends have been committed.
    mutating func passOnAcknowledgements() {
        for (peer, body) in acknowledgements {
            actions.append(.toWorker(peer, Outgoing(Header(.eventAck), body: body)))
        }
        acknowledgements.removeAll(keepingCapacity: true)
    }

    // MARK: Refusals

    mutating func refuse(_ header: Header, _ gateway: GatewayLink, _ error: JobError) {
        let nack = Header(.nack, job: header.job, generation: header.generation)
        guard let message = try? Outgoing(nack, json: error) else { return }
        actions.append(.toGateway(gateway, message))
    }

    func unknown(_ skill: String) -> JobError {
        let names = registry.skills.keys.sorted()
        let near = names.min { distance($0, skill) < distance($1, skill) }
        var hint = names.isEmpty ? "no worker has registered yet" : "skills here: \(names.joined(separator: ", "))"
        if let near, distance(near, skill) <= 2 { hint = "did you mean \(near)? \(hint)" }
        return JobError(code: JobError.Code.unknownSkill, message: "there is no skill \"\(skill)\"", hint: hint)
    }

    private var plannerBusy: JobError {
        JobError(
            code: JobError.Code.overloaded,
            message: "\(planning.count) requests wait for a plan already",
            hint: "try again a little later, or name the skill",
            retryable: true,
            retryAfter: 1
        )
    }

    private func acknowledgementsMissing(_ gateway: GatewayLink) -> JobError {
        JobError(
            code: JobError.Code.overloaded,
            message: "the gateway has not acknowledged the ends of \(gateway.unacknowledged) jobs",
            hint: "its store may be slow or full: look at the gateway's log",
            retryable: true,
            retryAfter: 1
        )
    }

    func overloaded(_ entry: SkillEntry) -> JobError {
        JobError(
            code: JobError.Code.overloaded,
            message: "\(entry.queue.count) jobs wait for skill \(entry.id) already",
            hint: "try again a little later",
            retryable: true,
            retryAfter: 1
        )
    }
}

extension Registry {
    func isIdempotent(_ skill: String) -> Bool { skills[skill]?.isIdempotent ?? true }
}

/// Levenshtein's edit distance, for "did you mean". Names are short.
private func distance(_ one: String, _ other: String) -> Int {
    let one = Array(one.utf8.prefix(64))
    let other = Array(other.utf8.prefix(64))
    var row = Array(0...other.count)
    for (i, a) in one.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in other.enumerated() {
            let above = row[j + 1]
            row[j + 1] = min(above + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
            diagonal = above
        }
    }
    return row[other.count]
}
