import Wire

@testable import Gateway

/// The sessions of the one owner that there is without tokens.
extension SessionAPI {
    func createSession() async throws(GatewayError) -> Identifier { try await createSession(owner: "local") }

    func submit(_ request: NewRequest, in session: Identifier) async throws(GatewayError) -> SubmittedRequest {
        try await submit(request, in: session, owner: "local")
    }

    func cancel(_ request: Identifier, in session: Identifier) async throws(GatewayError) -> CancelOutcome {
        try await cancel(request, in: session, owner: "local")
    }

    func snapshot(of session: Identifier) async throws(GatewayError) -> SessionSnapshot {
        try await snapshot(of: session, owner: "local")
    }

    func events(
        of session: Identifier,
        after number: UInt64,
        maxBytes: Int
    ) async throws(GatewayError) -> EventPage {
        try await events(of: session, owner: "local", after: number, maxBytes: maxBytes)
    }

    func follow(_ session: Identifier) async throws(GatewayError) -> Follower {
        try await follow(session, owner: "local")
    }

    func sessions(before cursor: Int64?, limit: Int) async throws(GatewayError) -> SessionPage {
        try await sessions(owner: "local", before: cursor, limit: limit)
    }

    func jobLog(after cursor: Int64?, limit: Int) async throws(GatewayError) -> JobLogPage {
        try await jobLog(owner: "local", after: cursor, limit: limit)
    }
}
