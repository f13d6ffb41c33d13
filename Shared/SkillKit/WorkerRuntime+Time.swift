internal import Bus
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// What happens at the end of each turn of the bus thread, and because time has passed.
extension WorkerRuntime {
    func turn(now: UInt64) -> UInt64? {
        turns.add()
        var (unsent, waitingEnds) = state.withLock { state -> ([WorkerExecution], UInt64) in
            guard case .registered = state.phase else { return ([], .max) }
            var unsent = state.spare
            state.spare = []
            swap(&unsent, &state.unsent)
            if now >= state.waitingEnds {
                unsent += state.waiting
                state.waiting.removeAll(keepingCapacity: true)
                state.waitingEnds = .max
            }
            return (unsent, state.waitingEnds)
        }
        var next = min(now + 1000, waitingEnds)
        var waiting: [WorkerExecution] = []
        var freed = 0
        for execution in unsent {
            switch execution.flush(now: now) {
            case .nothing: break
            case .message(let message, let freesSlot):
                do { try client.send(message) } catch { log.warning("event not queued", ["reason": "\(error)"]) }
                if freesSlot { freed += 1 }
            case .later(let time):
                waiting.append(execution)
                waitingEnds = min(waitingEnds, time)
            }
        }
        if unsent.capacity > 0 {
            unsent.removeAll(keepingCapacity: unsent.capacity <= 1024)
            state.withLock { state in
                state.slotsInUse -= freed
                state.waiting += waiting
                state.waitingEnds = min(state.waitingEnds, waitingEnds)
                swap(&unsent, &state.spare)
            }
        }
        next = min(next, waitingEnds)
        return min(next, keepTime(now: now))
    }

    /// Everything that happens because time has passed. Returns when to look again.
    func keepTime(now: UInt64) -> UInt64 {
        var overdue: [WorkerExecution] = []
        var abandoned: [WorkerExecution] = []
        var hasDrained = false
        var released: [WorkerExecution] = []
        let next = state.withLock { state -> UInt64 in
            var next = now + state.heartbeat
            switch state.phase {
            case .disconnected: break
            case .registering(let since):
                if now >= since + WorkerRuntime.registerInterval { register(&state, now: now) }
                next = min(next, now + WorkerRuntime.registerInterval)
            case .registered:
                // Before the heartbeat, which leaves out what has ended: else the router would take it for lost.
                if now >= state.lastResend + WorkerRuntime.resendInterval {
                    // After a registration all of them, else those that have waited long for their acknowledgement.
                    let age = state.lastResend == 0 ? 0 : WorkerRuntime.resendInterval
                    state.lastResend = now
                    for execution in state.executions.values {
                        if let terminal = execution.terminalSent(before: now - min(now, age), now: now) {
                            try? client.send(terminal)
                        }
                    }
                }
                if now >= state.lastHeartbeat + state.heartbeat {
                    state.lastHeartbeat = now
                    sendHeartbeat(state)
                }
                next = min(next, state.lastHeartbeat + state.heartbeat)
            }
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
            next = min(next, state.nextDeadline)
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
        for execution in overdue {
            execution.stop(
                JobError(
                    code: JobError.Code.timeout,
                    message: "the skill took longer than its limit of \(execution.skill.manifest.timeout) s",
                    retryable: true
                ),
                now: now
            )
        }
        for execution in abandoned { fail(execution, execution.stopReason ?? stuck(execution)) }
        for execution in released { execution.fence() }
        if hasDrained {
            try? client.send(Outgoing(Header(.goodbye)))
            onEnd(.drained)
        }
        return next
    }

    func stuck(_ execution: WorkerExecution) -> JobError {
        JobError(code: JobError.Code.timeout, message: "the skill did not stop", retryable: true)
    }

    func sendHeartbeat(_ state: borrowing State) {
        var body: [UInt8] = []
        // Listed until the terminal event is on its way: a leased job that a heartbeat lacks counts as lost.
        for execution in state.executions.values where execution.sentTerminal == nil {
            ExecutionList.append(execution.execution, progress: execution.progress, to: &body)
        }
        let header = Header(.heartbeat, sequence: state.dispatchSeen, value: UInt64(freeSlots(state)))
        try? client.send(Outgoing(header, body: body))
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
            try? client.send(Outgoing(header))
            if execution.givesSlotBack() { state.slotsInUse -= 1 }
            released.append(execution)
        }
        return released
    }
}
