internal import SessionStore
internal import Wire

/// What the store keeps of a request beside its text and attachments, to submit it again.
struct RequestInput: Codable, Equatable, Sendable {
    /// The skill, where the user named one.
    var skill: String?
    /// Its arguments.
    var arguments: JSONValue?
    /// Whether the plan shows scores.
    var explain: Bool?
    /// Whether the client can say which of two skills is meant.
    var canClarify: Bool?
    /// Its priority, where it is not the usual one.
    var priority: NewRequest.Priority?
    /// What may go to outside parties, where the request says so.
    var privacy: PrivacyPolicy?
    /// False where no output that was made before may be the answer.
    var cache: Bool?
    /// Who chooses the skill, where that is not the router.
    var routing: Routing?
}

extension NewRequest {
    /// Attachments that fit one message beside its header and body.
    static let attachmentCount = Limits.frames - 2
    /// Longest time that a request may be given, in seconds: a day.
    static let longestTimeout: Double = 86_400
    /// Time that a request has unless it says otherwise, in seconds.
    static let usualTimeout: Double = 600

    /// Why a request without content is refused.
    static let emptyText = GatewayError.invalid(field: "text", reason: "is empty: say what is to be done")

    /// Refuses what cannot be served, naming the field.
    func validate() throws(GatewayError) {
        let isBlank = text.allSatisfy(\.isWhitespace)
        guard !isBlank || !attachments.isEmpty || arguments != nil else {
            throw NewRequest.emptyText
        }
        var size = text.utf8.count
        if let arguments {
            guard arguments.object != nil else {
                throw .invalid(field: "arguments", reason: "must be an object, not \(arguments.article)")
            }
            do throws(WireError) {
                size += try JSONBody.encode(arguments).count
            } catch {
                throw .invalid(field: "arguments", reason: "cannot be written as JSON")
            }
        }
        guard size <= Limits.requestText else {
            throw .tooLarge(what: "text with its arguments", limit: Limits.requestText, got: size)
        }
        if let skill {
            guard !skill.isEmpty, skill.utf8.count <= 64 else {
                throw .invalid(field: "skill", reason: "must be a skill's id of 1 to 64 bytes")
            }
        }
        try validateAttachments()
        if let timeout {
            guard timeout >= 0.001, timeout <= NewRequest.longestTimeout else {
                throw .invalid(field: "timeout", reason: "must be a number of seconds above 0 and at most 86400")
            }
        }
        if let key = idempotencyKey {
            guard !key.isEmpty, key.utf8.count <= Limits.shortString else {
                throw .invalid(field: "Idempotency-Key", reason: "must have 1 to \(Limits.shortString) bytes")
            }
        }
    }

    private func validateAttachments() throws(GatewayError) {
        guard attachments.count <= NewRequest.attachmentCount else {
            throw .invalid(
                field: "attachments",
                reason: "has \(attachments.count) entries; the limit is \(NewRequest.attachmentCount)"
            )
        }
        var sum = 0
        for attachment in attachments {
            guard !attachment.name.isEmpty, attachment.name.utf8.count <= Limits.shortString else {
                throw .invalid(
                    field: "attachments.name",
                    reason: "must have 1 to \(Limits.shortString) bytes"
                )
            }
            guard attachment.mediaType.utf8.count <= Limits.shortString else {
                throw .invalid(field: "attachments.mediaType", reason: "must have at most \(Limits.shortString) bytes")
            }
            guard attachment.data.count <= Limits.frame else {
                throw .tooLarge(what: "attachment", limit: Limits.frame, got: attachment.data.count)
            }
            sum += attachment.data.count
        }
        guard sum <= Limits.attachments else {
            throw .tooLarge(what: "sum of the attachments", limit: Limits.attachments, got: sum)
        }
    }

    /// A hash of everything that makes two requests with one key the same request. Only its owner could make another
    /// request with the same hash, and only to fool himself, so it need not withstand an attacker.
    func hash(in session: Identifier) -> [UInt8] {
        var hash = FNV1a128()
        hash.add(session.description.utf8)
        hash.add(text.utf8)
        hash.add((skill ?? "").utf8)
        if let arguments, let json = try? JSONBody.encode(arguments) { hash.add(json) }
        for attachment in attachments {
            hash.add(attachment.name.utf8)
            hash.add(attachment.mediaType.utf8)
            hash.add(attachment.data)
        }
        hash.add("\(whenBusy) \(onDisconnect) \(explain) \(timeout ?? 0)".utf8)
        if priority != .normal { hash.add(priority.rawValue.utf8) }
        if let privacy { hash.add(privacy.rawValue.utf8) }
        if !cache { hash.add("no cache".utf8) }
        if routing != .local { hash.add("routing \(routing.rawValue)".utf8) }
        if canClarify { hash.add("can_clarify".utf8) }
        return hash.bytes
    }
}

/// The 128-bit FNV-1a hash. Each part is followed by its length, so that no two lists of parts look alike.
private struct FNV1a128 {
    private var value: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    private static let prime: UInt128 = 0x0000_0000_0100_0000_0000_0000_0000_013b

    mutating func add(_ part: some Collection<UInt8>) {
        for byte in part { value = (value ^ UInt128(byte)) &* FNV1a128.prime }
        withUnsafeBytes(of: UInt64(part.count).littleEndian) { length in
            for byte in length { value = (value ^ UInt128(byte)) &* FNV1a128.prime }
        }
    }

    var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}

extension JSONValue {
    /// The type's name with its article.
    fileprivate var article: String {
        typeName == "array" || typeName == "integer" ? "an \(typeName)" : "a \(typeName)"
    }
}
