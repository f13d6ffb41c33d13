public import Wire

/// What routing decides about.
public struct RoutingQuestion: Sendable {
    /// What the user wrote.
    public var text: String
    /// The turns before.
    public var history: [JobInput.Turn]
    /// What came with it.
    public var attachments: [JobInput.Attachment]
    /// Makes a question.
    public init(text: String, history: [JobInput.Turn] = [], attachments: [JobInput.Attachment] = []) {
        self.text = text
        self.history = history
        self.attachments = attachments
    }
}
/// What routing decided.
public struct RoutingDecision: Sendable {
    /// The plan.
    public var plan: Plan
    /// Scores.
    public var scores: [Plan.Score]
    /// Instruction.
    public var instruction: String
    /// Material.
    public var material: String?
    /// Nearest.
    public var nearest: [String]
}
/// The model.
public struct IntentModel: Sendable {
    private let manifests: [SkillManifest]
    /// Makes one.
    public init(manifests: [SkillManifest]) { self.manifests = manifests }
    /// Decides.
    public func decide(_ question: RoutingQuestion) -> RoutingDecision {
        RoutingDecision(
            plan: Plan(mode: .none, steps: []),
            scores: [],
            instruction: question.text,
            material: nil,
            nearest: []
        )
    }
}
