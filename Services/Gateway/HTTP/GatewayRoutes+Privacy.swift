internal import HTTPServer
internal import SessionStore
internal import Wire

/// What may go to outside parties, what has, and sessions that are to be forgotten.
extension GatewayRoutes {
    private struct ApprovalBody: Decodable, Sendable {
        var choice: String
        var party: String?
    }

    mutating func addPrivacy() {
        let sessions = sessions
        add("POST", "/v1/sessions/{id}/requests/{request}/approval") { request throws(HTTPProblem) in
            let session = try request.session
            let id = try request.sessionRequest
            let body = try await JSONRequest.decode(ApprovalBody.self, from: request)
            try await HTTPProblem.of { () throws(GatewayError) in
                let choice: ApprovalChoice = try RequestBody.choice(body.choice, field: "choice")
                if let party = body.party, !Disclosure.isParty(party) {
                    let reason = "must have 1 to \(Limits.shortString) bytes and no control characters"
                    throw .invalid(field: "party", reason: reason)
                }
                try await sessions.approve(choice, party: body.party, of: id, in: session, owner: request.user)
            }
            return HTTPResponse(status: 204)
        }
        add("GET", "/v1/sessions/{id}/disclosures") { request throws(HTTPProblem) in
            try await GatewayRoutes.disclosures(request, in: request.session, sessions)
        }
        add("GET", "/v1/disclosures") { request throws(HTTPProblem) in
            try await GatewayRoutes.disclosures(request, in: nil, sessions)
        }
        add("DELETE", "/v1/sessions/{id}") { request throws(HTTPProblem) in
            let session = try request.session
            try await HTTPProblem.of { () throws(GatewayError) in
                try await sessions.forget(session, owner: request.user)
            }
            return HTTPResponse(status: 204)
        }
    }

    private static func disclosures(
        _ request: HTTPRequest,
        in session: Identifier?,
        _ sessions: any SessionAPI
    ) async throws(HTTPProblem) -> HTTPResponse {
        let limit = try request.number("limit", in: 1...1000) ?? 50
        var place: DisclosureRecord.Place?
        if let text = request.query("before") {
            place = DisclosureRecord.Place(text)
            guard place != nil else {
                let wrong = GatewayError.invalid(field: "before", reason: "must be \"next\" of the page before")
                throw HTTPProblem(wrong)
            }
        }
        return try await .encoding { [place] () throws(GatewayError) in
            try await sessions.disclosures(owner: request.user, in: session, before: place, limit: Int(limit))
        }
    }
}
