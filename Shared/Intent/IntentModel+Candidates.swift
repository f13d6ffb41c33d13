internal import Wire

/// When a text does not say which of two skills is meant.
extension IntentModel {
    /// Scores this near say nothing of which skill is meant.
    static let margin = 0.05
    /// The same where what was learned decides: its scores lie farther apart, being shares of one chance.
    static let learnedMargin = 0.3

    private var margin: Double {
        thresholds.margin ?? (scorer.cuesDecide ? Self.margin : Self.learnedMargin)
    }

    /// Of skills that fit equally well, those that served the last turn are meant.
    func preferring(_ last: [Int], _ totals: [Double]) -> [Double] {
        guard !last.isEmpty, let best = index.best(totals.indices.filter { $0 != index.fallback }, by: { totals[$0] }),
            !last.contains(best)
        else { return totals }
        var totals = totals
        for skill in last where skill != index.fallback {
            let isNear = totals[skill] >= least(skill, Self.threshold) && totals[best] - totals[skill] < margin
            guard isNear, index.manifests[skill].priority == index.manifests[best].priority else { continue }
            totals[skill] = min(1, max(totals[skill], totals[best] + Self.preference))
            if totals[skill] <= totals[best] { totals[best] = totals[skill] - Self.preference }
        }
        return totals
    }
    private static let preference = 0.001

    /// The skill that was chosen and the one that fits as well: both above their thresholds, neither more than the margin
    /// from the other, neither preferred by its priority. The one that takes what no other serves is never among them, and
    /// a plan of several steps says what is meant.
    func candidates(_ chosen: [Int], after last: [Int], _ result: SkillScorer.Result) -> [Plan.Candidate] {
        guard margin > 0, chosen.count == 1, !last.contains(where: chosen.contains), let first = chosen.first,
            first != index.fallback
        else { return [] }
        let manifests = index.manifests
        let others = manifests.indices.filter { other in
            other != first && other != index.fallback && !result.isDenied[other]
                && manifests[other].priority == manifests[first].priority
                && result.totals[other] >= least(other, Self.threshold)
                && abs(result.totals[first] - result.totals[other]) < margin
        }
        guard let second = index.best(others, by: { result.totals[$0] }) else { return [] }
        return [first, second].map { skill in
            Plan.Candidate(
                skill: manifests[skill].id,
                displayName: manifests[skill].displayName,
                score: (result.totals[skill] * 1000).rounded() / 1000
            )
        }
    }
}
