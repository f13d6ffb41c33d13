import Bus
import Wire

/// Jobs that say something, end, or are to be tried again.
extension Dispatcher {
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
            job.isEndMissing = false
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
        if !job.isCancelled { worker?.entry(of: job.skill)?.backlog.ended(after: now &- min(job.leased, now)) }
        defer { if let worker { fill(worker, now: now) } }
        let mayTryAgain =
            header.flags.contains(.retryable) && !job.isCancelled && !job.isChoice
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
        if job.flight != nil { landed(job, terminalRecord(), by: worker, now: now) }
        if job.request != nil || job.caller != nil || job.isChoice, let (kind, payload) = terminalRecord() {
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
    func reportHeader(_ job: Job, _ kind: EventKind, records: UInt64 = 1) -> Header {
        let execution = job.nextExecution
        return Header(
            .event,
            flags: kind == .failed ? [.terminal, .failed] : kind == .finished ? .terminal : [],
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            sequence: 0,
            value: records
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
        end(job, .failed, record, payload, now: now)
        if job.flight != nil { leave(job, now: now) }
    }

    /// Ends a job by records of this router's own, the last of which has the payload.
    mutating func end(_ job: Job, _ kind: EventKind, _ record: EventRecordWriter, _ payload: [UInt8], now: UInt64) {
        let message = Outgoing(reportHeader(job, kind, records: record.count), body: record.bytes)
        job.generation = job.submission
        job.attempt += 1
        job.state = .failed(message)
        job.lastSaid = now
        actions.append(.toGateway(job.gateway, message))
        passOn(job, kind, payload, now: now)
    }

    /// What the user has answered to the question of a job, on its way to the worker that has it. Where none has, nobody
    /// waits: whoever gets the job next asks again.
    mutating func answered(_ header: Header, party: [UInt8]) {
        guard let job = jobs[header.job], case .leased(let peer, _, _) = job.state, party.count <= Limits.shortString
        else { return }
        let execution = job.execution
        let answer = Header(
            .approval,
            flags: .mayIgnore,
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            value: header.value
        )
        actions.append(.toWorker(peer, Outgoing(answer, body: party)))
    }

    /// Says again what the gateway may have missed while it was away: the plan, questions, and ends of this router's own.
    mutating func repeatUnanswered(_ id: Identifier) {
        if let request = requests[id] {
            send(request.plan, of: id, request.generation, to: request.gateway)
        }
        for job in jobs.values where job.id.request == id {
            if case .ended = job.state { job.isEndMissing = true }
            repeatUnanswered(job)
        }
    }

    /// A job's end was lost on its way to the gateway, and then its worker was: nobody else has its output.
    mutating func lostEnd(_ job: Job, now: UInt64) {
        job.isEndMissing = false
        // Whoever called it has had its output, and its request goes on with that; or with the choice that it made.
        guard job.caller == nil, !job.isChoice else { return forget(job) }
        if job.isCancelled {
            return fail(job, JobError(code: JobError.Code.cancelled, message: "cancelled"), now: now)
        }
        let reason = "its worker died before the result was stored"
        guard registry.isIdempotent(job.skill) else { return fail(job, outcomeUnknown(job, reason), now: now) }
        tryAgain(job, reason: reason, after: 0, now: now)
    }

    func outcomeUnknown(_ job: Job, _ reason: String) -> JobError {
        JobError(
            code: JobError.Code.outcomeUnknown,
            message: "\(reason); it is not known whether \(job.skill) did its work, and it must not run twice",
            hint: "check whether it took effect before you ask again"
        )
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
}

extension Registry {
    func isIdempotent(_ skill: String) -> Bool { skills[skill]?.isIdempotent ?? true }
}
