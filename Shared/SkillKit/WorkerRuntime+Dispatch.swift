internal import Bus
internal import Synchronization
internal import Telemetry
internal import Wire

/// Jobs that come in, and the router's word on those that are here.
extension WorkerRuntime {
    func dispatch(_ header: Header, _ body: RawSpan, _ frames: [SharedFrame], from link: BusLink, now: UInt64) {
        let execution = header.execution
        func refuse(_ code: String, _ text: String) {
            let error = JobError(code: code, message: text, retryable: true)
            let nack = Header(
                .nack,
                job: execution.job,
                generation: execution.generation,
                attempt: execution.attempt,
                sequence: header.sequence
            )
            if let nack = try? Outgoing(nack, json: error) { try? client.send(nack, to: link) }
        }
        let decoded: (skill: String, input: JobInput)
        do throws(WireError) {
            decoded = try JobBody.decode(body)
        } catch {
            state.withLock { $0.saw(header.sequence, from: link) }
            return refuse(JobError.Code.badMessage, error.description)
        }
        guard let skill = skills[decoded.skill] else {
            state.withLock { $0.saw(header.sequence, from: link) }
            return refuse(JobError.Code.unknownSkill, "this worker has no skill \(decoded.skill)")
        }
        enum Decision { case start(WorkerExecution), older, again(WorkerExecution), busy, draining }
        // Fenced below, outside the lock: cancelling a task runs handlers that take it.
        var superseded: WorkerExecution?
        let decision: Decision = state.withLock { state in
            state.saw(header.sequence, from: link)
            if let known = state.executions[execution.job] {
                if known.execution == execution { return .again(known) }
                guard known.execution.isOlder(than: execution) else { return .older }
                superseded = known
            }
            if state.isDraining { return .draining }
            let free = freeSlots(state)
            guard let router = state.links[link]?.router, state.shares.take(for: link, free: free) else { return .busy }
            let limit = min(header.value == 0 ? .max : header.value, UInt64(skill.manifest.timeout * 1000))
            let started = WorkerExecution(
                execution: execution,
                skill: skill,
                startTime: now,
                deadline: now + limit,
                route: .init(router: router, link: link)
            )
            state.executions[execution.job] = started
            state.slotsInUse += 1
            state.nextDeadline = min(state.nextDeadline, now + limit)
            // That it has started is said a little later, or with the end if that comes first.
            _ = started.record(.started, skill.startedPayload)
            state.waiting.append(started)
            state.waitingEnds = min(state.waitingEnds, now + WorkerExecution.startingTime)
            return .start(started)
        }
        if let superseded {
            superseded.fence()
            if superseded.givesSlotBack() { giveBack(superseded) }
        }
        switch decision {
        case .start(let started):
            executor.collect()
            tasks.add(
                ExecutionTasks.Work(
                    runner: self,
                    execution: started,
                    input: decoded.input,
                    frames: frames
                )
            )
        case .again(let known): if let terminal = known.sentTerminal { try? client.send(terminal, to: link) }
        case .older: break
        case .busy: refuse("busy", "no free slot")
        case .draining: refuse(JobError.Code.draining, "the worker is draining")
        }
    }

    /// A router has given an execution up. What has become another's since is that one's to say.
    func fenced(_ execution: Execution, by link: BusLink) {
        let found = state.withLock { state -> WorkerExecution? in
            guard let found = state.executions[execution.job], found.execution == execution else { return nil }
            let route = found.route
            guard route.isOrphan || route.link == link else { return nil }
            state.executions[execution.job] = nil
            return found
        }
        guard let found else { return }
        found.fence()
        if found.givesSlotBack() { giveBack(found) }
    }

    /// A slot is free without its router having been told by the job's end.
    func giveBack(_ execution: WorkerExecution) {
        let link = execution.route.link
        state.withLock { state in
            state.slotsInUse -= 1
            state.shares.give(backBy: link)
        }
    }

    func enqueue(_ execution: WorkerExecution) { state.withLock { $0.unsent.append(execution) } }
}

extension WorkerRuntime.State {
    /// Notes the number of a dispatch that a router has sent.
    fileprivate mutating func saw(_ number: UInt64, from link: BusLink) {
        guard let index = links.index(forKey: link), links.values[index].dispatchSeen < number else { return }
        links.values[index].dispatchSeen = number
    }
}
