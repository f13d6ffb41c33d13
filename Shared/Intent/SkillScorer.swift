internal import Glibc
internal import Wire

/// How well each skill fits an instruction. Three kinds of evidence, each 0 to 1, joined as independent chances:
/// cues of the lexicon that the manifest owns, words that the manifest shares, and likeness to the best example.
struct SkillScorer {
    /// The share of the evidence of words and of examples; cues count in full.
    private static let lexicalShare = 0.65
    private static let similarityShare = 0.9
    /// What cues that are to be trusted leave of what has been learned.
    private static let cueShare = 0.5

    let index: ManifestIndex
    let lexicon: Lexicon
    /// What has been learned from examples, once it has.
    var learned: LearnedSkills?

    /// How far cues may decide.
    var cueTrust: Double { learned?.cueTrust ?? 1 }
    /// Whether cues tell the skills apart, rather than what was learned from examples.
    var cuesDecide: Bool { cueTrust > 0 }

    struct Result {
        let reading: Reading
        /// The cues, weighed.
        let mentions: [Reading.Mention]
        /// By skill, 0 to 1.
        var totals: [Double]
        /// By skill: cues alone.
        let cues: [Double]
        let comparison: ManifestIndex.Comparison
        /// How like each skill's examples it is, if that has been learned.
        let likeness: LearnedSkills.Likeness?
        /// By skill: denied in so many words.
        let isDenied: [Bool]
        /// How strongly something is asked for that needs a skill nobody has: a deed.
        let missingDeed: Double
        /// The same for any topic: text work that no skill does.
        let missingTopic: Double
    }

    /// Scores a reading. `original` are its units as they were written, where slips have been corrected in it.
    func score(_ reading: Reading, original: Units? = nil) -> Result {
        let mentions = CueWeights.settled(reading, lexicon: lexicon)
        let cues = cueScores(mentions, reading)
        let trust = cueTrust
        let comparison = trust > 0 ? index.compare(Features(reading)) : .none(of: index.manifests.count)
        // Skills that the lexicon does not know are told apart by all words: "not" is one, and so are strange ones.
        let likeness = learned.map { learned in
            cuesDecide
                ? learned.likeness(reading.units, isActive: reading.isActive)
                : learned.likeness(original ?? reading.units, isActive: nil)
        }
        // Beside cues that are to be trusted, likeness is a hint.
        let likenessShare = 1 - Self.cueShare * trust
        let isDenied = cuesDecide ? denied(reading, mentions) : Array(repeating: false, count: cues.count)
        var totals = [Double](repeating: 0, count: index.manifests.count)
        for skill in totals.indices {
            let similarity = comparison.similarity[skill]
            let missing =
                (1 - trust * cues[skill]) * (1 - trust * Self.lexicalShare * comparison.lexical[skill])
                * (1 - trust * Self.similarityShare * similarity * similarity.squareRoot())
                * (1 - likenessShare * (likeness?.values[skill] ?? 0))
            totals[skill] = (1 - missing) * (isDenied[skill] ? 0.15 : 1)
        }
        let unowned = mentions.filter { mention in
            index.owners[mention.group].isEmpty
                || lexicon.groups[mention.group].kind == .deed
                    && !index.owners[mention.group].contains { index.isOwn(mention, of: $0.skill, in: reading.units) }
        }
        return Result(
            reading: reading,
            mentions: mentions,
            totals: totals,
            cues: cues,
            comparison: comparison,
            likeness: likeness,
            isDenied: isDenied,
            missingDeed: unowned.filter { lexicon.groups[$0.group].kind == .deed }.map(\.weight).max() ?? 0,
            missingTopic: unowned.filter { lexicon.groups[$0.group].kind == .topic }.map(\.weight).max() ?? 0
        )
    }

    /// By skill: the cues that it owns. Mentions of one group support each other a little, groups fully.
    func cueScores(_ mentions: some Collection<Reading.Mention>, _ reading: Reading) -> [Double] {
        var byGroup: [Int: Double] = [:]
        for mention in mentions { Self.add(mention, to: &byGroup[mention.group, default: 0]) }
        var missing = [Double](repeating: 1, count: index.manifests.count)
        for (group, weight) in byGroup {
            if lexicon.groups[group].kind == .plan, index.owners[group].isEmpty {
                for step in lexicon.groups[group].steps {
                    for share in index.owners[step] {
                        missing[share.skill] *= 1 - 0.6 * weight * Double(share.strength)
                    }
                }
            }
            let isDeed = lexicon.groups[group].kind == .deed
            for share in index.owners[group] {
                var weight = weight
                if isDeed {
                    weight = 0
                    for mention in mentions
                    where mention.group == group && index.isOwn(mention, of: share.skill, in: reading.units) {
                        Self.add(mention, to: &weight)
                    }
                }
                missing[share.skill] *= 1 - weight * Double(share.strength)
            }
        }
        return missing.map { 1 - $0 }
    }

    private static func add(_ mention: Reading.Mention, to weight: inout Double) {
        let most = max(weight, mention.weight)
        weight = most + (1 - most) * 0.3 * min(weight, mention.weight)
    }

    /// Skills whose cues are denied and not also asked for.
    private func denied(_ reading: Reading, _ mentions: [Reading.Mention]) -> [Bool] {
        var isDenied = [Bool](repeating: false, count: index.manifests.count)
        guard reading.mentions.contains(where: \.isDenied) else { return isDenied }
        let asked = Set(mentions.filter { $0.weight >= 0.5 }.map(\.group))
        for mention in reading.mentions
        where mention.isDenied && !asked.contains(mention.group) && mention.weight >= 0.4 {
            for share in index.owners[mention.group] where share.strength >= 0.5 { isDenied[share.skill] = true }
        }
        return isDenied
    }

    // MARK: Reasons

    /// What made a skill's score, the largest share first.
    func reasons(_ skill: Int, _ result: Result) -> [String] {
        var found: [(share: Double, text: String)] = []
        for mention in result.mentions {
            let strength = index.owners[mention.group].first { $0.skill == skill }?.strength ?? 0
            let share = mention.weight * Double(strength)
            guard share >= 0.05 else { continue }
            let reason = Self.reason(mention.shape, result.reading.units.text(mention.range))
            if !found.contains(where: { $0.text == reason }) { found.append((share, reason)) }
        }
        let likeness = result.comparison.similarity[skill]
        let example = result.comparison.example[skill]
        if likeness >= 0.3, index.examples.indices.contains(Int(example)) {
            let text = index.examples[Int(example)].text.prefix(60)
            let percent = Int((likeness * 100).rounded())
            found.append(
                (Self.similarityShare * likeness * likeness.squareRoot(), "like its example \"\(text)\" (\(percent) %)")
            )
        }
        let lexical = result.comparison.lexical[skill]
        if lexical >= 0.15, let words = sharedWords(skill, result) {
            found.append((Self.lexicalShare * lexical, "its manifest speaks of \(words)"))
        }
        if let likeness = result.likeness?.values[skill], likeness >= 0.1 {
            let percent = Int((likeness * 100).rounded())
            found.append((likeness * (1 - Self.cueShare * cueTrust), "like its examples in all (\(percent) %)"))
        }
        if result.isDenied[skill] { found.append((2, "the text says not to")) }
        return found.sorted { ($0.share, $1.text) > ($1.share, $0.text) }.prefix(4).map(\.text)
    }

    private static func reason(_ shape: Lexicon.Shape?, _ words: String) -> String {
        switch shape {
        case .arithmetic: "\"\(words)\" looks like arithmetic"
        case .units: "\"\(words)\" looks like a conversion of units"
        case .wordproblem: "numbers, and a question for a quantity"
        case .language: "\"\(words)\" names a language to change to"
        case .you: "asks the assistant about itself"
        case nil: "says \"\(words)\""
        }
    }

    private func sharedWords(_ skill: Int, _ result: Result) -> String? {
        let units = result.reading.units
        var words: [String] = []
        for (position, unit) in units.list.enumerated() where result.reading.isActive[position] && words.count < 4 {
            guard let (key, range) = units.subject(at: position, in: units.list.indices),
                index.speaks(skill, of: key), unit.kind == .han || result.comparison.spoken.contains(key)
            else { continue }
            words.append("\"\(units.text(range))\"")
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
