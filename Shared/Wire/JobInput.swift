/// What a job works on: the body of SUBMIT, DISPATCH and CALL, written by ``JobBody``.
///
/// Attachments are described here; their bytes are the frames that follow the body, in the same order.
public struct JobInput: Codable, Hashable, Sendable {
    /// An attachment's description.
    public struct Attachment: Codable, Hashable, Sendable {
        /// File name, without folders.
        public var name: String
        /// Media type.
        public var mediaType: String
        /// Size.
        public var bytes: Int

        /// Makes a description.
        public init(name: String, mediaType: String, bytes: Int) {
            self.name = name
            self.mediaType = mediaType
            self.bytes = bytes
        }
    }

    /// One turn of the conversation so far.
    public struct Turn: Codable, Hashable, Sendable {
        /// `user` or `assistant`.
        public var role: String
        /// What was said.
        public var text: String
        /// The skills that served it, on the user's turns.
        public var skills: [String]?

        /// Makes a turn.
        public init(role: String, text: String, skills: [String]? = nil) {
            self.role = role
            self.text = text
            self.skills = skills
        }
    }

    /// The output of an earlier step.
    public struct Previous: Codable, Hashable, Sendable {
        /// The step.
        public var step: String
        /// Its skill.
        public var skill: String
        /// What it made.
        public var output: SkillOutput

        /// Makes an entry.
        public init(step: String, skill: String, output: SkillOutput) {
            self.step = step
            self.skill = skill
            self.output = output
        }
    }

    /// The session.
    public var session: String
    /// A number that tells whose it is from whose others are, where there are several tenants.
    public var tenant: UInt64?
    /// What the user wrote.
    public var text: String
    /// The part of the text that is to be worked on, where the router told it from the instruction.
    public var material: String?
    /// Arguments for the skill.
    public var arguments: JSONValue?
    /// Attachments, in the order of their frames.
    public var attachments: [Attachment]?
    /// The last turns, oldest first.
    public var history: [Turn]?
    /// What was said before those, in short.
    public var summary: String?
    /// Outputs of the steps that this one comes after.
    public var previous: [Previous]?
    /// The same on every attempt of a job.
    public var idempotencyKey: String?
    /// How deep the calls of skills by skills are; 0 for a step of a plan.
    public var depth: Int?
    /// Of a SUBMIT: whether the plan should carry scores.
    public var explain: Bool?
    /// Of a SUBMIT: whether somebody is there to say which skill is meant, where the text does not.
    public var canClarify: Bool?
    /// Of a SUBMIT that comes again: the plan that is already stored.
    public var plan: Plan?
    /// What may go to outside parties; nothing may where it is absent.
    public var privacy: PrivacyPolicy?
    /// Parties that the user has allowed already, where he is to be asked.
    public var approved: [String]?
    /// Whether an output that was made before for the same input may be the answer; so it is where this is absent.
    public var cache: Bool?
    /// Of a SUBMIT that names no skill: who is to choose it; the router where this is absent.
    public var routing: Routing?

    /// Makes an input.
    public init(
        session: String,
        tenant: UInt64? = nil,
        text: String,
        material: String? = nil,
        arguments: JSONValue? = nil,
        attachments: [Attachment]? = nil,
        history: [Turn]? = nil,
        summary: String? = nil,
        previous: [Previous]? = nil,
        idempotencyKey: String? = nil,
        depth: Int? = nil,
        explain: Bool? = nil,
        canClarify: Bool? = nil,
        plan: Plan? = nil,
        privacy: PrivacyPolicy? = nil,
        approved: [String]? = nil,
        cache: Bool? = nil,
        routing: Routing? = nil
    ) {
        self.session = session
        self.tenant = tenant
        self.text = text
        self.material = material
        self.arguments = arguments
        self.attachments = attachments
        self.history = history
        self.summary = summary
        self.previous = previous
        self.idempotencyKey = idempotencyKey
        self.depth = depth
        self.explain = explain
        self.canClarify = canClarify
        self.plan = plan
        self.privacy = privacy
        self.approved = approved
        self.cache = cache
        self.routing = routing
    }
}
