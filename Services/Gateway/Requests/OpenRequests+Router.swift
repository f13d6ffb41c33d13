internal import Synchronization
internal import Wire

/// What the router says, and what it is sent.
extension OpenRequests {
    /// A router has greeted us. What is open goes to it: as it was to the instance that has it; under a new generation what
    /// was with another that is gone for good, as all others are that are not `replacing` it but with `isOnly`.
    func routerReady(
        _ instance: Identifier,
        skills: Set<String>? = nil,
        load: Int = 0,
        replacing former: Identifier? = nil,
        isOnly: Bool = true,
        now: UInt64
    ) {
        let actions = state.withLock { state in
            if let former { state.routers.lose(former, isForGood: true, now: now) }
            state.routers.add(instance, skills: skills, load: load, isOnly: isOnly)
            var actions: [Action] = []
            for (request, open) in state.open.sorted(by: { $0.value.number < $1.value.number }) {
                guard !open.progress.isOver else { continue }
                if open.progress.isCancelling {
                    actions.append(.cancel(request, open.progress.generation))
                    continue
                }
                actions += failOver(request, in: &state, isOnly: isOnly, now: now)
                actions += dispatchable(request, in: &state, again: open.router == nil || open.router == instance)
            }
            return actions
        }
        perform(actions)
    }

    /// Gives up waiting for the router that has a request, if it has been gone for long enough and another is there.
    func failOver(_ request: Identifier, in state: inout State, isOnly: Bool = false, now: UInt64) -> [Action] {
        guard let router = state.open[request]?.router, !state.routers.has(router), state.routers.hasAny(),
            state.routers.isGone(router, for: isOnly ? 0 : patience.routerReturns, now: now),
            !(state.open[request]?.progress.isCancelling ?? true)
        else { return [] }
        return moveOn(request, in: &state, now: now)
    }

    /// Takes a request from its router, for the next one.
    private func moveOn(_ request: Identifier, in state: inout State, now: UInt64) -> [Action] {
        state.open[request]?.router = nil
        state.open[request]?.unroutedSince = now
        return apply(to: request, in: &state, now: now) { $0.resubmitted() }
    }

    /// A router is gone, perhaps only for a moment: who has what stays noted until it greets us again, or has been away for
    /// too long while another is there. Nil for all of them.
    func routerLost(_ instance: Identifier? = nil, isForGood: Bool = false, now: UInt64) {
        background.lost(instance)
        state.withLock { state in
            state.routers.lose(instance, isForGood: isForGood, now: now)
            for (request, open) in state.open where open.router == nil { state.open[request]?.unroutedSince = now }
        }
    }

    /// A router takes nothing new.
    func routerDrains(_ instance: Identifier) { state.withLock { $0.routers.drains(instance) } }

    /// A router has workers for other skills than before.
    func routerServes(_ instance: Identifier, _ skills: Set<String>?, now: UInt64) {
        state.withLock { $0.routers.serves(instance, skills) }
    }

    /// A router says how much there is to do.
    func routerHas(_ instance: Identifier, load: Int) { state.withLock { $0.routers.has(instance, load: load) } }

    /// Requests that an instance may have had and another has now, with their generations.
    func elsewhere(than instance: Identifier) -> [(request: Identifier, generation: UInt32)] {
        state.withLock { state in
            state.open.filter { $0.value.progress.generation > 1 && $0.value.router != instance }
                .map { ($0.key, $0.value.progress.generation) }
        }
    }

    /// The router that a new request would go to, for what is stored with it.
    var currentRouter: Identifier? { router(for: []) }

    /// The same for one that names its skills.
    func router(for skills: [String]) -> Identifier? { state.withLock { $0.routers.choose(for: skills) } }

    /// A router that says it has a worker for a skill.
    func routerServing(_ skill: String) -> Identifier? {
        state.withLock { state in
            state.routers.choose(for: [skill]).flatMap { state.routers.serves($0, skill) ? $0 : nil }
        }
    }

    /// The router that is to get a request, and whether that has it already, as far as is known: it is asked then whether it
    /// still does.
    func target(of request: Identifier) -> (router: Identifier, isAttached: Bool)? {
        state.withLock { state in
            guard let open = state.open[request], let router = target(of: open, in: state) else { return nil }
            return (router, open.router == router)
        }
    }

    /// Whether a request may be sent to the router now, and if so under which generation and with how much time.
    func beginDispatch(_ request: Identifier) -> (generation: UInt32, finished: [JobInput.Previous])? {
        state.withLock { state in
            guard let open = state.open[request], !open.progress.isOver, !open.progress.isCancelling else { return nil }
            return (open.progress.generation, open.progress.finishedSteps)
        }
    }

    /// The last executions of the jobs of a request that have begun and not ended.
    func begunJobs(of request: Identifier) -> [Execution] {
        state.withLock { $0.open[request]?.progress.begunJobs ?? [] }
    }

    /// Sends a request by the closure, unless it is over or has changed in between. The closure runs under the lock,
    /// so that nothing about the request can be sent before it; it must only put a message into a queue.
    func dispatch(
        _ request: Identifier,
        generation: UInt32,
        to chosen: Identifier? = nil,
        now: UInt64,
        send: (_ remaining: UInt64) -> Bool
    ) {
        state.withLock { state in
            guard var open = state.open[request] else { return }
            open.isDispatching = false
            defer { state.open[request] = open }
            guard let router = target(of: open, in: state), chosen == nil || chosen == router,
                router == open.storedRouter, open.progress.generation == generation, !open.progress.isOver,
                !open.progress.isCancelling
            else { return }
            let remaining = open.deadline > now ? open.deadline - now : 1
            guard send(remaining) else { return }
            open.router = router
            state.routers.sent(to: router)
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
    func refused(_ error: JobError, _ header: Header, now: UInt64) { refused(Refusal(error), header, now: now) }

    /// The same with the skills to choose from.
    func refused(_ refusal: Refusal, _ header: Header, now: UInt64) {
        let error = refusal.error
        let request = header.job.request
        guard !background.has(request) else { return background.end(request, .failure(error)) }
        let actions = state.withLock { state -> [Action] in
            if error.code == JobError.Code.draining, let open = state.open[request], !open.progress.isCancelling {
                guard let router = open.router else { return [] }
                state.routers.drains(router)
                // Without another one it is waited for what comes after it.
                return state.routers.hasAny() ? moveOn(request, in: &state, now: now) : []
            }
            if error.code == JobError.Code.unknownRequest, let open = state.open[request], !open.progress.isCancelling,
                open.progress.generation == header.generation
            {
                // It was asked whether it still has the request, and has not: then as to another router.
                return moveOn(request, in: &state, now: now)
            }
            if error.code == JobError.Code.unknownSkill, let open = state.open[request], !open.progress.isCancelling,
                header.generation == 1, open.progress.generation == 1,
                open.progress.skills.contains(where: { state.routers.haveServed($0) })
            {
                // That router is newer than the skill's workers are: it is told, and waits for them.
                return moveOn(request, in: &state, now: now)
            }
            return apply(to: request, in: &state, now: now) {
                $0.refused(error, candidates: refusal.candidates, generation: header.generation)
            }
        }
        perform(actions)
    }

    /// MAY_START. A router that does not have the request any more is not answered: it will hear that it is over there.
    func mayStart(_ execution: Execution, from router: Identifier? = nil, now: UInt64) {
        let request = execution.job.request
        let actions = state.withLock { state -> [Action] in
            if let open = state.open[request], !open.isOf(router) { return [] }
            guard let effects = state.open[request]?.progress.mayStart(execution) else { return [.deny(execution)] }
            return apply(to: request, in: &state, now: now) { _ in effects }
        }
        perform(actions)
    }
}
