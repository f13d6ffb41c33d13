internal import FoundationEssentials
internal import HTTPServer
internal import Wire

/// The body of `POST /v1/sessions/{id}/requests`. Fields that are not known are passed over, so that newer clients can
/// talk to older gateways.
struct RequestBody: Decodable, Sendable {
    struct Attachment: Decodable, Sendable {
        var name: String
        var mediaType: String?
        var data: String
    }
    var text: String?
    var skill: String?
    var arguments: JSONValue?
    var attachments: [Attachment]?
    var whenBusy: String?
    var onDisconnect: String?
    var priority: String?
    var explain: Bool?
    var privacy: String?
    var cache: Bool?
    var canClarify: Bool?
    var routing: String?
    var timeout: Double?

    private enum CodingKeys: String, CodingKey {
        case text, skill, arguments, attachments, explain, timeout, priority, privacy, cache, routing
        case whenBusy = "when_busy"
        case onDisconnect = "on_disconnect"
        case canClarify = "can_clarify"
    }

    /// Levels that arguments may be nested in.
    static let depth = 64

    /// Reads a request.
    /// - Throws: A problem that names the field.
    static func read(_ request: HTTPRequest) async throws(HTTPProblem) -> NewRequest {
        let key = request.headers["Idempotency-Key"]
        return try await JSONRequest.read(request) { bytes throws(HTTPProblem) in
            try read(bytes, idempotencyKey: key)
        }
    }

    /// Reads the bytes of a request's body.
    /// - Throws: A problem that names the field.
    static func read(_ bytes: consuming [UInt8], idempotencyKey: String? = nil) throws(HTTPProblem) -> NewRequest {
        try JSONRequest.validate(bytes)
        let large = LargeContents(of: bytes)
        let body = try JSONRequest.value(RequestBody.self, from: large.json)
        do throws(GatewayError) {
            return try body.request(idempotencyKey: idempotencyKey, large)
        } catch {
            throw HTTPProblem(error)
        }
    }

    private func request(
        idempotencyKey: String?,
        _ large: LargeContents
    ) throws(GatewayError) -> NewRequest {
        var request = NewRequest(text: text ?? "")
        request.skill = skill
        if let arguments, arguments != .null {
            guard arguments.isNested(atMost: RequestBody.depth) else {
                throw .invalid(field: "arguments", reason: "is nested more than \(RequestBody.depth) levels deep")
            }
            request.arguments = arguments
        }
        request.attachments = try decodedAttachments(large)
        if let whenBusy { request.whenBusy = try RequestBody.choice(whenBusy, field: "when_busy") }
        if let onDisconnect { request.onDisconnect = try RequestBody.choice(onDisconnect, field: "on_disconnect") }
        if let priority { request.priority = try RequestBody.choice(priority, field: "priority") }
        if let privacy { request.privacy = try RequestBody.choice(privacy, field: "privacy") }
        request.explain = explain ?? false
        request.cache = cache ?? true
        request.canClarify = canClarify ?? false
        if let routing { request.routing = try RequestBody.choice(routing, field: "routing") }
        request.timeout = timeout
        request.idempotencyKey = idempotencyKey
        return request
    }

    /// The value of a field that has a few.
    /// - Throws: `invalid` naming them.
    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String,
        field: String
    ) throws(GatewayError) -> Choice where Choice.RawValue == String {
        if let choice = Choice(rawValue: text) { return choice }
        let all = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw .invalid(field: field, reason: "must be one of \(all), not \"\(text.prefix(40))\"")
    }

    private func decodedAttachments(_ large: LargeContents) throws(GatewayError) -> [NewRequest.Attachment] {
        var decoded: [NewRequest.Attachment] = []
        for (index, attachment) in (attachments ?? []).enumerated() {
            // A path tells where a file lies on the sender's machine, which is nobody's business.
            let name = attachment.name.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
            guard !name.isEmpty, !name.utf8.contains(where: { $0 < 32 || $0 == 127 }) else {
                throw .invalid(
                    field: "attachments[\(index)].name",
                    reason: "must be a file name without control characters"
                )
            }
            guard let data = large.take(attachment.data) ?? Data(base64Encoded: attachment.data).map({ [UInt8]($0) })
            else {
                throw .invalid(
                    field: "attachments[\(index)].data",
                    reason:
                        "(\"\(name.prefix(80))\") is not base64: use the standard alphabet with padding, on one line"
                )
            }
            decoded.append(
                NewRequest.Attachment(
                    name: name,
                    mediaType: attachment.mediaType ?? "application/octet-stream",
                    data: data
                )
            )
        }
        return decoded
    }
}

extension JSONValue {
    /// Whether no value lies deeper than so many levels.
    func isNested(atMost depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth > 0 && elements.allSatisfy { $0.isNested(atMost: depth - 1) }
        case .object(let members): depth > 0 && members.values.allSatisfy { $0.isNested(atMost: depth - 1) }
        default: true
        }
    }
}
