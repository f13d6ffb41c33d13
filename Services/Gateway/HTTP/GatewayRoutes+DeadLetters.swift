internal import HTTPServer
internal import Wire

/// Jobs that were given up.
extension GatewayRoutes {
    mutating func addDeadLetters() {
        let sessions = sessions
        add("GET", "/v1/dead-letters") { request throws(HTTPProblem) in
            let before = try request.number("before", in: 0...Int64.max)
            let limit = try request.number("limit", in: 1...1000) ?? 50
            return try await .encoding { () throws(GatewayError) in
                try await sessions.deadLetters(owner: request.user, before: before, limit: Int(limit))
            }
        }
        add("GET", "/v1/dead-letters/{id}") { request throws(HTTPProblem) in
            let id = try request.deadLetter
            return try await .encoding { () throws(GatewayError) in
                try await sessions.deadLetter(id, owner: request.user)
            }
        }
        add("POST", "/v1/dead-letters/{id}/retry") { request throws(HTTPProblem) in
            let id = try request.deadLetter
            if request.body.count > 0 { _ = try await JSONRequest.decode(JSONValue.self, from: request) }
            let taken = try await HTTPProblem.of { () throws(GatewayError) in
                try await sessions.retryDeadLetter(id, owner: request.user)
            }
            return .json(
                Array("{\"id\":\"\(taken.id)\",\"session\":\"\(taken.session)\"}".utf8),
                status: 202,
                headers: ["Location": "/v1/sessions/\(taken.session)/events"]
            )
        }
        add("DELETE", "/v1/dead-letters/{id}") { request throws(HTTPProblem) in
            let id = try request.deadLetter
            try await HTTPProblem.of { () throws(GatewayError) in
                try await sessions.discardDeadLetter(id, owner: request.user)
            }
            return HTTPResponse(status: 204)
        }
    }
}

extension HTTPRequest {
    /// The dead letter that the path names.
    fileprivate var deadLetter: Identifier {
        get throws(HTTPProblem) {
            let text = parameters["id"] ?? ""
            guard let id = Identifier(text) else { throw HTTPProblem(GatewayError.deadLetterNotFound(text)) }
            return id
        }
    }
}
