internal import Bus
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// What happens at the end of each turn of the bus thread, and because time has passed.
extension WorkerRuntime {
    func turn(now: UInt64) -> UInt64? {
        turns.add()
        var (unsent, waitingEnds, links) = state.withLock { state -> ([WorkerExecution], UInt64, Links) in
            let links = Links(state.links)
            guard links.isAnyRegistered else { return ([], .max, links) }
            var unsent = state.spare
            state.spare = []
            swap(&unsent, &state.unsent)
            if now >= state.waitingEnds {
                unsent += state.waiting
                state.waiting.removeAll(keepingCapacity: true)
                state.waitingEnds = .max
            }
            return (unsent, state.waitingEnds, links)
        }
        var next = min(now + 1000, waitingEnds)
        var waiting: [WorkerExecution] = []
        var freed = 0
        for execution in unsent {
            // Of one that is not registered with its router nothing is sent: when it is again, all of it is looked at.
            guard let link = links.link(of: execution) else { continue }
            switch execution.flush(now: now) {
            case .nothing: break
            case .message(var message, let freesSlot):
                if freesSlot { freed += 1 }
                if message.header.flags.contains(.terminal) {
                    let stays = freesSlot && (links.only != nil || slotStays(with: link))
                    if !stays { message.header.flags.insert(.slotMoves) }
                }
                do { try client.send(message, to: link) } catch {
                    log.warning("event not queued", ["reason": "\(error)"])
                }
            case .later(let time):
                waiting.append(execution)
                waitingEnds = min(waitingEnds, time)
            }
        }
        if unsent.capacity > 0 {
            unsent.removeAll(keepingCapacity: unsent.capacity <= 1024)
            state.withLock { state in
                state.slotsInUse -= freed
                if let only = links.only {
                    for _ in 0..<freed { _ = state.shares.staysAfterEnd(with: only) }
                }
                state.waiting += waiting
                state.waitingEnds = min(state.waitingEnds, waitingEnds)
                swap(&unsent, &state.spare)
            }
        }
        links = Links([:])
        next = min(next, waitingEnds)
        return min(next, keepTime(now: now))
    }

    /// The routers as they are during a turn. Nearly always there is one: then no execution need be asked for its own.
    private struct Links {
        private let all: [BusLink: Link]
        let only: BusLink?
        let isAnyRegistered: Bool

        init(_ all: [BusLink: Link]) {
            self.all = all
            only = all.count == 1 ? all.first?.key : nil
            isAnyRegistered = all.values.contains { $0.isRegistered }
        }

        /// Where an execution's reports go now; what is another router's says nothing when it is asked.
        func link(of execution: WorkerExecution) -> BusLink? {
            if let only { return only }
            let link = execution.route.link
            return all[link]?.isRegistered ?? false ? link : nil
        }
    }

    private func slotStays(with link: BusLink) -> Bool { state.withLock { $0.shares.staysAfterEnd(with: link) } }

    /// Everything that happens because time has passed. Returns when to look again.
    func keepTime(now: UInt64) -> UInt64 {
        var overdue: [WorkerExecution] = []
        var abandoned: [WorkerExecution] = []
        var hasDrained = false
        var released: [WorkerExecution] = []
        let next = state.withLock { state -> UInt64 in
            var next = now + 60_000
            state.shares.settle(free: freeSlots(state))
            for link in state.links.keys { next = min(next, keep(link, &state, now: now)) }
            if now >= state.nextDeadline {
                state.nextDeadline = .max
                for execution in state.executions.values {
                    guard !execution.hasEnded else { continue }
                    let deadline = execution.deadline
                    let end = execution.stopLimit
                    if now >= end {
                        abandoned.append(execution)
                    } else {
                        if now >= deadline { overdue.append(execution) }
                        state.nextDeadline = min(state.nextDeadline, now >= deadline ? end : deadline)
                    }
                }
            }
            next = min(next, state.nextDeadline, askAgain(&state, now: now))
            if state.isDraining, !state.hasEnded {
                next = min(next, now + 50)
                let isDone = state.executions.isEmpty && state.slotsInUse == 0
                if isDone || now >= state.drainLimit {
                    state.hasEnded = true
                    hasDrained = true
                    released = release(&state)
                }
            }
            return next
        }
        for execution in overdue { execution.stop(overtime(execution), now: now) }
        for execution in abandoned { fail(execution, execution.stopReason ?? stuck(execution)) }
        for execution in released { execution.fence() }
        if hasDrained {
            let links = state.withLock { $0.links.filter { $0.value.isRegistered }.map(\.key) }
            for link in links { try? client.send(Outgoing(Header(.goodbye)), to: link) }
            onEnd(.drained)
        }
        return next
    }

    /// What is due towards one router. Returns when to look again.
    private func keep(_ link: BusLink, _ state: inout State, now: UInt64) -> UInt64 {
        guard var known = state.links[link] else { return .max }
        if let since = known.registering {
            if now >= since + WorkerRuntime.registerInterval { register(link, &state, now: now) }
            return now + WorkerRuntime.registerInterval
        }
        guard known.isRegistered else { return .max }
        var isChanged = false
        // Before the heartbeat, which leaves out what has ended: else the router would take it for lost.
        if now >= known.lastResend + WorkerRuntime.resendInterval {
            // After a registration all of them, else those that have waited long for their acknowledgement.
            let age = known.lastResend == 0 ? 0 : WorkerRuntime.resendInterval
            known.lastResend = now
            isChanged = true
            for execution in state.executions.values {
                let route = execution.route
                guard route.link == link, !route.isOrphan else { continue }
                if let terminal = execution.terminalSent(before: now - min(now, age), now: now) {
                    try? client.send(terminal, to: link)
                }
            }
        }
        let unsaid = state.shares.takeUnsaid(link)
        if now >= known.lastHeartbeat + known.heartbeat {
            known.lastHeartbeat = now
            sendHeartbeat(link, known, state)
            isChanged = true
        } else if let unsaid {
            let header = Header(.credit, sequence: known.dispatchSeen, value: UInt64(unsaid))
            try? client.send(Outgoing(header), to: link)
        }
        if isChanged { state.links[link] = known }
        return known.lastHeartbeat + known.heartbeat
    }

    private func overtime(_ execution: WorkerExecution) -> JobError {
        if let party = openQuestion(of: execution) {
            return JobError(
                code: JobError.Code.timeout,
                message: "nobody answered in time whether data may go to \(party)",
                hint: "answer sooner, or ask in a session that allows it: skillbus ask --privacy allow",
                retryable: true
            )
        }
        return JobError(
            code: JobError.Code.timeout,
            message: "the skill took longer than its limit of \(execution.skill.manifest.timeout) s",
            retryable: true
        )
    }

    func stuck(_ execution: WorkerExecution) -> JobError {
        JobError(code: JobError.Code.timeout, message: "the skill did not stop", retryable: true)
    }

    private func sendHeartbeat(_ link: BusLink, _ known: Link, _ state: borrowing State) {
        var body: [UInt8] = []
        // Listed until the terminal event is on its way: a leased job that a heartbeat lacks counts as lost.
        for execution in state.executions.values where execution.sentTerminal == nil {
            let route = execution.route
            guard route.link == link, !route.isOrphan else { continue }
            ExecutionList.append(execution.execution, progress: execution.progress, to: &body)
        }
        let free = state.shares.promised(to: link)
        let header = Header(.heartbeat, sequence: known.dispatchSeen, value: UInt64(free))
        try? client.send(Outgoing(header, body: body), to: link)
    }

    /// Hands back what is still running when the time for draining is over. The caller fences it outside the lock:
    /// cancelling a task runs handlers that take it.
    func release(_ state: inout State) -> [WorkerExecution] {
        var released: [WorkerExecution] = []
        for execution in state.executions.values where !execution.hasEnded {
            let header = Header(
                .release,
                job: execution.execution.job,
                generation: execution.execution.generation,
                attempt: execution.execution.attempt
            )
            let route = execution.route
            if !route.isOrphan { try? client.send(Outgoing(header), to: route.link) }
            if execution.givesSlotBack() { state.slotsInUse -= 1 }
            released.append(execution)
        }
        return released
    }
}
