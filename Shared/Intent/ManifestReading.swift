internal import Text
internal import Wire

/// What one manifest says, whatever others there are. To read it takes most of the time that a new model needs, so that
/// a later model takes it over as it is.
struct ManifestReading: Sendable {
    let manifest: SkillManifest
    /// How strongly it speaks of a feature.
    private(set) var strengths: [UInt64: Float] = [:]
    /// How strongly it speaks of a group of the lexicon.
    private(set) var groups: [Int: Float] = [:]
    /// By example: its features.
    private(set) var examples: [[Features.Feature]] = []
    /// Its words: what a slip may be one of, and the keys of all.
    private(set) var words: [String] = []
    private(set) var keys: [UInt64] = []
    /// Whether it describes itself in Han characters, and in words of letters.
    private(set) var isInHan = false
    private(set) var isInLetters = false

    init(_ manifest: SkillManifest, lexicon: Lexicon) {
        self.manifest = manifest
        let name = read(manifest.id.split(separator: "-").joined(separator: " ") + "\n" + manifest.displayName, lexicon)
        learn(name, 1)
        for mention in name.mentions where Self.speaks(mention, lexicon) {
            groups[mention.group] = max(groups[mention.group] ?? 0, Float(min(1, mention.weight + 0.15)))
        }

        let description = read(manifest.description, lexicon)
        note(description)
        learn(description, 0.8)
        var described: [Int: Float] = [:]
        for mention in description.mentions where Self.speaks(mention, lexicon) && mention.shape == nil {
            let missing = 1 - (described[mention.group] ?? 0)
            described[mention.group] = 1 - missing * (1 - 0.8 * Float(mention.weight))
        }
        for (group, strength) in described { groups[group] = max(groups[group] ?? 0, min(0.95, strength)) }

        var counts: [UInt64: Float] = [:]
        var groupCounts: [Int: Float] = [:]
        for text in manifest.examples {
            let reading = read(text, lexicon)
            note(reading)
            let found = Features(reading).list
            for feature in found where feature.isContent { counts[feature.key, default: 0] += 1 }
            examples.append(found)
            var best: [Int: Float] = [:]
            for mention in reading.mentions where Self.speaks(mention, lexicon) {
                best[mention.group] = max(best[mention.group] ?? 0, Float(mention.weight))
            }
            for (group, weight) in best { groupCounts[group, default: 0] += weight }
        }
        let total = Float(max(1, manifest.examples.count))
        for (key, count) in counts {
            strengths[key] = max(strengths[key] ?? 0, 0.8 * (count / total).squareRoot())
        }
        for (group, count) in groupCounts {
            // A single example says little when there are few of them.
            let share = min(0.8, 1.6 * count / max(total, 4))
            groups[group] = 1 - (1 - (groups[group] ?? 0)) * (1 - share)
        }
    }

    private mutating func read(_ text: String, _ lexicon: Lexicon) -> Reading {
        let reading = Reading(Units(text), lexicon: lexicon, forgiving: false)
        for unit in reading.units.list where unit.kind == .word {
            keys.append(unit.key)
            let word = Units.string(reading.units.scalars[unit.start..<unit.end])
            if word.utf8.count >= 5, !StopWords.containsEnglish(folded: word) { words.append(word) }
        }
        return reading
    }

    private mutating func note(_ reading: Reading) {
        isInHan = isInHan || reading.units.list.contains { $0.kind == .han }
        isInLetters = isInLetters || reading.units.list.contains { $0.kind == .word }
    }

    private mutating func learn(_ reading: Reading, _ strength: Float) {
        for feature in Features(reading).list where feature.isContent {
            strengths[feature.key] = max(strengths[feature.key] ?? 0, strength)
        }
    }

    /// Whether a mention in a manifest may make its group the skill's. A deed must be named plainly: many a description
    /// says "open" or "text".
    private static func speaks(_ mention: Reading.Mention, _ lexicon: Lexicon) -> Bool {
        !mention.isDenied && (mention.weight >= 0.6 || lexicon.groups[mention.group].kind != .deed)
    }
}
