internal import Bus
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

extension SessionService {
    func submit(
        _ request: NewRequest,
        in session: Identifier,
        owner: String
    ) async throws(GatewayError) -> SubmittedRequest {
        try refuseWhileDraining()
        try request.validate()
        try refuseWhileStoreIsAway()
        try refuseWhileOverloaded(request, in: session, owner: owner)
        return try await take(request, in: session, owner: owner)
    }

    /// Stores a request that may be taken, and begins with it.
    func take(
        _ request: NewRequest,
        in session: Identifier,
        owner: String,
        retryOf: DeadLetterLink? = nil
    ) async throws(GatewayError) -> SubmittedRequest {
        let acceptance = try acceptance(of: request, in: session, owner: owner, retryOf: retryOf)
        let id = acceptance.request
        let plan = request.skill.map { Plan.single($0, arguments: request.arguments ?? [:]) }
        let result = await SessionService.answer(within: sharedStore == nil ? nil : SessionService.acceptTime) {
            (done: @escaping @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void) in
            store.accept(acceptance) { [requests] result in
                // On the store's thread, so that requests become known in the order in which they were stored.
                if case .success(.accepted(let number)) = result {
                    requests.accepted(
                        id,
                        session: session,
                        number: number,
                        enqueued: request.whenBusy == .enqueue,
                        interrupts: request.whenBusy == .interrupt,
                        endsOnDisconnect: request.onDisconnect == .cancel,
                        plan: plan,
                        router: acceptance.router,
                        timeout: UInt64(acceptance.timeout),
                        now: Monotonic.milliseconds
                    )
                }
                done(result)
            }
        }
        ticks.continuation.yield()
        if request.whenBusy == .enqueue { sharedStore?.lookAgain() }
        switch result {
        case .failure(let error): throw GatewayError(error, session: session)
        case .success(.accepted): return SubmittedRequest(id: id, session: session, replayed: false)
        case .success(.replayed(let first)): return SubmittedRequest(id: first, session: session, replayed: true)
        case .success(.mismatch): throw .idempotencyMismatch(key: request.idempotencyKey ?? "")
        case .success(.busy(let running)): throw .busy(running: running)
        case .success(.tooManyInSession(let limit)): throw .tooManyRequests(limit: limit, of: "session")
        case .success(.tooManyOfOwner(let limit)): throw .tooManyRequests(limit: limit, of: "user")
        }
    }

    /// Refuses what the router would, and costs nothing.
    private func refuseWhileOverloaded(
        _ request: NewRequest,
        in session: Identifier,
        owner: String
    ) throws(GatewayError) {
        guard let skill = request.skill else { return }
        let refusal = requests.loads.refusal(
            skill,
            at: requests.router(for: [skill]),
            tenant: TenantNumber.of(owner),
            open: requests.count(in: session),
            now: Monotonic.milliseconds
        )
        if let refusal { throw .refused(refusal) }
    }

    func cancel(
        _ request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(GatewayError) -> CancelOutcome {
        let record: RequestRecord
        do throws(StoreError) {
            record = try await store.request(request, in: session, owner: owner)
        } catch .notFound {
            throw .requestNotFound(request.description)
        } catch {
            throw GatewayError(error)
        }
        switch record.state {
        case .finished: return .finished
        case .failed: return .failed
        case .cancelled: return .cancelled
        case .open:
            if let sharedStore, !requests.has(request) {
                return try await cancelElsewhere(request, in: session, owner: owner, sharedStore)
            }
            let isStored = await withCheckedContinuation { continuation in
                requests.cancel(request, reason: "the user cancelled it", now: Monotonic.milliseconds) {
                    continuation.resume(returning: $0)
                }
            }
            guard isStored else {
                if isDraining { throw .draining }
                throw .storeUnavailable(reason: "\(store.writeFailure ?? .busy)")
            }
            return .cancelling
        }
    }

    /// Asks the gateway that has a request to end it.
    private func cancelElsewhere(
        _ request: Identifier,
        in session: Identifier,
        owner: String,
        _ store: any SharedSessionStore
    ) async throws(GatewayError) -> CancelOutcome {
        do throws(StoreError) {
            if try await store.requestCancel(request, reason: "the user cancelled it") { return .cancelling }
            switch try await store.request(request, in: session, owner: owner).state {
            case .finished: return .finished
            case .failed: return .failed
            case .cancelled, .open: return .cancelled
            }
        } catch {
            throw GatewayError(error, session: session)
        }
    }

    /// How long a store on another host may take to say that a request is stored. One that is stored later goes on all
    /// the same, and whoever asks again under its key gets it.
    private static let acceptTime = Duration.seconds(10)

    /// The answer that the closure is given to call, or a failure when it does not in time.
    private static func answer<Value: Sendable>(
        within limit: Duration?,
        _ ask: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> Void
    ) async -> Result<Value, StoreError> {
        await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            guard let limit else { return ask { continuation.resume(returning: $0) } }
            let first = FirstAnswer(continuation)
            let timer = Task {
                try await Task.sleep(for: limit)
                first.give(.failure(.failed(code: 0, reason: "the store does not answer")))
            }
            ask { result in
                timer.cancel()
                first.give(result)
            }
        }
    }

    private func acceptance(
        of request: NewRequest,
        in session: Identifier,
        owner: String,
        retryOf: DeadLetterLink?
    ) throws(GatewayError) -> Acceptance {
        let now = Timestamp.now
        let id = Identifier.timeOrdered(milliseconds: UInt64(max(0, now.milliseconds)))
        let composer = EventComposer(session: session, request: id)
        let described = request.attachments.map { (name: $0.name, mediaType: $0.mediaType, bytes: $0.data.count) }
        var events = [
            composer.accepted(
                text: request.text,
                attachments: described,
                retryOf: retryOf?.request,
                at: now
            )
        ]
        var planBytes: [UInt8]?
        let input: [UInt8]
        do throws(WireError) {
            if let skill = request.skill {
                let plan = Plan.single(skill, arguments: request.arguments ?? [:])
                planBytes = try JSONBody.encode(plan)
                events.append(composer.plan(plan, at: now))
            }
            input = try JSONBody.encode(
                RequestInput(
                    skill: request.skill,
                    arguments: request.arguments,
                    explain: request.explain ? true : nil,
                    canClarify: request.canClarify ? true : nil,
                    priority: request.priority == .normal ? nil : request.priority,
                    privacy: request.privacy,
                    cache: request.cache ? nil : false,
                    routing: request.routing == .local ? nil : request.routing
                )
            )
        } catch {
            throw .invalid(field: "arguments", reason: "cannot be written as JSON (\(error))")
        }
        return Acceptance(
            request: id,
            session: session,
            owner: owner,
            time: now,
            text: request.text,
            input: input,
            plan: planBytes,
            attachments: request.attachments.map {
                StoredAttachment(name: $0.name, mediaType: $0.mediaType, data: $0.data)
            },
            timeout: Int64((request.timeout ?? NewRequest.usualTimeout) * 1000),
            whenBusy: request.whenBusy.stored,
            endsOnDisconnect: request.onDisconnect == .cancel,
            idempotency: request.idempotencyKey.map { ($0, request.hash(in: session)) },
            events: events,
            router: requests.router(for: request.skill.map { [$0] } ?? []),
            retryOf: retryOf?.job,
            openPerSession: quota.perSession,
            openPerOwner: quota.perOwner
        )
    }
}

/// Resumes a continuation with the first of several answers.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    func give(_ value: Value) {
        let waiting = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(returning: value)
    }
}

extension NewRequest.WhenBusy {
    fileprivate var stored: Acceptance.WhenBusy {
        switch self {
        case .parallel: .parallel
        case .enqueue: .enqueue
        case .reject: .reject
        case .interrupt: .interrupt
        }
    }
}
