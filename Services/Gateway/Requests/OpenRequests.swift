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
        /// Whether a job may send data to an outside party.
        func approve(_ execution: Execution, _ party: String, _ isAllowed: Bool)
    }

    /// Times that tests shorten.
    struct Patience: Sendable {
        /// How long a request waits for a first router.
        var withoutRouter: UInt64 = 30_000
        /// How long after a cancel the end is waited for.
        var cancelGrace: UInt64 = 1000
        /// How long whoever cancels waits for that to be on disk.
        var cancelStored: UInt64 = 2000
        /// Bytes of one request, and of all, that may wait for the store.
        var requestBytes = 8 * 1024 * 1024
        var bytes = 64 * 1024 * 1024
        /// How long a router is waited for that may only have lost its connection, while another is there.
        var routerReturns: UInt64 = 1000
        /// How long after its deadline the router's word on a request is waited for.
        var deadlineGrace: UInt64 = 2000
    }

    let state = Mutex(State())
    /// Skills that have too much to do.
    let loads = SkillLoads()
    /// What the gateway has done for itself.
    let background = BackgroundJobs()
    let store: any SessionStore
    let followers: Followers
    let log: Log
    let patience: Patience
    /// Whether other gateways have requests of the same sessions.
    let isShared: Bool
    let link: Mutex<(router: (any Router)?, dispatch: (@Sendable (Identifier) -> Void)?)> = Mutex((nil, nil))

    init(store: any SessionStore, followers: Followers, log: Log, patience: Patience = Patience()) {
        self.store = store
        self.followers = followers
        self.log = log
        self.patience = patience
        isShared = store is any SharedSessionStore
    }

    /// Connects the two sides. `dispatch` is called for each request that a router is to get; it must not block.
    func attach(router: any Router, dispatch: @escaping @Sendable (Identifier) -> Void) {
        link.withLock { $0 = (router, dispatch) }
    }

    /// Bytes that wait for the store, and messages that were not taken because there were too many.
    var waiting: (bytes: Int, refused: Int) { state.withLock { ($0.bytes, $0.refusedReports) } }

    /// How many there are.
    var count: Int { state.withLock { $0.open.count } }

    /// How many there are of a session.
    func count(in session: Identifier) -> Int { state.withLock { $0.sessions[session]?.count ?? 0 } }

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
        router: Identifier? = nil,
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
                waits: enqueued && (isShared || !others.isEmpty),
                waitsForOthers: enqueued && isShared,
                endsOnDisconnect: endsOnDisconnect,
                deadline: now + timeout,
                unroutedSince: now,
                storedRouter: router,
                notedRouter: router,
                storedGeneration: 1
            )
            state.sessions[session, default: []].append(request)
            return actions + dispatchable(request, in: &state)
        }
        followers.wake(session)
        perform(actions)
    }

    /// Takes over what was open when the process ended, before a router is there, or what another gateway goes on with no
    /// more.
    func restore(_ record: OpenRequestRecord, progress: RequestProgress, remaining: UInt64, now: UInt64) {
        let actions = state.withLock { state in
            let others = state.sessions[record.session] ?? []
            state.superseded.remove(record.id)
            // What a router has that is not here goes to one that is, under a new generation.
            let router = record.router.flatMap { state.routers.isEmpty || state.routers.has($0) ? $0 : nil }
            state.open[record.id] = Open(
                session: record.session,
                composer: EventComposer(session: record.session, request: record.id),
                progress: progress,
                number: record.number,
                epoch: record.epoch,
                waits: record.enqueued && (isShared || !others.isEmpty),
                waitsForOthers: record.enqueued && isShared,
                endsOnDisconnect: record.endsOnDisconnect,
                deadline: now + remaining,
                unroutedSince: now,
                router: router,
                storedRouter: record.router,
                notedRouter: record.router,
                storedGeneration: record.generation,
                isCancelStored: record.cancelRequested
            )
            let place = others.firstIndex { state.open[$0]?.number ?? 0 > record.number } ?? others.count
            state.sessions[record.session, default: []].insert(record.id, at: place)
            // One that some router may have is asked for there first, under the same generation. Where none is on disk, the
            // store is of a version that did not note it, or the request was never sent.
            var actions: [Action] = []
            if router == nil { actions += apply(to: record.id, in: &state, now: now) { $0.resubmitted() } }
            actions += apply(to: record.id, in: &state, now: now) { $0.resumed() }
            if record.cancelRequested {
                actions += apply(to: record.id, in: &state, now: now) {
                    $0.cancelRequested("cancelled before a restart")
                }
                state.remember(cancelled: record.id)
            }
            return actions + dispatchable(record.id, in: &state, again: true)
        }
        perform(actions)
    }

    /// Ends a request and tells when that is on disk, or that it could not be stored in time: then it is tried on, and
    /// the request ends in this process's memory all the same.
    func cancel(_ request: Identifier, reason: String, now: UInt64, then done: @escaping @Sendable (Bool) -> Void) {
        let actions = state.withLock { state -> [Action] in
            let waiter = CancelWaiter(until: now + patience.cancelStored, done: done)
            // One that is not here has ended, and that is on disk.
            guard let open = state.open[request], !open.isCancelStored else { return [.tell([waiter], true)] }
            state.open[request]?.cancelWaiters.append(waiter)
            return apply(to: request, in: &state, now: now) { $0.cancelRequested(reason) }
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
            for (request, open) in state.open where open.cancelWaiters.contains(where: { now >= $0.until }) {
                actions.append(.tell(takeCancelWaiters(of: request, in: &state), false))
            }
            for (request, open) in state.open where !open.progress.isOver {
                if let ends = open.cancelEnds, now >= ends {
                    actions += apply(to: request, in: &state, now: now) { $0.cancelDue() }
                    state.remember(cancelled: request)
                } else if now >= open.deadline + (open.router == nil ? 0 : patience.deadlineGrace) {
                    if open.router != nil { actions.append(.cancel(request, open.progress.generation)) }
                    actions += apply(to: request, in: &state, now: now) { $0.failed(.requestTimedOut) }
                    state.remember(cancelled: request)
                } else if open.router == nil, !open.waits, !open.isDispatching, state.routers.isEmpty,
                    open.storedGeneration == 1, now >= open.unroutedSince + patience.withoutRouter
                {
                    actions += apply(to: request, in: &state, now: now) { $0.failed(.noRouterCame) }
                } else {
                    actions += failOver(request, in: &state, now: now)
                    // What could not be sent when it was due, because too much was waiting to be sent.
                    actions += dispatchable(request, in: &state)
                }
            }
            return actions
        }
        perform(actions)
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
