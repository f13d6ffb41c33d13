internal import HTTPServer
internal import Lifecycle
internal import Telemetry
internal import Wire

/// The gateway's HTTP interface: which path asks the sessions for what. docs/api.md says what outside
/// programs may rely on.
struct GatewayRoutes: Sendable {
    let sessions: any SessionAPI
    let access: HTTPAccess
    let log: Log
    let streams: StreamLimit
    private(set) var routes = HTTPRoutes()

    /// Makes the routes.
    init(
        sessions: any SessionAPI,
        access: HTTPAccess,
        log: Log,
        streams: StreamLimit = StreamLimit(),
        heartbeat: Duration = .seconds(15)
    ) {
        self.sessions = sessions
        self.access = access
        self.log = log
        self.streams = streams
        addSessions()
        addRequests()
        addQuestions()
        addDeadLetters()
        addPrivacy()
        addProbes()
        let events = EventStreamRoute(
            sessions: sessions,
            access: access,
            streams: streams,
            heartbeat: heartbeat,
            log: log
        )
        add("GET", "/v1/sessions/{id}/events") { request throws(HTTPProblem) in try await events.respond(to: request) }
    }

    /// Limits of the server that these routes are for: some of its connections are left for requests beside the streams.
    static func limits(streams: Int = 500) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.connections = max(limits.connections, streams + 500)
        // 25 MiB of attachments as base64, with the text: never more than what the bus takes once it is decoded.
        limits.body = 36 * 1024 * 1024
        // Beside a body lies what is decoded of it, and what is on its way to the store and to the router: in sum
        // about twice this. Four requests with the largest files do not fit in, by little: three do.
        limits.bodies = 128 * 1024 * 1024
        return limits
    }

    /// Adds a route, also one that is not about sessions.
    mutating func add(_ method: String, _ pattern: String, _ handler: @escaping HTTPRoutes.Handler) {
        routes.add(method, pattern, handler)
    }

    /// Answers a request: the whole handler of the server.
    func respond(to request: HTTPRequest) async -> HTTPResponse {
        var request = request
        var response: HTTPResponse
        do throws(HTTPProblem) {
            if let preflight = access.preflight(request) {
                response = preflight
            } else {
                request.user = try access.check(request)
                response = await routes.respond(to: request)
            }
        } catch {
            // Who tries tokens should be seen; everything else is a client's mistake.
            let level: Log.Level = error.status == 401 ? .warning : .debug
            log.log(
                level,
                "refused",
                ["code": .text(error.code), "status": .number(error.status), "peer": .text(request.peer)]
            )
            response = error.response
        }
        access.share(&response, with: request)
        if response.status >= 500 {
            log.warning("answered", ["status": .number(response.status), "method": .text(request.method)])
        }
        return GatewayRoutes.guarded(response)
    }

    /// What a browser must not do with an answer: guess its type, or keep what belongs to a user.
    private static func guarded(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["X-Content-Type-Options"] = "nosniff"
        if response.headers["Cache-Control"] == nil { response.headers["Cache-Control"] = "no-store" }
        return response
    }

    // MARK: Sessions

    private mutating func addSessions() {
        let sessions = sessions
        add("POST", "/v1/sessions") { request throws(HTTPProblem) in
            var body = SessionBody()
            if request.body.count > 0 { body = try await JSONRequest.decode(SessionBody.self, from: request) }
            let id = try await HTTPProblem.of { [body] () throws(GatewayError) in
                try await sessions.createSession(owner: request.user, privacy: try body.policy)
            }
            return .json(
                Array("{\"id\":\"\(id)\"}".utf8),
                status: 201,
                headers: ["Location": "/v1/sessions/\(id)"]
            )
        }
        add("GET", "/v1/sessions") { request throws(HTTPProblem) in
            let before = try request.number("before", in: 0...Int64.max)
            let limit = try request.number("limit", in: 1...1000) ?? 50
            return try await .encoding { () throws(GatewayError) in
                try await sessions.sessions(owner: request.user, before: before, limit: Int(limit))
            }
        }
        add("GET", "/v1/sessions/{id}") { request throws(HTTPProblem) in
            let session = try request.session
            return try await .encoding { () throws(GatewayError) in
                try await sessions.snapshot(of: session, owner: request.user)
            }
        }
    }

    private mutating func addRequests() {
        let sessions = sessions
        add("POST", "/v1/sessions/{id}/requests") { request throws(HTTPProblem) in
            let session = try request.session
            let wanted = try await RequestBody.read(request)
            let taken = try await HTTPProblem.of { () throws(GatewayError) in
                try await sessions.submit(wanted, in: session, owner: request.user)
            }
            return .json(
                Array("{\"id\":\"\(taken.id)\",\"session\":\"\(taken.session)\"}".utf8),
                status: 202,
                headers: ["Location": "/v1/sessions/\(taken.session)/events"]
            )
        }
        add("DELETE", "/v1/sessions/{id}/requests/{request}") { request throws(HTTPProblem) in
            let session = try request.session
            let id = try request.sessionRequest
            let outcome = try await HTTPProblem.of { () throws(GatewayError) in
                try await sessions.cancel(id, in: session, owner: request.user)
            }
            guard outcome == .cancelling else { return HTTPResponse(status: 204) }
            return .json(Array("{\"id\":\"\(id)\",\"state\":\"cancelling\"}".utf8), status: 202)
        }
    }

    // MARK: Questions

    private mutating func addQuestions() {
        let sessions = sessions
        add("GET", "/v1/skills") { _ throws(HTTPProblem) in
            .json(try await HTTPProblem.of { () throws(GatewayError) in try await sessions.skills() })
        }
        add("POST", "/v1/route") { request throws(HTTPProblem) in
            let question = try await JSONRequest.decode(RouteBody.self, from: request)
            return try await .encoding { () throws(GatewayError) in
                try await sessions.route(question.text, attachments: question.attachments ?? [])
            }
        }
        add("GET", "/v1/jobs") { request throws(HTTPProblem) in
            let after = try request.number("after", in: 0...Int64.max)
            let limit = try request.number("limit", in: 1...1000) ?? 50
            return try await .encoding { () throws(GatewayError) in
                try await sessions.jobLog(owner: request.user, after: after, limit: Int(limit))
            }
        }
    }

    private struct SessionBody: Decodable, Sendable {
        var privacy: String?

        var policy: PrivacyPolicy? {
            get throws(GatewayError) {
                guard let privacy else { return nil }
                return try RequestBody.choice(privacy, field: "privacy")
            }
        }
    }

    private struct RouteBody: Decodable, Sendable {
        var text: String
        var attachments: [JobInput.Attachment]?
    }

    // MARK: Probes

    private mutating func addProbes() {
        let sessions = sessions
        add("GET", "/healthz") { _ throws(HTTPProblem) in
            .json(Array("{\"status\":\"ok\",\"product\":\"skillbus\",\"version\":\"\(Product.version)\"}".utf8))
        }
        add("GET", "/readyz") { _ throws(HTTPProblem) in
            let readiness = sessions.readiness
            guard !readiness.isReady else { return .json(Array("{\"ready\":true,\"reasons\":[]}".utf8)) }
            var reasons: [String] = []
            if !readiness.router { reasons.append("no_router") }
            if !readiness.store { reasons.append("store_unavailable") }
            if readiness.draining { reasons.append("draining") }
            var problem = HTTPProblem(
                503,
                reasons.first ?? "not_ready",
                "Not ready: \(reasons.joined(separator: ", ")).",
                headers: ["Retry-After": "2"]
            )
            problem.hint = GatewayError.hint(ofReadiness: readiness)
            return problem.response
        }
    }
}

extension GatewayError {
    fileprivate static func hint(ofReadiness readiness: Readiness) -> String? {
        if readiness.draining { return GatewayError.draining.hint }
        return readiness.router ? GatewayError.storeUnavailable(reason: "").hint : GatewayError.noRouter.hint
    }
}

extension HTTPResponse {
    /// What a call returns, as JSON.
    static func encoding(
        _ call: () async throws(GatewayError) -> some Encodable & Sendable
    ) async throws(HTTPProblem) -> HTTPResponse {
        let value = try await HTTPProblem.of(call)
        do throws(WireError) {
            return .json(try JSONBody.encode(value))
        } catch {
            throw HTTPProblem(500, "internal", "The answer cannot be written as JSON.")
        }
    }
}

extension HTTPRequest {
    /// The session that the path names. What is no identifier is nobody's session.
    var session: Identifier {
        get throws(HTTPProblem) {
            let text = parameters["id"] ?? ""
            guard let id = Identifier(text) else { throw HTTPProblem(GatewayError.sessionNotFound(text)) }
            return id
        }
    }

    /// The request that the path names.
    var sessionRequest: Identifier {
        get throws(HTTPProblem) {
            let text = parameters["request"] ?? ""
            guard let id = Identifier(text) else { throw HTTPProblem(GatewayError.requestNotFound(text)) }
            return id
        }
    }

    /// A whole number of the query; nil when it is not there.
    func number(_ name: String, in bounds: ClosedRange<Int64>) throws(HTTPProblem) -> Int64? {
        guard let text = query(name) else { return nil }
        guard let number = Int64(text), bounds.contains(number) else {
            let upper = bounds.upperBound == .max ? "or more" : "to \(bounds.upperBound)"
            throw HTTPProblem(
                400,
                "invalid",
                "\"\(name)\" must be a whole number of \(bounds.lowerBound) \(upper), not \"\(text.prefix(40))\"."
            )
        }
        return number
    }
}
