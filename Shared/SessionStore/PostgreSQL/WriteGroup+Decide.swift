internal import Telemetry
internal import Wire

/// What becomes of each write, in their order: no statement is run here.
extension WriteGroup {
    /// What becomes of a request to be stored.
    mutating func accept(_ request: Acceptance) -> Result<AcceptanceOutcome, StoreError> {
        let now = request.time.milliseconds
        // The key is looked at first: a repeated request gets its first answer whatever has happened since.
        let key = request.idempotency.map { Key(owner: request.owner, key: $0.key) }
        if let key, let hash = request.idempotency?.hash, let known = keys[key],
            known.created > now - StoredKeys.lifetime
        {
            return .success(known.hash == hash ? .replayed(known.request) : .mismatch)
        }
        guard var session = sessions[request.session], session.owner == request.owner else {
            let wasPruned = pruned.contains(PrunedSession(id: request.session, owner: request.owner))
            return .failure(wasPruned ? .pruned : .notFound)
        }
        if let deadLetter = request.retryOf {
            switch retry(of: deadLetter, owner: request.owner) {
            case .success(let earlier?): return .success(.replayed(earlier))
            case .failure(let error): return .failure(error)
            case .success(nil): break
            }
        }
        if request.whenBusy == .reject, session.open > 0 { return .success(.busy(session.open)) }
        if session.open >= request.openPerSession { return .success(.tooManyInSession(session.open)) }
        let openOfOwner = openOfOwner[request.owner] ?? 0
        if openOfOwner >= request.openPerOwner { return .success(.tooManyOfOwner(openOfOwner)) }
        guard let number = numbers.popLast() else { return .failure(.busy) }

        changes.accepted.append(
            AcceptedRow(
                number: number,
                session: session.number,
                acceptedSequence: session.last + 1,
                request: request
            )
        )
        if let deadLetter = request.retryOf { noteRetry(of: deadLetter, as: request.request) }
        if request.whenBusy == .interrupt {
            changes.interrupts.append(InterruptRow(session: session.number, before: number))
        }
        for event in request.events { add(event, to: &session, request: number) }
        session.open += 1
        session.updated = now
        if !session.hasTitle, session.title ?? "" == "" { session.title = SessionTitle.of(request.text) }
        sessions[request.session] = session
        self.openOfOwner[request.owner] = openOfOwner + 1
        if let key, let hash = request.idempotency?.hash {
            keys[key] = KeyRow(hash: hash, request: request.request, created: now, isNew: true)
        }
        return .success(.accepted(number: number))
    }

    /// What becomes of a batch.
    mutating func append(_ batch: EventBatch) -> Result<AppendOutcome, StoreError> {
        let now = batch.time.milliseconds
        guard var request = requests[batch.request], var session = sessions[batch.session],
            request.session == batch.session
        else { return .failure(.notFound) }
        let before = session.last
        var outcome = AppendOutcome(lastSequence: before, stored: 0, fenced: [], denied: [], wasOver: !request.isOpen)
        outcome.isSuperseded = request.epoch != batch.epoch
        for item in batch.items {
            guard request.isOpen, !outcome.isSuperseded else {
                switch item {
                case .job(let events): outcome.fenced.append(events.execution)
                case .grant(let execution, _): outcome.denied.append(execution)
                default: break
                }
                continue
            }
            switch item {
            case .plan(let plan, let event):
                request.plan = plan
                request.hasChanged = true
                add(event, to: &session, request: request.number)
            case .note(let event): add(event, to: &session, request: request.number)
            case .job(let events):
                if !add(events, of: request, to: &session, now) { outcome.fenced.append(events.execution) }
            case .cancelRequested:
                request.isCancelling = true
                request.hasChanged = true
            case .generation(let generation):
                request.generation = max(request.generation, Int64(generation))
                request.hasChanged = true
            case .router(let router):
                request.router = router
                request.hasChanged = true
            case .grant(let execution, let skill):
                if !grant(execution, skill: skill, request: request.number, now) { outcome.denied.append(execution) }
            case .end(let state, let event, let answer):
                request.state = state.rawValue
                request.ended = now
                request.terminal = session.last + 1
                request.answer = answer
                request.isOpen = false
                request.hasChanged = true
                add(event, to: &session, request: request.number)
                endJobs(of: request.number, as: state == .cancelled ? "cancelled" : "abandoned", now)
                // What failed may be sent again by the user later; what finished needs its files no more.
                if state == .finished { changes.finished.append(request.number) }
                session.open -= 1
                openOfOwner[request.owner, default: 1] -= 1
            }
        }
        if session.last != before { session.updated = now }
        sessions[batch.session] = session
        requests[batch.request] = request
        outcome.lastSequence = session.last
        outcome.stored = Int(session.last - before)
        return .success(outcome)
    }

    private mutating func add(
        _ event: EventDraft,
        to session: inout SessionRow,
        request: Int64,
        of execution: Execution? = nil,
        number: UInt64 = 0
    ) {
        session.last += 1
        let body = event.numbered(session.last)
        session.bytes += Int64(body.count)
        changes.events.append(
            EventRow(
                session: session.number,
                seq: session.last,
                request: request,
                execution: execution,
                number: number,
                type: event.type,
                body: body
            )
        )
    }

    /// Adds events of a job, unless a later attempt is known, the job has ended, or they are stored already.
    private mutating func add(
        _ events: JobEvents,
        of request: RequestRow,
        to session: inout SessionRow,
        _ now: Int64
    ) -> Bool {
        let execution = events.execution
        var job =
            jobs[execution.job]
            ?? JobRow(
                request: request.number,
                execution: execution,
                lastSequence: 0,
                attempts: Int64(min(execution.attempt, 1)),
                isGranted: false,
                skill: "",
                worker: "",
                started: now
            )
        guard job.outcome == nil, !execution.isOlder(than: job.execution) else { return false }
        if execution == job.execution, events.lastSequence != 0, events.lastSequence <= job.lastSequence {
            return false
        }
        if execution != job.execution {
            if !events.isEndByRouter { job.attempts += 1 }
            job.execution = execution
            job.lastSequence = 0
        }
        job.lastSequence = max(job.lastSequence, events.lastSequence)
        if job.skill.isEmpty { job.skill = events.skill }
        if let worker = events.worker, !worker.isEmpty { job.worker = worker }
        job.hasChanged = true
        // The events were counted by their sender, and some may have been merged: the last one has the last number.
        let count = UInt64(events.events.count)
        for (index, event) in events.events.enumerated() {
            let number = events.lastSequence >= count ? events.lastSequence - (count - 1 - UInt64(index)) : 0
            add(event, to: &session, request: request.number, of: execution, number: number)
        }
        if let outcome = events.outcome {
            job.outcome = outcome
            job.ended = now
            job.terminal = events.events.isEmpty ? nil : session.last
            changes.endedJobs.append(execution.job)
        }
        jobs[execution.job] = job
        return true
    }

    private mutating func endJobs(of request: Int64, as outcome: String, _ now: Int64) {
        for id in jobs.filter({ $0.value.request == request && $0.value.outcome == nil }).keys.sorted() {
            jobs[id]?.outcome = outcome
            jobs[id]?.ended = now
            jobs[id]?.hasChanged = true
            changes.endedJobs.append(id)
        }
    }

    /// Notes that a job which must not run twice is about to run. False when it was noted before for another attempt.
    private mutating func grant(_ execution: Execution, skill: String, request: Int64, _ now: Int64) -> Bool {
        var job =
            jobs[execution.job]
            ?? JobRow(
                request: request,
                execution: execution,
                lastSequence: 0,
                attempts: 1,
                isGranted: false,
                skill: skill,
                worker: "",
                started: now
            )
        guard job.outcome == nil, !job.isGranted || job.execution == execution else { return false }
        job.isGranted = true
        job.execution = execution
        job.hasChanged = true
        jobs[execution.job] = job
        return true
    }
}
