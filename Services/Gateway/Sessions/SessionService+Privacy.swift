internal import Bus
internal import SessionStore
internal import Telemetry
internal import Wire

/// What may go to outside parties, what has, and sessions that are to be forgotten.
extension SessionService {
    /// How long running requests of a session that is to be forgotten may take to end.
    private static let forgetTime = Duration.seconds(10)

    func approve(
        _ choice: ApprovalChoice,
        party: String?,
        of request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(GatewayError) {
        try refuseWhileDraining()
        func ask<Value>(_ call: () async throws(StoreError) -> Value) async throws(GatewayError) -> Value {
            do throws(StoreError) {
                return try await call()
            } catch .notFound {
                throw .requestNotFound(request.description)
            } catch {
                throw GatewayError(error, session: session)
            }
        }
        let record = try await ask { () async throws(StoreError) in
            try await store.request(request, in: session, owner: owner)
        }
        guard record.state == .open else { throw .noQuestion }
        let party = if let party { party } else { try onlyQuestion(of: request) }
        let answer = ApprovalRecord(party: party, choice: choice)
        // Stored first, then sent: what is lost on its way is asked for again, and answered from there.
        try await ask { () async throws(StoreError) in
            try await store.approve(answer, of: request, in: session, owner: owner, at: .now)
        }
        let now = Monotonic.milliseconds
        if choice == .always {
            requests.answered(in: session, answer, now: now)
        } else {
            requests.answered(request, [answer], now: now)
        }
    }

    /// The party that a request waits for an answer about, if it is one.
    private func onlyQuestion(of request: Identifier) throws(GatewayError) -> String {
        let open = requests.openQuestions(of: request)
        guard let first = open.first else {
            guard sharedStore != nil, !requests.has(request) else { throw .noQuestion }
            throw .invalid(field: "party", reason: "must say who is meant: another gateway goes on with the request")
        }
        guard open.count == 1 else {
            throw .invalid(field: "party", reason: "must say who is meant: \(open.joined(separator: ", "))")
        }
        return first
    }

    func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) async throws(GatewayError) -> DisclosurePage {
        do throws(StoreError) {
            let limit = min(max(limit, 1), 1000)
            let found = try await store.disclosures(owner: owner, in: session, before: place, limit: limit)
            return DisclosurePage(
                disclosures: found.compactMap(DisclosurePage.Entry.init),
                next: found.count == limit ? found.last.map { "\($0.place.session).\($0.place.seq)" } : nil
            )
        } catch {
            throw GatewayError(error, session: session)
        }
    }

    func forget(_ session: Identifier, owner: String) async throws(GatewayError) {
        try refuseWhileDraining()
        let end = ContinuousClock.now + SessionService.forgetTime
        while true {
            do throws(StoreError) {
                try await store.forget(session, owner: owner)
                break
            } catch .busy where ContinuousClock.now < end {
                try await cancelAll(of: session, owner: owner)
                try? await Task.sleep(for: .milliseconds(50))
            } catch .busy {
                throw .busy(running: requests.count(in: session))
            } catch {
                throw GatewayError(error, session: session)
            }
        }
        memory.forget(session)
        // Whoever follows it sees that it is gone.
        followers.wake(session)
        log.info("session forgotten")
    }

    private func cancelAll(of session: Identifier, owner: String) async throws(GatewayError) {
        let record: SessionRecord
        do throws(StoreError) {
            record = try await store.session(session, owner: owner, messages: 1)
        } catch {
            throw GatewayError(error, session: session)
        }
        for request in record.requests where request.state == .open {
            _ = try await cancel(request.id, in: session, owner: owner)
        }
    }
}

/// A page of what was sent to outside parties. Encode it as it is.
struct DisclosurePage: Codable, Sendable, Equatable {
    /// Something that was sent.
    struct Entry: Codable, Sendable, Equatable {
        /// When: RFC 3339, UTC.
        var time: String
        /// The session.
        var session: String
        /// The request.
        var request: String
        /// The skill that sent it.
        var skill: String
        /// Who got it.
        var party: String
        /// How much, in bytes.
        var bytes: Int64
        /// What for.
        var purpose: String
    }
    /// The latest first.
    var disclosures: [Entry]
    /// To be given as `before` for the next page; nil at the end.
    var next: String?
}

extension DisclosurePage.Entry {
    /// Reads a stored event; nil for one that is none.
    init?(_ record: DisclosureRecord) {
        guard let event = try? JSONBody.decode(SessionEvent.self, from: record.json) else { return nil }
        time = event.time
        session = event.session
        request = event.request ?? ""
        skill = event.skill ?? ""
        party = event.data["party"]?.string ?? ""
        bytes = event.data["bytes"]?.integer ?? 0
        purpose = event.data["purpose"]?.string ?? ""
    }
}

extension DisclosureRecord.Place {
    /// Reads `next` of a page.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let session = Int64(parts[0]), let seq = UInt64(parts[1]) else { return nil }
        self.init(session: session, seq: seq)
    }
}
