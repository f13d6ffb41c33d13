internal import SessionStore
internal import Wire

/// The job and the request that another one is a retry of.
struct DeadLetterLink: Sendable {
    let job: Identifier
    let request: Identifier
}

/// Jobs that were given up: shown, sent again, thrown away.
extension SessionService {
    func deadLetters(owner: String, before cursor: Int64?, limit: Int) async throws(GatewayError) -> DeadLetterPage {
        let limit = min(max(limit, 1), 1000)
        do throws(StoreError) {
            let list = try await store.deadLetters(owner: owner, before: cursor, limit: limit)
            return DeadLetterPage(
                deadLetters: list.map { DeadLetterPage.Entry($0, text: String($0.text.prefix(200))) },
                next: list.count == limit ? list.last?.number : nil
            )
        } catch {
            throw GatewayError(error)
        }
    }

    func deadLetter(_ id: Identifier, owner: String) async throws(GatewayError) -> DeadLetterDetail {
        do throws(StoreError) {
            return DeadLetterDetail(try await store.deadLetter(id, owner: owner))
        } catch {
            throw SessionService.problem(error, id)
        }
    }

    func retryDeadLetter(_ id: Identifier, owner: String) async throws(GatewayError) -> SubmittedRequest {
        try refuseWhileDraining()
        try refuseWhileStoreIsAway()
        let input: DeadLetterInput
        var request: NewRequest
        do throws(StoreError) {
            input = try await store.deadLetterInput(id, owner: owner)
            request = NewRequest(text: input.text)
            for (position, file) in input.attachments.enumerated() {
                let data = try await store.attachment(position, of: input.request)
                request.attachments.append(.init(name: file.name, mediaType: file.mediaType, data: data))
            }
        } catch {
            throw SessionService.problem(error, id)
        }
        guard let stored = try? JSONBody.decode(RequestInput.self, from: input.input) else {
            throw .invalid(field: "id", reason: "names a request that cannot be read any more")
        }
        request.skill = stored.skill
        request.arguments = stored.arguments
        request.explain = stored.explain ?? false
        request.priority = stored.priority ?? .normal
        request.privacy = stored.privacy
        request.cache = stored.cache ?? true
        request.timeout = Double(input.timeout) / 1000
        return try await take(
            request,
            in: input.session,
            owner: owner,
            retryOf: DeadLetterLink(job: id, request: input.request)
        )
    }

    func discardDeadLetter(_ id: Identifier, owner: String) async throws(GatewayError) {
        try refuseWhileDraining()
        do throws(StoreError) {
            try await store.discardDeadLetter(id, owner: owner)
        } catch {
            throw SessionService.problem(error, id)
        }
    }

    private static func problem(_ error: StoreError, _ id: Identifier) -> GatewayError {
        error == .notFound ? .deadLetterNotFound(id.description) : GatewayError(error)
    }
}
