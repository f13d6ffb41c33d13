internal import Glibc
internal import Wire

/// A learner, the chance that a text is for any skill at all, and how much is to be made of cues beside it.
struct LearnedSkills: Sendable {
    /// What makes the chance of ``SkillLearner/Judgement/figures`` where nothing else has been fitted: over seven public
    /// sets of utterances, each with a quarter of its intents left out of the training and taken for out of scope.
    static let usualScope = LogisticRegression(
        weights: [2.435, 0.257, -3.779, -0.830, -1.152, 0.0285, -0.136, -0.594, -0.242],
        bias: 1.313
    )
    /// At an even chance the likeness is what ``IntentModel`` asks for as the least.
    private static let bend = log(IntentModel.threshold) / log(0.5)

    let learner: SkillLearner
    private var scope: LogisticRegression
    /// How far cues of the lexicon may decide, 0 to 1: as far as the skills are of kinds that it knows.
    let cueTrust: Double

    /// Learns from manifests.
    /// - Returns: nil where there is nothing to tell apart.
    init?(_ index: ManifestIndex, scope: LogisticRegression?) {
        guard let learner = SkillLearner(index.manifests) else { return nil }
        self.learner = learner
        self.scope = scope ?? Self.usualScope
        cueTrust = index.cueTrust(.shared)
    }

    /// The same with another chance of being meant at all.
    func scoped(_ scope: LogisticRegression) -> LearnedSkills {
        var other = self
        other.scope = scope
        return other
    }

    /// By skill: how like its examples a text is, 0 to 1; from ``IntentModel/threshold`` on it may be meant.
    struct Likeness {
        let values: [Double]
        /// By skill: how far the text is on its side.
        let scores: [Float]
        /// By skill: its share of the chance, 1 in sum.
        let shares: [Double]
        /// The chance that any skill is meant.
        let inScope: Double
    }

    func likeness(_ units: Units, isActive: [Bool]?) -> Likeness {
        let judgement = learner.judge(units, isActive: isActive)
        let chance = pow(scope.probability(judgement.figures), Self.bend)
        let most = judgement.shares.max() ?? 1
        return Likeness(
            values: judgement.shares.map { chance * $0 / most },
            scores: judgement.scores,
            shares: judgement.shares,
            inScope: chance
        )
    }
}
