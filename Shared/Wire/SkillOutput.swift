/// What a skill hands back: text, and parts that programs can use.
public struct SkillOutput: Codable, Hashable, Sendable {
    /// The whole answer as text. Joining the deltas of the attempt gives the same.
    public var text: String
    /// Typed parts.
    public var parts: [OutputPart]

    /// Makes an output.
    public init(text: String, parts: [OutputPart] = []) {
        self.text = text
        self.parts = parts
    }

    private enum Key: String, CodingKey { case text, parts }

    /// Decodes an output; `parts` may be missing.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        text = try fields.decode(String.self, forKey: .text)
        parts = try fields.decodeIfPresent([OutputPart].self, forKey: .parts) ?? []
    }
}

/// A typed part of an output. `kind` says which of the other fields are there.
public struct OutputPart: Codable, Hashable, Sendable {
    /// `point`, `keyword`, `passage`, `reference`, `number`, `file`, `text` or one of a skill's own.
    public var kind: String
    /// Text of the part.
    public var text: String?
    /// Where it comes from: a path, an address, a title.
    public var source: String?
    /// A name or heading.
    public var title: String?
    /// How good, between 0 and 1, or a rank score.
    public var score: Double?
    /// Media type of `data`.
    public var mediaType: String?
    /// Content of a file, base64.
    public var data: String?
    /// Further values.
    public var values: [String: JSONValue]?

    /// Makes a part.
    public init(
        kind: String,
        text: String? = nil,
        source: String? = nil,
        title: String? = nil,
        score: Double? = nil,
        mediaType: String? = nil,
        data: String? = nil,
        values: [String: JSONValue]? = nil
    ) {
        self.kind = kind
        self.text = text
        self.source = source
        self.title = title
        self.score = score
        self.mediaType = mediaType
        self.data = data
        self.values = values
    }
}

/// Payload of a `started` event.
public struct JobStarted: Codable, Hashable, Sendable {
    /// The worker's name.
    public var worker: String
    /// What does the work: `offline`, or a model's name.
    public var engine: String
    /// The skill, for jobs that are not in the plan.
    public var skill: String?

    /// Makes a payload.
    public init(worker: String, engine: String, skill: String? = nil) {
        self.worker = worker
        self.engine = engine
        self.skill = skill
    }
}

/// Payload of a `progress` event.
public struct JobProgress: Codable, Hashable, Sendable {
    /// What is being done, in the user's language.
    public var message: String
    /// How much is done, 0 to 1; nil if it cannot be known.
    public var fraction: Double?

    /// Makes a payload.
    public init(message: String, fraction: Double? = nil) {
        self.message = message
        self.fraction = fraction
    }
}

/// Payload of a `retrying` event. What was streamed by the earlier attempt is void.
public struct JobRetrying: Codable, Hashable, Sendable {
    /// Why, for the user.
    public var reason: String
    /// The number of the new attempt.
    public var attempt: UInt32

    /// Makes a payload.
    public init(reason: String, attempt: UInt32) {
        self.reason = reason
        self.attempt = attempt
    }
}

/// Payload of a `finished` event.
public struct JobFinished: Codable, Hashable, Sendable {
    /// The whole output.
    public var output: SkillOutput
    /// What did the work.
    public var engine: String
    /// Whether it came from the cache.
    public var cached: Bool
    /// How long it took.
    public var milliseconds: UInt64
    /// Whether it is only what could be done then, and no answer to the same input later; absent for no.
    public var provisional: Bool?

    /// Makes a payload.
    public init(output: SkillOutput, engine: String, cached: Bool = false, milliseconds: UInt64) {
        self.output = output
        self.engine = engine
        self.cached = cached
        self.milliseconds = milliseconds
    }
}

extension JobFinished {
    /// The payload as JSON, without the general encoder where the output is only text: it is made once per job, and the
    /// encoder would cost more than all the rest of the job's way.
    public func encoded() throws(WireError) -> [UInt8] {
        guard output.parts.isEmpty, provisional == nil else { return try JSONBody.encode(self) }
        var json = JSONText(capacity: output.text.utf8.count + engine.utf8.count + 96)
        json.raw(cached ? #"{"cached":true,"engine":"# : #"{"cached":false,"engine":"#)
        json.string(engine)
        json.raw(#","milliseconds":"#)
        json.number(milliseconds)
        json.raw(#","output":{"parts":[],"text":"#)
        json.string(output.text)
        json.raw("}}")
        return json.bytes
    }
}

/// Why a request, a job or a message failed: a stable code for programs and words for people.
public struct JobError: Error, Codable, Hashable, Sendable {
    /// Stable, such as `no_worker`.
    public var code: String
    /// What happened.
    public var message: String
    /// What the user can do.
    public var hint: String?
    /// Whether the same request may succeed later.
    public var retryable: Bool
    /// Seconds to wait before that.
    public var retryAfter: Double?

    /// Makes an error.
    public init(
        code: String,
        message: String,
        hint: String? = nil,
        retryable: Bool = false,
        retryAfter: Double? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.retryAfter = retryAfter
    }

    private enum Key: String, CodingKey { case code, message, hint, retryable, retryAfter }

    /// Decodes an error; only `code` and `message` must be there.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        code = try fields.decode(String.self, forKey: .code)
        message = try fields.decode(String.self, forKey: .message)
        hint = try fields.decodeIfPresent(String.self, forKey: .hint)
        retryable = try fields.decodeIfPresent(Bool.self, forKey: .retryable) ?? false
        retryAfter = try fields.decodeIfPresent(Double.self, forKey: .retryAfter)
    }
}

extension JobError {
    /// The codes that every process uses. A skill may add its own.
    public enum Code {
        /// No skill has that name.
        public static let unknownSkill = "unknown_skill"
        /// The arguments do not fit the skill's schema.
        public static let invalidArguments = "invalid_arguments"
        /// No skill serves the request.
        public static let outOfScope = "out_of_scope"
        /// More than one skill fits, and the user is asked which is meant.
        public static let ambiguous = "ambiguous"
        /// The skill is known and has no worker.
        public static let noWorker = "no_worker"
        /// The skill's queue is full.
        public static let overloaded = "overloaded"
        /// It took longer than allowed.
        public static let timeout = "timeout"
        /// It ended too many workers.
        public static let deadLettered = "dead_lettered"
        /// It may or may not have run, and must not run twice.
        public static let outcomeUnknown = "outcome_unknown"
        /// A job said something of more than the limit at once.
        public static let eventTooLarge = "event_too_large"
        /// The router does not have a request that it was asked to go on with.
        public static let unknownRequest = "unknown_request"
        /// The output is over the limit.
        public static let outputTooLarge = "output_too_large"
        /// A stream ended before its end.
        public static let truncated = "truncated"
        /// The job was cancelled.
        public static let cancelled = "cancelled"
        /// A step that this one needs did not finish.
        public static let dependencyFailed = "dependency_failed"
        /// The skill itself failed.
        public static let skillFailed = "skill_failed"
        /// The process is shutting down.
        public static let draining = "draining"
        /// A message that cannot be read.
        public static let badMessage = "bad_message"
        /// A manifest that cannot be accepted.
        public static let badManifest = "bad_manifest"
        /// The id and version are taken by another manifest.
        public static let manifestConflict = "manifest_conflict"
        /// The key of the peer does not allow it.
        public static let forbidden = "forbidden"
        /// Data would have gone to an outside party, and the session is for this machine only.
        public static let localOnly = "local_only"
        /// The user did not allow that data goes to an outside party.
        public static let notAllowed = "not_allowed"
        /// No router could be reached in time.
        public static let noRouter = "no_router"
    }
}
