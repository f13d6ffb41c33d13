/// Wishes for several skills at once, by what was learned from examples.
extension PlanBuilder {
    /// A part with fewer words is none of its own.
    private static let shortestPart = 2
    /// A part that is less like any skill is not asked about, however low the thresholds.
    private static let partThreshold = 0.05
    /// How likely a part must be at least, of what the whole text is.
    private static let partShare = 0.8

    /// The skills that the parts of a text ask for, in order, each once; one or none if the text does not fall into
    /// parts that ask for different ones.
    func learnedParts(_ result: SkillScorer.Result, least: (Int) -> Double) -> [Int] {
        guard let learned = scorer.learned, result.reading.clauses.count > 1 else { return [] }
        let reading = result.reading
        var parts: [Range<Int>] = []
        for clause in reading.clauses {
            if let last = parts.last, last.count < Self.shortestPart {
                parts[parts.count - 1] = last.lowerBound..<clause.range.upperBound
            } else {
                parts.append(clause.range)
            }
        }
        // What is one wish is more like its skill than any part of it.
        let whole = learned.likeness(reading.units, isActive: nil).inScope
        var skills: [Int] = []
        for part in parts where part.count >= Self.shortestPart {
            let isActive = reading.isActive.indices.map { part.contains($0) }
            let likeness = learned.likeness(reading.units, isActive: isActive)
            guard let best = likeness.values.indices.max(by: { likeness.values[$0] < likeness.values[$1] }),
                likeness.inScope >= max(Self.partThreshold, least(best), Self.partShare * whole), !skills.contains(best)
            else { continue }
            skills.append(best)
        }
        return skills
    }
}
