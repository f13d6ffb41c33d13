import Bus
import Wire

/// Executions that workers have of a router that is gone. They are taken over by the request that they belong to, which
/// its gateway submits here: what runs goes on, under the numbers that it has.
///
/// A claim and its request come in any order, from different peers. So a claim waits for its request, and a request that
/// was with another router waits a moment for the claims before anything of it begins anew.
extension Dispatcher {
    /// An execution that waits for its request.
    struct Claim {
        let execution: Execution
        let peer: Peer
        let until: UInt64
    }

    /// A request that waits for the claims of its jobs.
    struct ReturningRequest {
        var request: EarlyRequest
        /// The job of a request that names its skill, and what its gateway knows of it; the steps of others are not known
        /// yet.
        let job: Identifier?
        let begun: Execution?
        /// Its skills that this router has never heard of: their workers may be on their way here.
        var missing: [String]

        /// Whether it has what it waits for.
        func isComplete(with execution: Execution) -> Bool {
            job == execution.job && !(begun.map(execution.isOlder) ?? false)
        }
    }

    /// How long a claim waits for its request: a gateway may be away as well.
    static let claimLimit: UInt64 = 60_000
    /// How long after its start a router takes what a worker says to hold for a claim. Later it would know of it.
    static let claimPeriod: UInt64 = 5000
    /// How long a worker may leave a job that was taken over out of its heartbeats, since it does not know of it yet.
    static let adoptionGrace: UInt64 = 5000

    /// Until when a request of another router waits for claims: workers need a moment to come here after this router's
    /// start, and to notice the other's end.
    private func claimsEnd(now: UInt64) -> UInt64 { max(startTime + 2 * heartbeat, now + heartbeat) }

    // MARK: Requests

    /// Has a request of another router wait, if it is to. True when it waits.
    mutating func waitsForClaims(
        _ header: Header,
        skill: String,
        _ parcel: Parcel,
        _ gateway: GatewayLink,
        now: UInt64
    ) -> Bool {
        let id = header.job.request
        let job = skill.isEmpty ? nil : id.job(step: 1)
        let begun = job.flatMap { (try? JobBody.begun(parcel.body().span.bytes))?[$0] }
        let bytes = returning.values.reduce(parcel.count) { $0 + $1.request.parcel.count }
        guard returning.count < Limits.queuedJobsPerSkill, bytes <= Limits.queuedBytesPerSkill else { return false }
        let missing = skills(of: parcel, skill).filter { registry.skill($0) == nil }
        // As long as is waited for the workers of a skill that is known and has none.
        let until = max(claimsEnd(now: now), missing.isEmpty ? 0 : now + Dispatcher.orphanLimit)
        let request = EarlyRequest(header: header, parcel: parcel, gateway: gateway, until: until)
        let waiting = ReturningRequest(request: request, job: job, begun: begun, missing: missing)
        if let job, let claim = claims[job], waiting.isComplete(with: claim.execution) { return false }
        returning[id] = waiting
        return true
    }

    /// The skills that a request needs, as far as that is known.
    private func skills(of parcel: Parcel, _ skill: String) -> [String] {
        guard skill.isEmpty else { return [skill] }
        let plan = (try? JobBody.decode(parcel.body().span.bytes))?.input.plan
        return plan?.steps.map(\.skill) ?? []
    }

    /// A worker has come. What waited for its skills waits for its claims, and those of others, from now on.
    mutating func missesLess(now: UInt64) {
        for (id, waiting) in returning where !waiting.missing.isEmpty {
            let missing = waiting.missing.filter { registry.skill($0) == nil }
            returning[id]?.missing = missing
            let end = claimsEnd(now: now)
            if missing.isEmpty { returning[id]?.request.until = end }
        }
    }

    /// Goes on with the requests that have waited long enough, and forgets the claims that have.
    mutating func endWaiting(now: UInt64) {
        for (id, waiting) in returning where now >= waiting.request.until { goOn(id, now: now) }
        for claim in claims.values where now >= claim.until { drop(claim) }
    }

    private mutating func goOn(_ id: Identifier, now: UInt64) {
        guard let request = returning.removeValue(forKey: id)?.request else { return }
        resubmit(request, hasWaited: true, now: now)
    }

    /// What calls of the request's jobs had begun is for nobody now: whoever called has been told that they failed.
    mutating func dropCalledClaims(of request: Identifier) {
        for claim in claims.values where claim.execution.job.request == request && claim.execution.job.step >= 100 {
            drop(claim)
        }
    }

    /// The request is over here.
    mutating func dropClaims(of request: Identifier) {
        guard !claims.isEmpty else { return }
        for claim in claims.values where claim.execution.job.request == request { drop(claim) }
    }

    // MARK: Workers

    /// Takes a worker's word for what it has of a router that is gone, or had when it left this one.
    mutating func claimed(_ executions: [Execution], by worker: Worker, now: UInt64) {
        var fenced: [UInt8] = []
        var adopted: [UInt8] = []
        for execution in executions {
            guard let job = jobs[execution.job] else {
                if !keep(execution, of: worker, now: now) { ExecutionList.append(execution, to: &fenced) }
                continue
            }
            if isStill(job, execution, at: worker) || takesOver(job, execution, by: worker, now: now) {
                ExecutionList.append(execution, to: &adopted)
            } else {
                ExecutionList.append(execution, to: &fenced)
            }
        }
        tell(worker.peer, .adopted, adopted)
        tell(worker.peer, .fenced, fenced)
    }

    private mutating func tell(_ peer: Peer, _ type: MessageType, _ list: [UInt8]) {
        guard !list.isEmpty else { return }
        let flags: Header.Flags = type == .adopted ? .mayIgnore : []
        actions.append(.toWorker(peer, Outgoing(Header(type, flags: flags), body: list)))
    }

    /// Keeps a claim for a request that may come. Of two for one job the newer counts.
    private mutating func keep(_ execution: Execution, of worker: Worker, now: UInt64) -> Bool {
        guard execution.job.step != 0, claims.count < Limits.unacknowledgedEnds else { return false }
        if let other = claims[execution.job], other.execution != execution {
            guard other.execution.isOlder(than: execution) else { return false }
            drop(other)
        }
        let until = now + Dispatcher.claimLimit
        claims[execution.job] = Claim(execution: execution, peer: worker.peer, until: until)
        let id = execution.job.request
        // It is the one job that the request was waiting for; one with a plan may have several.
        if returning[id]?.isComplete(with: execution) ?? false { goOn(id, now: now) }
        return true
    }

    /// Whether a job is this worker's under these numbers already.
    private mutating func isStill(_ job: Job, _ execution: Execution, at worker: Worker) -> Bool {
        guard job.execution == execution else { return false }
        switch job.state {
        case .leased(let peer, _, _): return peer == worker.peer
        case .ended(let peer):
            guard peer != worker.peer else { return true }
            guard registry.workers[peer] == nil else { return false }
            job.state = .ended(worker: worker.peer)
            return true
        case .waiting, .failed: return false
        }
    }

    /// Takes over an execution for a job that has been waiting here and was never sent to anybody.
    private mutating func takesOver(_ job: Job, _ execution: Execution, by worker: Worker, now: UInt64) -> Bool {
        guard case .waiting = job.state, !job.wasDispatched, !job.isAsking, !job.isCancelled,
            isWanted(execution, of: worker, for: job)
        else { return false }
        registry.skills[job.skill]?.queue.remove(job)
        adopt(job, execution, worker, now: now)
        return true
    }

    /// Takes over what is claimed of a job that would begin now. True when there is something.
    mutating func adoptsClaim(_ job: Job, now: UInt64) -> Bool {
        guard !claims.isEmpty, let claim = claims[job.id] else { return false }
        guard let worker = registry.workers[claim.peer], isWanted(claim.execution, of: worker, for: job) else {
            drop(claim)
            return false
        }
        claims[job.id] = nil
        adopt(job, claim.execution, worker, now: now)
        var body: [UInt8] = []
        ExecutionList.append(claim.execution, to: &body)
        tell(claim.peer, .adopted, body)
        return true
    }

    /// Whether an execution may go on as a job's: not when the gateway has seen a later one of it, or the worker is none
    /// for that skill, whose word would be taken for the job's end.
    private func isWanted(_ execution: Execution, of worker: Worker, for job: Job) -> Bool {
        worker.skills.contains(job.skill) && execution.generation < job.submission
            && !(job.begun.map(execution.isOlder) ?? false)
    }

    private mutating func adopt(_ job: Job, _ execution: Execution, _ worker: Worker, now: UInt64) {
        // What runs already waits for nobody.
        if let flight = job.flight, flight.leader !== job { leave(job, now: now) }
        job.generation = execution.generation
        job.attempt = execution.attempt
        // Whoever runs it was allowed to.
        job.mayStart = true
        job.missingUntil = now + Dispatcher.adoptionGrace
        job.state = .leased(to: worker.peer, dispatch: 0, isAccepted: true)
        jobs[job.id] = job
        worker.leases.add(job)
        adoptions += 1
    }

    /// What a worker that has gone claimed.
    mutating func forgetClaims(of peer: Peer) {
        guard !claims.isEmpty else { return }
        for (job, claim) in claims where claim.peer == peer { claims[job] = nil }
    }

    private mutating func drop(_ claim: Claim) {
        claims[claim.execution.job] = nil
        var body: [UInt8] = []
        ExecutionList.append(claim.execution, to: &body)
        tell(claim.peer, .fenced, body)
    }

    /// What becomes of an event of a job that is not here: of what is claimed nothing is passed on yet, its end comes again.
    func eventOfUnknown(_ execution: Execution) -> EventDecision {
        claims[execution.job]?.execution == execution ? .drop : .fence
    }
}
