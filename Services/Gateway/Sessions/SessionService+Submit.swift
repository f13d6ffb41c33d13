internal import Bus
internal import SessionStore
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
        let acceptance = try acceptance(of: request, in: session, owner: owner)
        let id = acceptance.request
        let plan = request.skill.map { Plan.single($0, arguments: request.arguments ?? [:]) }
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<AcceptanceOutcome, StoreError>, Never>) in
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
                continuation.resume(returning: result)
            }
        }
        ticks.continuation.yield()
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

    private func acceptance(
        of request: NewRequest,
        in session: Identifier,
        owner: String
    ) throws(GatewayError) -> Acceptance {
        let now = Timestamp.now
        let id = Identifier.timeOrdered(milliseconds: UInt64(max(0, now.milliseconds)))
        let composer = EventComposer(session: session, request: id)
        let described = request.attachments.map { (name: $0.name, mediaType: $0.mediaType, bytes: $0.data.count) }
        var events = [composer.accepted(text: request.text, attachments: described, at: now)]
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
                    explain: request.explain ? true : nil
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
            openPerSession: SessionService.openPerSession,
            openPerOwner: SessionService.openPerOwner
        )
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
