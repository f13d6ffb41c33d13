public import Wire

/// A request to be made.
public struct NewRequest: Sendable {
    /// A file that comes with it.
    public struct Attachment: Sendable, Equatable {
        /// File name, without folders.
        public var name: String
        /// Media type.
        public var mediaType: String
        /// Content.
        public var data: [UInt8]

        /// Makes an attachment.
        public init(name: String, mediaType: String, data: [UInt8]) {
            self.name = name
            self.mediaType = mediaType
            self.data = data
        }
    }

    /// What happens when the session is already busy.
    public enum WhenBusy: String, Sendable, CaseIterable {
        /// Both run.
        case parallel
        /// This one waits.
        case enqueue
        /// This one is refused.
        case reject
        /// The running one is cancelled.
        case interrupt
    }

    /// What goes first among the requests of one user that wait for a skill.
    public enum Priority: String, Sendable, CaseIterable {
        /// Before the others.
        case high
        /// As usual.
        case normal
        /// After the others.
        case low
    }

    /// What the user wants.
    public var text: String
    /// The skill that is to serve it; nil lets the router choose.
    public var skill: String?
    /// Arguments for that skill.
    public var arguments: JSONValue?
    /// Files.
    public var attachments: [Attachment] = []
    /// What happens when the session is busy; nil for the gateway's default.
    public var whenBusy: WhenBusy?
    /// What goes first; nil for the gateway's default.
    public var priority: Priority?
    /// Whether the request ends when the session's last follower leaves.
    public var cancelsOnDisconnect = false
    /// Whether the plan is to carry scores.
    public var explain = false
    /// What may go to outside parties, where that is less than the session allows.
    public var privacy: PrivacyPolicy?
    /// Whether an output that was made before for the same input may be the answer.
    public var cache = true
    /// Whether the user can be asked where two skills fit: the request then ends with the event `clarify` and the code
    /// `ambiguous`, and is made again with the skill that was chosen.
    public var canClarify = false
    /// Who chooses the skill, where none is named; nil for the gateway's default, which is the router.
    public var routing: Routing?
    /// Seconds after which the gateway gives it up; nil for no limit.
    public var timeout: Double?
    /// Sent as `Idempotency-Key`: the same request sent twice is made once.
    public var idempotencyKey = NewRequest.freshKey()

    /// Makes a request.
    public init(_ text: String, skill: String? = nil, arguments: JSONValue? = nil) {
        self.text = text
        self.skill = skill
        self.arguments = arguments
    }

    /// The same request for a skill that the user has chosen: a new one.
    public func again(with skill: String) -> NewRequest {
        var request = self
        request.skill = skill
        request.canClarify = false
        request.idempotencyKey = NewRequest.freshKey()
        return request
    }

    private static func freshKey() -> String {
        "\(Identifier(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)))"
    }

    var json: JSONValue {
        var members: [String: JSONValue] = ["text": .string(text)]
        members["skill"] = skill.map { .string($0) }
        members["arguments"] = arguments
        if !attachments.isEmpty {
            members["attachments"] = .array(
                attachments.map { file in
                    [
                        "name": .string(file.name), "mediaType": .string(file.mediaType),
                        "data": .string(Base64.encode(file.data)),
                    ]
                }
            )
        }
        members["when_busy"] = whenBusy.map { .string($0.rawValue) }
        members["priority"] = priority.map { .string($0.rawValue) }
        if cancelsOnDisconnect { members["on_disconnect"] = "cancel" }
        if explain { members["explain"] = true }
        members["privacy"] = privacy.map { .string($0.rawValue) }
        if !cache { members["cache"] = false }
        if canClarify { members["can_clarify"] = true }
        members["routing"] = routing.map { .string($0.rawValue) }
        members["timeout"] = timeout.map { .number($0) }
        return .object(members)
    }
}

extension GatewayClient {
    /// How often a request is sent again when its connection breaks: the key makes that safe.
    private static let submissions = 3

    /// Makes a session and returns its id. Without a policy it gets the gateway's.
    public func createSession(privacy: PrivacyPolicy? = nil) async throws(ClientError) -> String {
        let body: JSONValue = privacy.map { ["privacy": .string($0.rawValue)] } ?? [:]
        let answer = try await call("POST", "/v1/sessions", body: body)
        guard let id = answer["id"]?.string else { throw missing("id") }
        return id
    }

    /// Makes a request in a session and returns its id.
    public func submit(_ request: NewRequest, in session: String) async throws(ClientError) -> String {
        let path = "/v1/sessions/\(Address.escaped(session))/requests"
        let body = request.json
        var remaining = GatewayClient.submissions
        while true {
            do throws(ClientError) {
                let answer = try await call(
                    "POST",
                    path,
                    body: body,
                    headers: [("Idempotency-Key", request.idempotencyKey)]
                )
                guard let id = answer["id"]?.string else { throw missing("id") }
                return id
            } catch .interrupted(let url, let reason) {
                remaining -= 1
                if remaining == 0 { throw .interrupted(url: url, reason: reason) }
            }
        }
    }

    /// Cancels a request. To cancel one that has ended is no error.
    public func cancel(_ request: String, in session: String) async throws(ClientError) {
        _ = try await call(
            "DELETE",
            "/v1/sessions/\(Address.escaped(session))/requests/\(Address.escaped(request))"
        )
    }

    /// Answers the question whether data may go to an outside party.
    /// - Parameters:
    ///   - choice: `allow`, `always` or `deny`.
    ///   - party: who is meant.
    ///   - request: the request that asks.
    ///   - session: its session.
    /// - Throws: `ClientError`.
    public func approve(
        _ choice: String,
        party: String,
        request: String,
        in session: String
    ) async throws(ClientError) {
        let path = "/v1/sessions/\(Address.escaped(session))/requests/\(Address.escaped(request))/approval"
        _ = try await call("POST", path, body: ["choice": .string(choice), "party": .string(party)])
    }

    /// What was sent to outside parties, the latest first, as the gateway lists it: of one session, or of all.
    public func disclosures(in session: String?, limit: Int) async throws(ClientError) -> JSONValue {
        let path = session.map { "/v1/sessions/\(Address.escaped($0))/disclosures" } ?? "/v1/disclosures"
        return try await call("GET", "\(path)?limit=\(limit)")
    }

    /// Deletes a session and everything of it.
    public func forget(_ session: String) async throws(ClientError) {
        _ = try await call("DELETE", "/v1/sessions/\(Address.escaped(session))")
    }

    /// Where a session stands: messages and running requests.
    public func snapshot(of session: String) async throws(ClientError) -> SessionSnapshot {
        let answer = try await call("GET", "/v1/sessions/\(Address.escaped(session))")
        return try decode(SessionSnapshot.self, from: answer)
    }

    /// The sessions, as the gateway lists them.
    public func sessions(limit: Int? = nil) async throws(ClientError) -> JSONValue {
        try await call("GET", "/v1/sessions" + (limit.map { "?limit=\($0)" } ?? ""))
    }

    /// The skills with their workers.
    public func skills() async throws(ClientError) -> SkillList {
        try decode(SkillList.self, from: try await call("GET", "/v1/skills"))
    }

    /// What a text would be routed to, with every skill's score.
    public func route(_ text: String) async throws(ClientError) -> Plan {
        try decode(Plan.self, from: try await call("POST", "/v1/route", body: ["text": .string(text)]))
    }

    /// The skill log: jobs that have ended, the newest last.
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - after: only jobs after this number, as an earlier answer gave it as `next`.
    /// - Returns: one page.
    /// - Throws: `ClientError`.
    public func jobs(limit: Int, after: Int64? = nil) async throws(ClientError) -> JobLog {
        let path = "/v1/jobs?limit=\(limit)" + (after.map { "&after=\($0)" } ?? "")
        return try decode(JobLog.self, from: try await call("GET", path))
    }

    /// Jobs that were given up, as the gateway lists them.
    public func deadLetters(limit: Int) async throws(ClientError) -> JSONValue {
        try await call("GET", "/v1/dead-letters?limit=\(limit)")
    }

    /// One of them with its attempts and last events.
    public func deadLetter(_ id: String) async throws(ClientError) -> JSONValue {
        try await call("GET", "/v1/dead-letters/\(Address.escaped(id))")
    }

    /// Sends its request again, as a new one.
    /// - Returns: `id` and `session` of that.
    /// - Throws: `ClientError`.
    public func retryDeadLetter(_ id: String) async throws(ClientError) -> JSONValue {
        try await call("POST", "/v1/dead-letters/\(Address.escaped(id))/retry")
    }

    /// Takes it off the list.
    public func discardDeadLetter(_ id: String) async throws(ClientError) {
        _ = try await call("DELETE", "/v1/dead-letters/\(Address.escaped(id))")
    }

    /// Whether the gateway is up, and what it says of itself.
    public func health() async throws(ClientError) -> JSONValue { try await call("GET", "/healthz") }

    /// Follows a session's events, over breaks of the connection.
    /// - Parameters:
    ///   - session: the session.
    ///   - after: the last event that is known already; nil starts with the first.
    ///   - patience: how long to try without a connection; nil for ever.
    /// - Returns: the stream; each iteration over it is a connection of its own.
    public func events(
        of session: String,
        after: UInt64? = nil,
        patience: Duration? = .seconds(30)
    ) -> EventStream {
        EventStream(client: self, session: session, after: after, patience: patience)
    }

    private func missing(_ name: String) -> ClientError { .badResponse(url: url, reason: "\"\(name)\" is missing") }
}
