internal import Synchronization
internal import Wire

/// What the router says, and what it is sent.
extension OpenRequests {
    /// A router has greeted us. What is open goes to it: as it was to the instance that has it, and under a new
    /// generation to another.
    func routerReady(_ instance: Identifier, now: UInt64) {
        let actions = state.withLock { state in
            state.router = instance
            if state.draining != instance { state.draining = nil }
            var actions: [Action] = []
            for (request, open) in state.open.sorted(by: { $0.value.number < $1.value.number }) {
                guard !open.progress.isOver else { continue }
                if open.progress.isCancelling {
                    actions.append(.cancel(request, open.progress.generation))
                    continue
                }
                if let before = open.router, before != instance {
                    state.open[request]?.router = nil
                    state.open[request]?.unroutedSince = now
                    actions += apply(to: request, in: &state, now: now) { $0.resubmitted() }
                }
                actions += dispatchable(request, in: &state, again: true)
            }
            return actions
        }
        perform(actions)
    }

    /// The router is gone, perhaps only for a moment: who has what stays noted until one greets us again.
    func routerLost(now: UInt64) {
        state.withLock { state in
            state.router = nil
            for (request, open) in state.open where open.router == nil { state.open[request]?.unroutedSince = now }
        }
    }

    /// The instance of the router that is there, for what is stored with a request.
    var currentRouter: Identifier? { state.withLock { $0.router == $0.draining ? nil : $0.router } }

    /// Whether the router that is there has the request already, as far as is known: it is asked whether it still does.
    /// When another one comes, the generation changes.
    func isAttached(_ request: Identifier) -> Bool {
        state.withLock { state in state.router != nil && state.open[request]?.router == state.router }
    }

    /// Whether a request may be sent to the router now, and if so under which generation and with how much time.
    func beginDispatch(_ request: Identifier) -> (generation: UInt32, finished: [JobInput.Previous])? {
        state.withLock { state in
            guard let open = state.open[request], !open.progress.isOver, !open.progress.isCancelling else { return nil }
            return (open.progress.generation, open.progress.finishedSteps)
        }
    }

    /// Sends a request by the closure, unless it is over or has changed in between. The closure runs under the lock,
    /// so that nothing about the request can be sent before it; it must only put a message into a queue.
    func dispatch(
        _ request: Identifier,
        generation: UInt32,
        now: UInt64,
        send: (_ remaining: UInt64) -> Bool
    ) {
        state.withLock { state in
            guard var open = state.open[request] else { return }
            open.isDispatching = false
            defer { state.open[request] = open }
            guard let router = state.router, open.progress.generation == generation, !open.progress.isOver,
                !open.progress.isCancelling
            else { return }
            let remaining = open.deadline > now ? open.deadline - now : 1
            if send(remaining) { open.router = router }
        }
    }

    /// A request could not be read from the store now. It is tried again with the clock.
    func putOff(_ request: Identifier) { state.withLock { $0.open[request]?.isDispatching = false } }

    /// A request could not be put into a message. It fails.
    func failed(_ request: Identifier, _ error: JobError, now: UInt64) {
        perform(state.withLock { apply(to: request, in: &$0, now: now) { $0.failed(error) } })
    }

    /// PLAN.
    func planned(_ plan: Plan, _ header: Header, now: UInt64) {
        let request = header.job.request
        perform(
            state.withLock { apply(to: request, in: &$0, now: now) { $0.planned(plan, generation: header.generation) } }
        )
    }

    /// NACK of a request. A router that shuts down is no failure: the next one gets it.
    func refused(_ error: JobError, _ header: Header, now: UInt64) {
        let request = header.job.request
        let actions = state.withLock { state -> [Action] in
            if error.code == JobError.Code.draining, let open = state.open[request], !open.progress.isCancelling {
                state.draining = state.router
                state.open[request]?.unroutedSince = now
                return []
            }
            if error.code == JobError.Code.unknownRequest, let open = state.open[request], !open.progress.isCancelling,
                open.progress.generation == header.generation
            {
                // It was asked whether it still has the request, and has not: then as to another router.
                state.open[request]?.router = nil
                state.open[request]?.unroutedSince = now
                return apply(to: request, in: &state, now: now) { $0.resubmitted() }
            }
            return apply(to: request, in: &state, now: now) { $0.refused(error, generation: header.generation) }
        }
        perform(actions)
    }

    /// MAY_START.
    func mayStart(_ execution: Execution, now: UInt64) {
        let request = execution.job.request
        let actions = state.withLock { state -> [Action] in
            guard let effects = state.open[request]?.progress.mayStart(execution) else { return [.deny(execution)] }
            return apply(to: request, in: &state, now: now) { _ in effects }
        }
        perform(actions)
    }
}
