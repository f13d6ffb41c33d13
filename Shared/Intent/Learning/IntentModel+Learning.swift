internal import Wire

/// What a model gains from examples: those of the manifests, and labelled utterances.
extension IntentModel {
    /// Fewer cases than this say nothing of a skill's own threshold.
    private static let fewest = 10

    /// The same model, with what can be learned from the manifests' examples. That takes milliseconds for tens of skills
    /// with ten examples each, and seconds for ten thousand examples.
    public func trained(_ thresholds: RoutingThresholds = RoutingThresholds()) -> IntentModel {
        with(LearnedSkills(index, scope: thresholds.scope), thresholds)
    }

    /// The same model with other thresholds; what it has learned stays.
    public func with(_ thresholds: RoutingThresholds) -> IntentModel {
        with(thresholds.scope.flatMap { scope in scorer.learned?.scoped(scope) } ?? scorer.learned, thresholds)
    }

    /// A case as the fitting sees it.
    private struct Outcome {
        let skill: Int
        let score: Double
        let isInScope: Bool
        let isRight: Bool
    }

    /// The thresholds with which most cases come out right: as many of those that a skill serves as of those that none
    /// does. Cases for several skills are left out; without any for none, nothing is refused.
    public func fitted(to cases: [IntentEvaluation.Case]) -> RoutingThresholds {
        let cases = cases.filter { $0.expected.skills.count < 2 }
        var model = self
        var thresholds = RoutingThresholds()
        if let learned = scorer.learned {
            let rows = cases.map { learned.learner.judge(Units($0.utterance)).figures }
            let isInScope = cases.map { !$0.expected.skills.isEmpty }
            let rare = min(isInScope.count { $0 }, isInScope.count { !$0 })
            if rare >= 2 * Self.fewest {
                let scope = LogisticRegression(rows, outcomes: isInScope)
                thresholds.scope = scope
                model = with(learned.scoped(scope), self.thresholds)
            }
        }
        let ids = index.manifests.map(\.id)
        let outcomes = cases.compactMap { item -> Outcome? in
            guard let best = model.decide(item.question).scores.filter({ $0.skill != fallbackID }).first,
                let skill = ids.firstIndex(of: best.skill)
            else { return nil }
            let isInScope = !item.expected.skills.isEmpty && item.expected.skills != [fallbackID]
            let isRight = item.expected.skills == [best.skill]
            return Outcome(skill: skill, score: best.score, isInScope: isInScope, isRight: isRight)
        }
        guard outcomes.contains(where: { !$0.isInScope }) else {
            thresholds.least = 0
            return thresholds
        }
        // At an even chance, which the usual threshold is, a fitted scope is wrong as often on either side: a few cases
        // tell it no better.
        if thresholds.scope == nil || scorer.cuesDecide { thresholds.least = Self.best(outcomes) }
        for (skill, own) in Dictionary(grouping: outcomes, by: \.skill) {
            guard own.count(where: \.isRight) >= Self.fewest, own.count(where: { !$0.isInScope }) >= Self.fewest else {
                continue
            }
            thresholds.skills[ids[skill]] = Self.best(own)
        }
        return thresholds
    }

    private var fallbackID: String? { index.fallback.map { index.manifests[$0].id } }

    /// The score from which on the share of the cases that are right, and that of those refused rightly, are the largest
    /// in sum.
    private static func best(_ outcomes: [Outcome]) -> Double {
        let inScope = Double(max(outcomes.count(where: \.isInScope), 1))
        let outOfScope = Double(max(outcomes.count { !$0.isInScope }, 1))
        var sum = Double(outcomes.count(where: \.isRight)) / inScope
        var best = (score: 0.0, sum: sum)
        // From the lowest score on, each case in turn is refused.
        let sorted = outcomes.sorted { $0.score < $1.score }
        for (position, outcome) in sorted.enumerated() {
            if outcome.isRight { sum -= 1 / inScope }
            if !outcome.isInScope { sum += 1 / outOfScope }
            let next = position + 1 < sorted.count ? sorted[position + 1].score : outcome.score + 0.01
            if sum > best.sum, next > outcome.score { best = ((outcome.score + next) / 2, sum) }
        }
        return best.score
    }
}
