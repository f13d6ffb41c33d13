internal import Bus
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// From a decision to the store, and from the store to what follows.
extension OpenRequests {
    // MARK: Deciding, under the lock

    func apply(
        to request: Identifier,
        in state: inout State,
        now: UInt64,
        _ change: (inout RequestProgress) -> RequestProgress.Effects
    ) -> [Action] {
        guard var open = state.open[request] else { return [] }
        let wasCancelling = open.progress.isCancelling
        let effects = change(&open.progress)
        take(effects.occurrences, into: &open, in: &state)
        open.acknowledgements += effects.acknowledgements
        var actions = effects.answers.map(Action.approve)
        if effects.asksStore { actions.append(.lookUpApprovals(request)) }
        if open.progress.isCancelling, !wasCancelling {
            // One that no router has is over at once.
            if open.router == nil, !open.isDispatching {
                take(open.progress.cancelDue().occurrences, into: &open, in: &state)
            } else {
                open.cancelEnds = now + patience.cancelGrace
            }
        }
        actions += flush(&open)
        state.open[request] = open
        return actions
    }

    private func take(_ occurrences: [Occurrence], into open: inout Open, in state: inout State) {
        for occurrence in occurrences {
            let bytes = occurrence.bytes
            open.pending.add(occurrence)
            open.pendingBytes += bytes
            state.bytes += bytes
        }
    }

    /// What goes to the store now, if nothing is on its way there.
    func flush(_ open: inout Open) -> [Action] {
        guard !open.isStoring else { return [] }
        if open.pending.isEmpty {
            guard !open.acknowledgements.isEmpty else { return [] }
            defer { open.acknowledgements = [] }
            return [.acknowledge(open.acknowledgements)]
        }
        let time = Timestamp.now
        let batch = EventBatch(
            session: open.session,
            request: open.progress.request,
            time: time,
            items: open.composer.items(open.pending, at: time),
            epoch: open.epoch
        )
        let action = Action.store(
            batch,
            acknowledgements: open.acknowledgements,
            generation: open.progress.generation
        )
        open.pending = []
        open.acknowledgements = []
        open.storingBytes = open.pendingBytes
        open.pendingBytes = 0
        open.isStoring = true
        return [action]
    }

    /// The request, if a router is there that can be given it now.
    func dispatchable(_ request: Identifier, in state: inout State, again: Bool = false) -> [Action] {
        guard let open = state.open[request], !open.waits, !open.isDispatching, again || open.router == nil,
            !open.progress.isOver, !open.progress.isCancelling, let router = target(of: open, in: state)
        else { return [] }
        guard open.storedRouter == router else {
            guard open.notedRouter != router else { return [] }
            state.open[request]?.notedRouter = router
            return apply(to: request, in: &state, now: 0) { _ in .init(occurrences: [.router(router)]) }
        }
        guard open.storedGeneration == open.progress.generation else { return [] }
        state.open[request]?.isDispatching = true
        return [.dispatch(request)]
    }

    /// The router that may be sent a request now: the one that has it, or was chosen for it, else the best.
    func target(of open: Open, in state: State) -> Identifier? {
        let known = open.router ?? open.notedRouter
        if let known, state.routers.takes(known) { return known }
        return open.router == nil ? state.routers.choose(for: open.progress.skills) : nil
    }

    // MARK: Acting, outside the lock

    func perform(_ actions: [Action]) {
        guard !actions.isEmpty else { return }
        let (router, dispatch) = link.withLock { $0 }
        for action in actions {
            switch action {
            case .store(let batch, let acknowledgements, let generation):
                store.append(batch) { [weak self] result in
                    self?.stored(batch, acknowledgements, generation, result)
                }
            case .acknowledge(let executions): router?.acknowledge(executions)
            case .cancel(let request, let generation): router?.cancel(request, generation: generation)
            case .deny(let execution): router?.answer(mayStart: execution, false)
            case .dispatch(let request): dispatch?(request)
            case .tell(let waiters, let isStored): waiters.forEach { $0.done(isStored) }
            case .lookUp(let execution): acknowledgeIfOver(execution)
            case .approve(let answer): router?.approve(answer.execution, answer.party, answer.isAllowed)
            case .lookUpApprovals(let request): lookUpApprovals(of: request)
            }
        }
    }

    /// A batch is on disk, or never will be. On the store's thread.
    func stored(
        _ batch: EventBatch,
        _ acknowledgements: [Execution],
        _ generation: UInt32,
        _ result: Result<AppendOutcome, StoreError>
    ) {
        let request = batch.request
        let now = Monotonic.milliseconds
        let outcome: AppendOutcome
        switch result {
        case .success(let value): outcome = value
        // Closing is no loss: nothing was acknowledged, and the next start goes on from what is stored.
        case .failure(.closed):
            return perform(state.withLock { [.tell(takeCancelWaiters(of: request, in: &$0), false)] })
        case .failure(let error): return lost(batch, error, now: now)
        }
        if outcome.isSuperseded { return superseded(request, epoch: batch.epoch) }
        let router = link.withLock { $0.router }
        var isEnd = outcome.wasOver
        var isCancel = false
        var storedRouter: Identifier?
        for item in batch.items {
            switch item {
            case .end: isEnd = true
            case .grant(let execution, _):
                router?.answer(mayStart: execution, !outcome.denied.contains(execution))
            // Stored first, then sent: what was told to end ends even if this process does.
            case .cancelRequested:
                isCancel = true
                router?.cancel(request, generation: generation)
            case .router(let instance): storedRouter = instance
            default: break
            }
        }
        if !acknowledgements.isEmpty { router?.acknowledge(acknowledgements) }
        let actions = state.withLock { state -> [Action] in
            guard var open = state.open[request], open.epoch == batch.epoch else { return [] }
            open.isStoring = false
            open.storedGeneration = generation
            open.storedRouter = storedRouter ?? open.storedRouter
            open.isCancelStored = open.isCancelStored || isCancel || isEnd
            state.bytes -= open.storingBytes
            open.storingBytes = 0
            state.open[request] = open
            if isEnd {
                let left = open.acknowledgements
                return (left.isEmpty ? [] : [.acknowledge(left)]) + remove(request, open.session, in: &state, now: now)
            }
            var actions: [Action] = []
            if isCancel { actions.append(.tell(takeCancelWaiters(of: request, in: &state), true)) }
            for execution in outcome.denied {
                actions += apply(to: request, in: &state, now: now) { $0.startDenied(execution) }
            }
            actions += apply(to: request, in: &state, now: now) { _ in RequestProgress.Effects() }
            actions += unpark(request, in: &state, now: now)
            return actions + dispatchable(request, in: &state)
        }
        if outcome.stored > 0 { followers.wake(batch.session) }
        perform(actions)
    }

    /// A batch will never be on disk. What comes after it makes no sense without it, so the request ends with the
    /// reason; if not even that can be stored, it is let go of, and the next start goes on from what is stored.
    private func lost(_ batch: EventBatch, _ error: StoreError, now: UInt64) {
        let request = batch.request
        log.error("events are not stored", ["request": "\(request)", "reason": "\(error)"])
        let actions = state.withLock { state -> [Action] in
            guard var open = state.open[request], open.epoch == batch.epoch else { return [] }
            open.isStoring = false
            let wasLastTry = open.isGivenUp || error == .notFound
            open.isGivenUp = true
            open.pending = []
            open.parked = []
            state.bytes -= open.waitingBytes
            open.storingBytes = 0
            open.pendingBytes = 0
            open.parkedBytes = 0
            state.open[request] = open
            state.remember(cancelled: request)
            let cancel = Action.cancel(request, open.progress.generation)
            guard wasLastTry else {
                return [cancel] + apply(to: request, in: &state, now: now) { $0.unstorable(.notStored(error)) }
            }
            return [cancel] + remove(request, open.session, in: &state, now: now)
        }
        followers.wake(batch.session)
        perform(actions)
    }

    /// Forgets a request that is over; the next of its session may go.
    func remove(_ request: Identifier, _ session: Identifier, in state: inout State, now: UInt64) -> [Action] {
        let waiters = takeCancelWaiters(of: request, in: &state)
        let isStored = state.open[request]?.isCancelStored ?? false
        if let open = state.open[request] { state.bytes -= open.waitingBytes }
        state.open[request] = nil
        return [.tell(waiters, isStored)] + next(after: request, session, in: &state, now: now)
    }

    private func next(
        after request: Identifier,
        _ session: Identifier,
        in state: inout State,
        now: UInt64
    ) -> [Action] {
        state.sessions[session]?.removeAll { $0 == request }
        guard let left = state.sessions[session], let first = left.first else {
            state.sessions[session] = nil
            return []
        }
        guard let waiting = state.open[first], waiting.waits, !waiting.waitsForOthers else { return [] }
        state.open[first]?.waits = false
        state.open[first]?.unroutedSince = now
        return dispatchable(first, in: &state)
    }
}

extension OpenRequests {
    /// Those who wait for a request's cancel, who are to be told now.
    func takeCancelWaiters(of request: Identifier, in state: inout State) -> [CancelWaiter] {
        guard let waiters = state.open[request]?.cancelWaiters, !waiters.isEmpty else { return [] }
        state.open[request]?.cancelWaiters = []
        return waiters
    }
}

extension JobError {
    fileprivate static func notStored(_ error: StoreError) -> JobError {
        JobError(
            code: "store_unavailable",
            message: "What the request came to could not be stored: \(error).",
            hint: "Look at the gateway's log, then ask anew."
        )
    }
}
