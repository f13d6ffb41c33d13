internal import Bus
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// The requests that have not ended: what comes in for them is merged here, stored, and acted on after the commit.
///
/// Callers are the bus's thread, the store's thread and tasks. Each call decides under the lock and acts outside it.
/// Of a request, one batch at a time is on its way to the store; what comes in meanwhile gathers, and deltas that
/// gather are joined. So the order is kept whichever threads call, and a slow disk makes fewer, larger writes.
final class OpenRequests: Sendable {
    /// What it needs of the router's side.
    protocol Router: AnyObject, Sendable {
        /// Terminal reports that are committed.
        func acknowledge(_ executions: [Execution])
        /// End this request.
        func cancel(_ request: Identifier, generation: UInt32)
        /// Whether a job that must not run twice may start.
        func answer(mayStart execution: Execution, _ granted: Bool)
    }

    /// Times that tests shorten.
    struct Patience: Sendable {
        /// How long a request waits for a first router.
        var withoutRouter: UInt64 = 30_000
        /// How long after a cancel the end is waited for.
        var cancelGrace: UInt64 = 1000
        /// How long after its deadline the router's word on a request is waited for.
        var deadlineGrace: UInt64 = 2000
    }

    private struct Open {
        let session: Identifier
        let composer: EventComposer
        var progress: RequestProgress
        var number: Int64
        var waits: Bool
        let endsOnDisconnect: Bool
        /// When it is over at the latest, in milliseconds of the steady clock.
        var deadline: UInt64
        /// Since when no router has it.
        var unroutedSince: UInt64
        var cancelEnds: UInt64?
        /// The instance of the router that has it.
        var router: Identifier?
        var isDispatching = false
        /// The generation that is on disk; one is only used after that.
        var storedGeneration: UInt32

        var pending: [Occurrence] = []
        var acknowledgements: [Execution] = []
        var isStoring = false
    }

    private struct State {
        var open: [Identifier: Open] = [:]
        /// Of each session, in the order of acceptance.
        var sessions: [Identifier: [Identifier]] = [:]
        var router: Identifier?
        /// An instance that takes nothing new.
        var draining: Identifier?
        /// Requests that were told to end and may run on somewhere.
        var cancelled: Set<Identifier> = []

        /// Notes a request that may run on somewhere, up to a number: forgetting one costs a worker's time only.
        mutating func remember(cancelled request: Identifier) {
            if cancelled.count >= 1024 { cancelled = [] }
            cancelled.insert(request)
        }
    }

    private enum Action {
        case store(EventBatch, acknowledgements: [Execution], generation: UInt32)
        case acknowledge([Execution])
        case cancel(Identifier, UInt32)
        case deny(Execution)
        case dispatch(Identifier)
    }

    private let state = Mutex(State())
    private let store: any SessionStore
    private let followers: Followers
    private let log: Log
    private let patience: Patience
    private let link: Mutex<(router: (any Router)?, dispatch: (@Sendable (Identifier) -> Void)?)> = Mutex((nil, nil))

    init(store: any SessionStore, followers: Followers, log: Log, patience: Patience = Patience()) {
        self.store = store
        self.followers = followers
        self.log = log
        self.patience = patience
    }

    /// Connects the two sides. `dispatch` is called for each request that a router is to get; it must not block.
    func attach(router: any Router, dispatch: @escaping @Sendable (Identifier) -> Void) {
        link.withLock { $0 = (router, dispatch) }
    }

    /// How many there are.
    var count: Int { state.withLock { $0.open.count } }

    /// Whether a router can be given requests.
    var hasRouter: Bool { state.withLock { $0.router != nil } }

    // MARK: Requests come and go

    /// A request has been stored. Called in the order of the commits.
    func accepted(
        _ request: Identifier,
        session: Identifier,
        number: Int64,
        enqueued: Bool,
        interrupts: Bool,
        endsOnDisconnect: Bool,
        plan: Plan?,
        timeout: UInt64,
        now: UInt64
    ) {
        let actions = state.withLock { state in
            var actions: [Action] = []
            let others = state.sessions[session] ?? []
            if interrupts {
                for other in others {
                    actions += apply(to: other, in: &state, now: now) {
                        $0.cancelRequested("a newer request took its place")
                    }
                }
            }
            state.open[request] = Open(
                session: session,
                composer: EventComposer(session: session, request: request),
                progress: RequestProgress(request: request, plan: plan),
                number: number,
                waits: enqueued && !others.isEmpty,
                endsOnDisconnect: endsOnDisconnect,
                deadline: now + timeout,
                unroutedSince: now,
                storedGeneration: 1
            )
            state.sessions[session, default: []].append(request)
            return actions + dispatchable(request, in: &state)
        }
        followers.wake(session)
        perform(actions)
    }

    /// Takes over what was open when the process ended. Called once, in order, before a router is attached.
    func restore(_ record: OpenRequestRecord, progress: RequestProgress, remaining: UInt64, now: UInt64) {
        let actions = state.withLock { state in
            let others = state.sessions[record.session] ?? []
            state.open[record.id] = Open(
                session: record.session,
                composer: EventComposer(session: record.session, request: record.id),
                progress: progress,
                number: record.number,
                waits: record.enqueued && !others.isEmpty,
                endsOnDisconnect: record.endsOnDisconnect,
                deadline: now + remaining,
                unroutedSince: now,
                storedGeneration: record.generation
            )
            state.sessions[record.session, default: []].append(record.id)
            var actions = apply(to: record.id, in: &state, now: now) { $0.resubmitted() }
            actions += apply(to: record.id, in: &state, now: now) { $0.resumed() }
            if record.cancelRequested {
                actions += apply(to: record.id, in: &state, now: now) {
                    $0.cancelRequested("cancelled before a restart")
                }
                state.remember(cancelled: record.id)
            }
            return actions
        }
        perform(actions)
    }

    /// Ends a request. Nothing happens if it is over or not known.
    func cancel(_ request: Identifier, reason: String, now: UInt64) {
        perform(state.withLock { apply(to: request, in: &$0, now: now) { $0.cancelRequested(reason) } })
    }

    /// The session's last follower has left.
    func lastFollowerLeft(_ session: Identifier, now: UInt64) {
        let actions = state.withLock { state in
            let bound = (state.sessions[session] ?? []).filter { state.open[$0]?.endsOnDisconnect ?? false }
            return bound.flatMap { request in
                apply(to: request, in: &state, now: now) { $0.cancelRequested("the session's last follower left") }
            }
        }
        perform(actions)
    }

    /// What time does: deadlines, the grace after a cancel, no router. To be called several times a second while
    /// ``count`` is above zero.
    func tick(now: UInt64) {
        let actions = state.withLock { state in
            var actions: [Action] = []
            for (request, open) in state.open where !open.progress.isOver {
                if let ends = open.cancelEnds, now >= ends {
                    actions += apply(to: request, in: &state, now: now) { $0.cancelDue() }
                    state.remember(cancelled: request)
                } else if now >= open.deadline + (open.router == nil ? 0 : patience.deadlineGrace) {
                    if open.router != nil { actions.append(.cancel(request, open.progress.generation)) }
                    actions += apply(to: request, in: &state, now: now) { $0.failed(.requestTimedOut) }
                    state.remember(cancelled: request)
                } else if open.router == nil, !open.waits, !open.isDispatching, state.router == nil,
                    open.storedGeneration == 1, now >= open.unroutedSince + patience.withoutRouter
                {
                    actions += apply(to: request, in: &state, now: now) { $0.failed(.noRouterCame) }
                } else {
                    // What could not be sent when it was due, because too much was waiting to be sent.
                    actions += dispatchable(request, in: &state)
                }
            }
            return actions
        }
        perform(actions)
    }

    // MARK: The router's side

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
            return apply(to: request, in: &state, now: now) { $0.refused(error, generation: header.generation) }
        }
        perform(actions)
    }

    /// EVENT.
    func reported(
        _ header: Header,
        _ reports: [(report: Occurrence.Report, outcome: RequestProgress.Outcome?)],
        now: UInt64
    ) {
        let request = header.job.request
        let actions = state.withLock { state -> [Action] in
            guard state.open[request] != nil else {
                // Over, and that is on disk: let go of it. What runs on after a cancel is told once more.
                if reports.last?.report.isTerminal ?? false { return [.acknowledge([header.execution])] }
                return state.cancelled.remove(request) == nil ? [] : [.cancel(request, header.generation)]
            }
            return apply(to: request, in: &state, now: now) { progress in
                progress.reported(header.execution, first: header.sequence, reports)
            }
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

    // MARK: Deciding, under the lock

    private func apply(
        to request: Identifier,
        in state: inout State,
        now: UInt64,
        _ change: (inout RequestProgress) -> RequestProgress.Effects
    ) -> [Action] {
        guard var open = state.open[request] else { return [] }
        let wasCancelling = open.progress.isCancelling
        let effects = change(&open.progress)
        for occurrence in effects.occurrences { open.pending.add(occurrence) }
        open.acknowledgements += effects.acknowledgements
        var actions: [Action] = []
        if open.progress.isCancelling, !wasCancelling {
            // One that no router has is over at once.
            if open.router == nil, !open.isDispatching {
                for occurrence in open.progress.cancelDue().occurrences { open.pending.add(occurrence) }
            } else {
                open.cancelEnds = now + patience.cancelGrace
            }
        }
        actions += flush(&open)
        state.open[request] = open
        return actions
    }

    /// What goes to the store now, if nothing is on its way there.
    private func flush(_ open: inout Open) -> [Action] {
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
            items: open.composer.items(open.pending, at: time)
        )
        let action = Action.store(
            batch,
            acknowledgements: open.acknowledgements,
            generation: open.progress.generation
        )
        open.pending = []
        open.acknowledgements = []
        open.isStoring = true
        return [action]
    }

    /// The request, if a router is there that can be given it now.
    private func dispatchable(_ request: Identifier, in state: inout State, again: Bool = false) -> [Action] {
        guard let open = state.open[request], let router = state.router, router != state.draining, !open.waits,
            !open.isDispatching, again || open.router == nil, open.storedGeneration == open.progress.generation,
            !open.progress.isOver, !open.progress.isCancelling
        else { return [] }
        state.open[request]?.isDispatching = true
        return [.dispatch(request)]
    }

    // MARK: Acting, outside the lock

    private func perform(_ actions: [Action]) {
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
            }
        }
    }

    /// A batch is on disk, or never will be. On the store's thread.
    private func stored(
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
        case .failure(let error):
            // Closing is no loss: nothing was acknowledged, and the next start goes on from what is stored.
            if error != .closed { log.error("events are not stored", ["request": "\(request)", "reason": "\(error)"]) }
            return
        }
        let router = link.withLock { $0.router }
        var isEnd = outcome.wasOver
        for item in batch.items {
            switch item {
            case .end: isEnd = true
            case .grant(let execution, _):
                router?.answer(mayStart: execution, !outcome.denied.contains(execution))
            // Stored first, then sent: what was told to end ends even if this process does.
            case .cancelRequested: router?.cancel(request, generation: generation)
            default: break
            }
        }
        if !acknowledgements.isEmpty { router?.acknowledge(acknowledgements) }
        let actions = state.withLock { state -> [Action] in
            guard var open = state.open[request] else { return [] }
            open.isStoring = false
            open.storedGeneration = generation
            if isEnd {
                let left = open.acknowledgements
                return (left.isEmpty ? [] : [.acknowledge(left)]) + remove(request, open.session, in: &state, now: now)
            }
            state.open[request] = open
            var actions: [Action] = []
            for execution in outcome.denied {
                actions += apply(to: request, in: &state, now: now) { $0.startDenied(execution) }
            }
            actions += apply(to: request, in: &state, now: now) { _ in RequestProgress.Effects() }
            return actions + dispatchable(request, in: &state)
        }
        if outcome.stored > 0 { followers.wake(batch.session) }
        perform(actions)
    }

    /// Forgets a request that is over; the next of its session may go.
    private func remove(_ request: Identifier, _ session: Identifier, in state: inout State, now: UInt64) -> [Action] {
        state.open[request] = nil
        state.sessions[session]?.removeAll { $0 == request }
        guard let left = state.sessions[session], let first = left.first else {
            state.sessions[session] = nil
            return []
        }
        guard state.open[first]?.waits ?? false else { return [] }
        state.open[first]?.waits = false
        state.open[first]?.unroutedSince = now
        return dispatchable(first, in: &state)
    }
}

extension JobError {
    fileprivate static let requestTimedOut = JobError(
        code: Code.timeout,
        message: "The request took longer than its time limit.",
        hint: "Give it more time with \"timeout\" (seconds), or ask for less at once.",
        retryable: true
    )
    fileprivate static let noRouterCame = JobError(
        code: Code.noRouter,
        message: "No router was reachable.",
        hint: "Start skillbus-router, or look at SKILLBUS_ROUTERS.",
        retryable: true
    )
}
