internal import ModelAccess
internal import SkillKit
internal import Text
internal import Wire

/// Jobs of several steps: a model decides which skills are called, with what, and makes an answer of what they find. Without
/// a model, and where it fails, the router's own plan for the text is run instead.
struct Agent: Skill {
    struct Arguments: SkillArguments {
        var rounds: Int?
        var tokens: Int?
        var choose: Bool?
        static let descriptions = [
            "rounds": "how often the model may call skills before it has to answer",
            "tokens": "what all calls of the model together may take",
            "choose": "only say which skill serves the text, and run nothing",
        ]
        static let ranges = ["rounds": 1...32, "tokens": 1000...1_000_000]
    }

    /// What may be asked of models.
    var access = ModelAccess.none

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    static let manifest = SkillManifest(
        id: "agent",
        displayName: "Agent/智能体",
        description: """
            Agent for an investigation in many steps: it decides autonomously, by itself, which skills to call. \
            智能体：自主完成多步骤的复杂调查任务，自己决定调用哪些技能。
            """,
        inputTypes: [.text, .file],
        produces: ["text", SkillChoice.kind],
        examples: [
            "use the agent for this", "let the agent do it step by step by itself", "have an agent investigate this",
            "用智能体来完成这个任务", "让智能体自己一步步查清楚", "交给智能体去调查",
        ],
        // Named, or meant beyond doubt: whatever one skill does is that skill's.
        priority: 21,
        concurrency: 8,
        timeout: 600,
        cacheTTL: 0
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let words = Words(isChinese: input.text.unicodeScalars.contains { Script.isHan($0.value) })
        guard input.text.contains(where: { !$0.isWhitespace }) else {
            throw SkillError("no_text", words.noText, hint: words.noTextHint)
        }
        if arguments.choose == true {
            return try await SkillChoice(access: access, words: words).choose(input, context)
        }
        let skills = try await context.skills().filter { $0.id != Self.manifest.id }
        let toolbox = Toolbox(skills, files: input.attachments.map(\.name))
        var limits = AgentLimits()
        if let rounds = arguments.rounds { limits.rounds = rounds }
        if let tokens = arguments.tokens { limits.tokens = tokens }
        let loop = AgentLoop(input: input, toolbox: toolbox, limits: limits, words: words, context: context)
        let failure: SkillError?
        switch try await loop.run(with: access) {
        case .answered(let output): return output
        case .unanswered(let error): failure = error
        }
        let plan = PlanRun(
            input: input,
            toolbox: toolbox,
            words: words,
            hasModel: access.isConfigured,
            failure: failure,
            context: context
        )
        return try await plan.run()
    }
}

/// What one run may take.
struct AgentLimits: Sendable {
    /// Rounds of calls.
    var rounds = 8
    /// Tokens of all calls of the model.
    var tokens = 64_000
    /// Calls of skills in one round.
    var callsAtOnce = 8
    /// Calls with arguments that do not fit, or of skills that are not there, before no more are made.
    var misfits = 2
    /// Bytes of one result that the model sees.
    var observation = 8 * 1024
    /// Tokens of one answer.
    var answer = 4096
}
