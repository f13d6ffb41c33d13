import Bus
import Wire

/// Workers coming, going and falling silent; cancelling; the passing of time.
extension Dispatcher {
    /// Takes a worker in, with the jobs that it has still. `seen` is the last dispatch that it got over this connection.
    /// Call ``admit(_:now:)`` when it has been welcomed.
    mutating func registered(
        _ registration: Registration,
        peer: Peer,
        credit: Int,
        seen: UInt64 = 0,
        now: UInt64
    ) throws(JobError) -> Worker {
        refund(registration)
        let known = registry.workers[peer]
        // Or it came back over a new connection before the old one was found dead.
        let previous = known ?? registry.workers.values.first { $0.registration.instance == registration.instance }
        if let known { registry.remove(known, now: now) }
        let worker: Worker
        do throws(JobError) {
            worker = try registry.register(registration, peer: peer, credit: credit, seen: seen, now: now)
        } catch {
            // Its old registration went with this attempt, and its jobs with that.
            if let known { for job in known.leases.values { lost(job, reason: "its worker was refused", now: now) } }
            throw error
        }
        if let known { worker.dispatches = max(known.dispatches, seen) }
        guard let previous else { return worker }
        if known == nil {
            registry.remove(previous, now: now)
            // It says anew what it has.
            forgetClaims(of: previous.peer)
        }
        adopt(previous.leases, registration.held, worker, underwaySince: known == nil ? nil : seen, now: now)
        return worker
    }

    /// Gives a new worker what waits for it.
    mutating func admit(_ worker: Worker, now: UInt64) {
        let isNew = now < startTime + Dispatcher.claimPeriod
        var held: [Execution] = []
        var unknown: [UInt8] = []
        for entry in worker.registration.held {
            let execution = Execution(job: entry.job, generation: entry.generation, attempt: entry.attempt)
            let job = jobs[entry.job]
            if job.map({ isKept($0, execution, by: worker) }) ?? false { continue }
            // What was this router's, it would know of.
            if entry.router.map({ $0 != instance }) ?? isNew {
                held.append(execution)
            } else {
                ExecutionList.append(execution, to: &unknown)
            }
        }
        if !unknown.isEmpty { actions.append(.toWorker(worker.peer, Outgoing(Header(.fenced), body: unknown))) }
        if !held.isEmpty { claimed(held, by: worker, now: now) }
        if !returning.isEmpty { missesLess(now: now) }
        for request in takeEarly() { resubmit(request, now: now) }
        for skill in worker.skills { if let entry = registry.skills[skill] { fill(entry, now: now) } }
    }

    /// Whether a worker goes on with a job of this router. One that has been given up waits for another attempt already.
    private func isKept(_ job: Job, _ execution: Execution, by worker: Worker) -> Bool {
        guard job.execution == execution else { return false }
        return switch job.state {
        case .leased(let peer, _, _): peer == worker.peer
        case .waiting, .failed: false
        case .ended: true
        }
    }

    mutating func resubmit(_ request: EarlyRequest, hasWaited: Bool = true, now: UInt64) {
        let skill = (try? JobBody.split(request.parcel.body().span.bytes))?.skill ?? ""
        submitted(
            request.header,
            skill: skill,
            parcel: request.parcel,
            from: request.gateway,
            hasWaited: hasWaited,
            now: now
        )
    }

    /// Keeps the leases of a worker that has them still, and gives the others to somebody else. Over the same connection
    /// those dispatched after the last that it has seen are on their way to it.
    private mutating func adopt(
        _ leases: Leases,
        _ held: [Registration.Held],
        _ worker: Worker,
        underwaySince seen: UInt64?,
        now: UInt64
    ) {
        for job in leases.values {
            if let seen, case .leased(_, let dispatch, false) = job.state, dispatch > seen {
                worker.leases.add(job)
                worker.credit = max(worker.credit - 1, 0)
                continue
            }
            let isHeld = held.contains {
                $0.job == job.id && $0.generation == job.generation && $0.attempt == job.attempt
            }
            if isHeld {
                job.state = .leased(to: worker.peer, dispatch: 0, isAccepted: true)
                worker.leases.add(job)
                if job.isSuspect { worker.isolation = .alone }
            } else {
                // The worker lives and says so itself: what it had not taken up, it never got.
                lost(job, reason: "the worker lost the job", mayHaveBegun: false, now: now)
            }
        }
        for job in jobs.values {
            guard case .ended = job.state, held.contains(where: { $0.job == job.id }) else { continue }
            job.state = .ended(worker: worker.peer)
        }
    }

    /// A worker is gone: its connection ended, or it has been silent for too long.
    mutating func workerLost(_ peer: Peer, reason: String, mayHaveBegun: Bool = true, now: UInt64) {
        guard let worker = registry.workers[peer] else { return }
        registry.remove(worker, now: now)
        forgetClaims(of: peer)
        let jobs = worker.leases.values.sorted { $0.id < $1.id }
        // Whoever says goodbye was not ended by a job.
        let isShared = jobs.count > 1 && mayHaveBegun
        for job in jobs {
            lost(
                job,
                reason: reason,
                mayHaveBegun: mayHaveBegun,
                isShared: isShared,
                by: worker.registration.instance,
                now: now
            )
        }
        for job in self.jobs.values where job.caller?.worker == peer { cancel(job, now: now) }
    }

    /// There is no connection to a worker any more. Most likely it is dead. But if only the connection was reset, it comes
    /// back within a moment, with the jobs that it has begun: these wait for that. And if this router itself was away, all
    /// of them may be on their way back.
    mutating func unreachable(_ peer: Peer, now: UInt64) {
        guard let worker = registry.workers[peer] else { return }
        worker.credit = 0
        guard now >= graceEnds, worker.returnsBy == nil else { return }
        guard worker.leases.hasBegun else { return workerLost(peer, reason: "its worker died", now: now) }
        worker.returnsBy = now + heartbeat * 2 / 5
    }

    /// A dispatch could not be sent.
    mutating func undelivered(_ job: Job, to worker: Worker, now: UInt64) {
        worker.credit = 0
        worker.leases.remove(job)
        lost(job, reason: "its worker died", mayHaveBegun: false, now: now)
        unreachable(worker.peer, now: now)
    }

    /// A worker that was given up with jobs has come back and has them still: it was not them that ended it, and they have
    /// their attempts again. Not for ever: what a job does to a worker may also be to silence it.
    private mutating func refund(_ registration: Registration) {
        for held in registration.held {
            guard let job = jobs[held.job], job.generation == held.generation, job.refunds < Dispatcher.unseenLosses,
                let index = job.losses.firstIndex(where: { $0.instance == registration.instance })
            else { continue }
            let loss = job.losses.remove(at: index)
            job.refunds += 1
            if !loss.isShared {
                job.spentAttempts -= 1
            } else if !job.isSuspect {
                job.hasSharedLoss = false
            }
        }
    }

    /// A leased job will not be ended by its worker. A worker that dies may have begun it without being heard; one that
    /// dies with several jobs has spent no attempt of any.
    mutating func lost(
        _ job: Job,
        reason: String,
        mayHaveBegun: Bool = true,
        isShared: Bool = false,
        by instance: Identifier? = nil,
        now: UInt64
    ) {
        guard case .leased(_, _, let isAccepted) = job.state else { return }
        job.state = .waiting
        if job.isCancelled {
            return fail(job, JobError(code: JobError.Code.cancelled, message: "cancelled"), now: now)
        }
        if job.isChoice { return endChoice(job, reason, now: now) }
        if !registry.isIdempotent(job.skill), isAccepted || mayHaveBegun {
            return fail(job, outcomeUnknown(job, reason), now: now)
        }
        if !isAccepted, job.unseenLosses < Dispatcher.unseenLosses {
            // Most likely nobody has seen it: back to the head of the queue for free. But not for ever, or a job that
            // ends each worker at once would never be given up.
            if mayHaveBegun { job.unseenLosses += 1 }
            guard let entry = registry.skills[job.skill] else { return fail(job, unknown(job.skill), now: now) }
            entry.queue.prepend(job)
            return fill(entry, now: now)
        }
        if let instance { job.losses.append((instance, isShared)) }
        if isShared {
            // The first time is chance, most likely, and nothing waits for it. Who was there twice may be why.
            job.isSuspect = job.hasSharedLoss
            job.hasSharedLoss = true
            return tryAgain(job, reason: reason, after: 0, now: now)
        }
        job.spentAttempts += 1
        guard job.spentAttempts < Dispatcher.maximumAttempts else {
            return fail(
                job,
                JobError(
                    code: JobError.Code.deadLettered,
                    message: "given up after \(job.spentAttempts) attempts; the last one: \(reason)",
                    hint: "the input may be what ends the worker; see its log"
                ),
                now: now
            )
        }
        tryAgain(job, reason: reason, after: 0, now: now)
    }

    mutating func heartbeat(
        from worker: Worker,
        free: Int,
        seen: UInt64,
        running: [Execution],
        now: UInt64
    ) {
        worker.grant(free, seen: seen)
        let held = Set(running)
        for job in worker.leases.values {
            guard case .leased(_, let dispatch, _) = job.state, dispatch <= seen, !held.contains(job.execution),
                now >= job.missingUntil
            else { continue }
            worker.leases.remove(job)
            lost(job, reason: "the worker no longer has the job", now: now)
        }
        fill(worker, now: now)
    }

    mutating func credited(_ worker: Worker, free: Int, seen: UInt64, now: UInt64) {
        worker.grant(free, seen: seen)
        fill(worker, now: now)
    }

    /// The worker does not take the job: it costs no attempt.
    mutating func refused(_ execution: Execution, by worker: Worker, _ error: JobError, now: UInt64) {
        guard let job = worker.leases[execution.job], job.execution == execution else { return }
        worker.leases.remove(job)
        job.state = .waiting
        if job.isCancelled {
            return fail(job, JobError(code: JobError.Code.cancelled, message: "cancelled"), now: now)
        }
        switch error.code {
        case JobError.Code.draining, "busy":
            if error.code == JobError.Code.draining { worker.isDraining = true }
            // Its credit was wrong; the next heartbeat says what it is.
            worker.credit = 0
            if job.isChoice { return endChoice(job, error.message, now: now) }
            guard let entry = registry.skills[job.skill] else { return fail(job, unknown(job.skill), now: now) }
            entry.queue.prepend(job)
            fill(entry, now: now)
            askForSlots(entry, now: now)
        default:
            worker.credit += 1
            fail(job, error, now: now)
        }
    }

    /// A draining worker hands an accepted job back: it costs no attempt either.
    mutating func released(_ execution: Execution, by worker: Worker, now: UInt64) {
        guard let job = worker.leases[execution.job], job.execution == execution else { return }
        worker.leases.remove(job)
        guard registry.isIdempotent(job.skill), !job.isCancelled else {
            return lost(job, reason: "its worker stopped", now: now)
        }
        if job.isChoice { return endChoice(job, "its worker is shutting down", now: now) }
        tryAgain(job, reason: "its worker is shutting down", after: 0, now: now)
    }

    mutating func draining(_ worker: Worker) {
        worker.isDraining = true
        worker.credit = 0
    }

    /// A job has said more at once than followers and the store are made for: it ends, and its worker is told.
    mutating func saidTooMuch(_ header: Header, _ size: Int, worker: Worker, now: UInt64) {
        guard let job = worker.leases[header.job], job.execution == header.execution else { return }
        fence(job)
        let message = "an event of \(job.skill) has \(size) bytes, the limit is \(Limits.event)"
        let hint = "the skill must send long texts in pieces"
        fail(job, JobError(code: JobError.Code.eventTooLarge, message: message, hint: hint), now: now)
        fill(worker, now: now)
    }

    // MARK: Ends

    /// Ends a request, or one job of it.
    mutating func cancelled(_ id: Identifier, now: UInt64) {
        early.removeAll { $0.header.job.request == id.request }
        returning[id.request] = nil
        dropClaims(of: id.request)
        let isRequest = id.step == 0
        if isRequest { planning[id]?.isCancelled = true }
        if isRequest, let request = requests[id] {
            // Steps that have not begun will not.
            for step in request.plan.steps where !request.started.contains(step.id) { request.failed.insert(step.id) }
        }
        for job in jobs.values where isRequest ? job.id.request == id : job.id == id { cancel(job, now: now) }
        if isRequest, let request = requests[id] { close(request) }
    }

    mutating func cancel(_ job: Job, now: UInt64) {
        guard !job.isCancelled else { return }
        job.isCancelled = true
        switch job.state {
        case .waiting:
            registry.skills[job.skill]?.queue.remove(job)
            fail(job, JobError(code: JobError.Code.cancelled, message: "cancelled"), now: now)
        case .leased(let peer, _, _):
            let header = Header(.cancel, job: job.id, generation: job.generation, attempt: job.attempt)
            actions.append(.toWorker(peer, Outgoing(header)))
            cancelCalls(of: job, now: now)
        case .ended, .failed: break
        }
    }

    /// Another router has a request under a higher generation: what is here of it is over, and nobody is told.
    mutating func superseded(_ id: Identifier, generation: UInt32, now: UInt64) {
        early.removeAll { $0.header.job.request == id && $0.header.generation < generation }
        if let planned = planning[id], planned.generation < generation { planning[id] = nil }
        dropChoice(of: id, before: generation, now: now)
        if let waiting = returning[id], waiting.request.header.generation < generation { returning[id] = nil }
        let known = requests[id]?.generation ?? jobs[id.job(step: 1)]?.submission
        if let known, known < generation { supersede(id, now: now) }
    }

    /// Takes a request out that has been submitted under a higher generation.
    mutating func supersede(_ id: Identifier, now: UInt64) {
        requests[id] = nil
        returning[id] = nil
        choosing[id] = nil
        for job in jobs.values where job.id.request == id {
            jobs[job.id] = nil
            fence(job)
            if job.flight != nil { leave(job, now: now) }
        }
        nextCallStep[id] = nil
    }

    /// Tells the worker that its attempt is over and takes the job from it.
    mutating func fence(_ job: Job) {
        switch job.state {
        case .waiting: registry.skills[job.skill]?.queue.remove(job)
        case .leased(let peer, _, _), .ended(let peer):
            if let worker = registry.workers[peer] { worker.leases.remove(job) }
            var body: [UInt8] = []
            ExecutionList.append(job.execution, to: &body)
            actions.append(.toWorker(peer, Outgoing(Header(.fenced), body: body)))
        case .failed: break
        }
    }

    // MARK: Time

    /// What is due by now. Called a few times a second.
    mutating func tick(now: UInt64) {
        let silence = heartbeat * liveness
        for worker in Array(registry.workers.values) {
            if let returnsBy = worker.returnsBy, now >= returnsBy {
                workerLost(worker.peer, reason: "its worker died", now: now)
            } else if now > worker.lastHeard + silence {
                workerLost(worker.peer, reason: "its worker has been silent for \(silence / 1000) s", now: now)
            }
        }
        if early.contains(where: { $0.until <= now }) {
            // Their time is over for all of them at once.
            for request in takeEarly() { resubmit(request, now: now) }
        }
        if !returning.isEmpty || !claims.isEmpty { endWaiting(now: now) }
        if !choosing.isEmpty { endChoosing(now: now) }
        for entry in registry.skills.values {
            if entry.queue.count > 0, let orphanedAt = entry.orphanedAt, now >= orphanedAt + Dispatcher.orphanLimit {
                for job in entry.queue.all where now >= job.submitted + Dispatcher.orphanLimit {
                    entry.queue.remove(job)
                    fail(job, noWorker(entry, now: now), now: now)
                }
            }
            fill(entry, now: now)
            measure(entry, now: now)
            askForSlots(entry, now: now)
            stopAsking(entry)
        }
        for request in requests.values where request.gateway.isConnected && request.isPlanOurs {
            guard now >= request.planSaid + Dispatcher.repeatInterval else { continue }
            request.planSaid = now
            send(request.plan, of: request.id, request.generation, to: request.gateway)
        }
        for job in Array(jobs.values) {
            checkDeadline(job, now: now)
            guard job.gateway.isConnected, now >= job.lastSaid + Dispatcher.repeatInterval else { continue }
            job.lastSaid = now
            repeatUnanswered(job)
        }
        boundUnacknowledged()
        cache.expire(now: now)
        registry.forget(orphanedBefore: now > 600_000 ? now - 600_000 : 0)
        registry.forget(gatewaysSilentSince: now > 3_600_000 ? now - 3_600_000 : 0)
    }

    /// Counts what gateways owe acknowledgements for, and forgets what is too much of gateways that are gone: they may
    /// come back, but memory is not without end.
    private mutating func boundUnacknowledged() {
        for gateway in registry.gateways.values { gateway.unacknowledged = 0 }
        var left: [Job] = []
        for job in jobs.values where job.isEnded {
            job.gateway.unacknowledged += 1
            if !job.gateway.isConnected { left.append(job) }
        }
        guard left.count > Limits.unacknowledgedEnds else { return }
        // Those first whose gateway has been away the longest.
        left.sort { ($0.gateway.lastHeard, $0.id) < ($1.gateway.lastHeard, $1.id) }
        for job in left.prefix(left.count - Limits.unacknowledgedEnds) {
            job.gateway.unacknowledged -= 1
            forget(job)
            fence(job)
        }
    }

    private mutating func checkDeadline(_ job: Job, now: UInt64) {
        switch job.state {
        case .waiting:
            guard let deadline = job.deadline, now >= deadline else { return }
            registry.skills[job.skill]?.queue.remove(job)
            fail(job, timeout("the request's time was over before a worker was free"), now: now)
        case .leased(let peer, _, _):
            guard let deadline = job.deadline, now >= deadline + Dispatcher.deadlineGrace else { return }
            registry.workers[peer]?.leases.remove(job)
            fence(job)
            fail(job, timeout("the request's time is over and its worker does not stop"), now: now)
        case .ended(let peer) where job.isEndMissing && registry.workers[peer] == nil: lostEnd(job, now: now)
        case .ended, .failed:
            if !job.gateway.isConnected, now >= job.gateway.lastHeard + Dispatcher.acknowledgementLimit {
                forget(job)
                fence(job)
            }
        }
    }

    private func timeout(_ message: String) -> JobError {
        JobError(code: JobError.Code.timeout, message: message, hint: "ask again, or allow more time", retryable: true)
    }

    private func noWorker(_ entry: SkillEntry, now: UInt64) -> JobError {
        JobError(
            code: JobError.Code.noWorker,
            message: "skill \(entry.id) has no worker (last seen \((now - min(entry.lastSeen, now)) / 1000) s ago)",
            hint: "start a worker that serves \(entry.id), then ask again",
            retryable: true
        )
    }
}
