/// Wishes for several skills at once, by what was learned from examples.
extension PlanBuilder {
    /// A part with fewer words is none of its own.
    private static let shortestPart = 2
    /// A text of more parts is a list, or a page, and no row of wishes.
    private static let mostParts = 16
    /// A part that is less like any skill is not asked about, however low the thresholds.
    private static let partThreshold = 0.05
    /// A part of its own has this share of the chance for one skill: half a sentence often has a little of many.
    private static let partShare = 0.5
    /// A clause beside others that cues decide is for a skill from this likeness on.
    static let wishLikeness = 0.5
    /// How much farther on its skill's side a part must be than the whole text is. Another wish beside it draws the text
    /// away from that; the rest of the same wish does not.
    private static let partGain: Float = 0.3
    /// A skill that the text asks for is among its best, with so many others at most.
    private static let othersBetween = 1

    /// The skills that the parts of a text ask for, in order, each once; one or none if the text does not fall into
    /// parts that ask for different ones.
    func learnedParts(_ result: SkillScorer.Result, least: (Int) -> Double) -> [Int] {
        guard let learned = scorer.learned, let whole = result.likeness, result.reading.clauses.count > 1 else {
            return []
        }
        let reading = result.reading
        let parts = self.parts(reading)
        guard 2...Self.mostParts ~= parts.count else { return [] }
        var skills: [Int] = []
        for part in parts where part.count >= Self.shortestPart {
            let isActive = reading.isActive.indices.map { part.contains($0) }
            let likeness = learned.likeness(reading.units, isActive: isActive)
            guard let best = likeness.values.indices.max(by: { likeness.values[$0] < likeness.values[$1] }),
                likeness.inScope >= max(Self.partThreshold, least(best)), likeness.shares[best] >= Self.partShare,
                likeness.scores[best] >= whole.scores[best] + Self.partGain, !skills.contains(best)
            else { continue }
            skills.append(best)
        }
        guard skills.count > 1 else { return skills }
        let areBest = skills.allSatisfy { skill in
            whole.scores.count { $0 > whole.scores[skill] } < skills.count + Self.othersBetween
        }
        return areBest ? skills : []
    }

    /// What a clause without cues asks for beside others that have some: a skill of a kind that the lexicon does not know.
    func learnedWish(_ clause: Reading.Clause, _ result: SkillScorer.Result) -> Found? {
        guard let learned = scorer.learned, index.hasUnknownKinds,
            2...Self.mostParts ~= result.reading.clauses.count,
            clause.range.count >= Self.shortestPart
        else { return nil }
        let isActive = result.reading.isActive.indices.map { clause.range.contains($0) && result.reading.isActive[$0] }
        let likeness = learned.likeness(result.reading.units, isActive: isActive)
        guard let best = likeness.values.indices.max(by: { likeness.values[$0] < likeness.values[$1] }),
            index.roles[best] == nil, best != index.fallback, likeness.values[best] >= Self.wishLikeness,
            likeness.shares[best] >= Self.partShare
        else { return nil }
        return (best, nil, likeness.values[best])
    }

    /// The clauses, where one that is none of its own goes with the one before it.
    private func parts(_ reading: Reading) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        for clause in reading.clauses {
            if let last = parts.last, last.count < Self.shortestPart || !separates(clause, reading) {
                parts[parts.count - 1] = last.lowerBound..<clause.range.upperBound
            } else {
                parts.append(clause.range)
            }
        }
        return parts
    }

    /// Whether a clause may be a wish of its own. Of the words that only say when, one alone is rather a part of the
    /// clause: "my next appointment".
    private func separates(_ clause: Reading.Clause, _ reading: Reading) -> Bool {
        if !clause.boundary.isDisjoint(with: [.mark, .and]) { return true }
        guard clause.boundary.contains(.sequence) else { return false }
        return reading.matches.contains { $0.range.upperBound == clause.range.lowerBound && $0.range.count > 1 }
    }
}
