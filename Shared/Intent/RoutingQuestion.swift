public import Wire

/// What the router asks for: which skills serve this text?
public struct RoutingQuestion: Sendable {
    /// What the user wrote.
    public var text: String
    /// The last turns, oldest first.
    public var history: [JobInput.Turn]
    /// Descriptions of the attachments.
    public var attachments: [JobInput.Attachment]
    /// Whether the scores are to say what made them, which takes longer than the decision.
    public var wantsReasons: Bool
    /// Whether the arguments that the text has for each skill are wanted, not for those of the plan alone.
    public var wantsArguments: Bool

    /// Asks about a text.
    public init(
        text: String,
        history: [JobInput.Turn] = [],
        attachments: [JobInput.Attachment] = [],
        wantsReasons: Bool = true,
        wantsArguments: Bool = false
    ) {
        self.text = text
        self.history = history
        self.attachments = attachments
        self.wantsReasons = wantsReasons
        self.wantsArguments = wantsArguments
    }
}

/// Which skills serve a text, and why.
public struct RoutingDecision: Sendable {
    /// The steps; mode `none` without steps if no skill serves the text.
    public var plan: Plan
    /// Every skill's score, best first.
    public var scores: [Plan.Score]
    /// The part of the text that says what to do.
    public var instruction: String
    /// The part of the text (or of the conversation) that is to be worked on, where it could be told.
    public var material: String?
    /// Skills to name to the user when none serves the text, nearest first.
    public var nearest: [String]
    /// The two skills between which the text does not decide, best first: the plan has the first of them. Empty where one
    /// is clearly meant.
    public var candidates: [Plan.Candidate]
    /// The arguments that the text has for each skill, by its id; only when asked for, and of those that it has some for.
    public var arguments: [String: JSONValue] = [:]

    /// Makes a decision.
    public init(
        plan: Plan,
        scores: [Plan.Score],
        instruction: String,
        material: String? = nil,
        nearest: [String] = [],
        candidates: [Plan.Candidate] = []
    ) {
        self.plan = plan
        self.scores = scores
        self.instruction = instruction
        self.material = material
        self.nearest = nearest
        self.candidates = candidates
    }
}
