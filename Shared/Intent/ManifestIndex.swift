internal import Glibc
internal import Wire

/// What the manifests say, made ready for scoring: which groups of cues each skill owns, the weights of its words, and
/// its examples.
struct ManifestIndex: Sendable {
    /// A skill and how strongly something speaks for it.
    struct Share: Sendable {
        let skill: Int
        let strength: Float
    }

    struct Example: Sendable {
        let skill: Int
        let text: String
        var norm: Float
    }

    /// A skill at most this dear takes what no other skill serves.
    static let fallbackPriority = 20
    /// A group belongs to nobody if all manifests speak of it less than this.
    private static let ownership: Float = 0.3
    /// Cues decide from this share of skills of known kinds on; or from this number and share of skills that are the first
    /// of a kind of text work. Beside these many others may stand, while of many skills some own a deed by a word of their
    /// names alone.
    private static let knownShare = 0.55
    private static let leastTextWorkers = 3
    private static let textWorkShare = 0.15
    private static let textWorkTrust = 0.85

    /// One manifest an id, by id.
    let manifests: [SkillManifest]
    /// By skill: what its manifest says.
    private let readings: [ManifestReading]
    /// Skills by group of the lexicon.
    private(set) var owners: [[Share]]
    /// How the skill relates to others in a plan, by the group that it owns most of.
    private(set) var roles: [Lexicon.Role?]
    private(set) var slips: SlipIndex
    private(set) var examples: [Example] = []

    private var features: [UInt64: Int32] = [:]
    private var rarity: [Float] = []
    private var words: [[Share]] = []
    private var inExamples: [[Int32]] = []

    /// The skill that takes what no other serves: the least of those that are at most ``fallbackPriority``.
    let fallback: Int?

    /// Whether there are skills of kinds that the lexicon has no words for.
    var hasUnknownKinds: Bool { roles.indices.contains { roles[$0] == nil && $0 != fallback } }

    /// Makes an index. What `earlier` has read of the same manifests is taken over.
    init(_ given: [SkillManifest], lexicon: Lexicon, reusing earlier: ManifestIndex? = nil) {
        var newest: [String: SkillManifest] = [:]
        for manifest in given {
            if let known = newest[manifest.id], !Self.isNewer(manifest.version, than: known.version) { continue }
            newest[manifest.id] = manifest
        }
        let manifests = newest.values.sorted { $0.id < $1.id }
        self.manifests = manifests
        fallback = manifests.indices.filter { manifests[$0].priority <= Self.fallbackPriority }
            .min { (manifests[$0].priority, manifests[$0].id) < (manifests[$1].priority, manifests[$1].id) }
        slips = Self.lexiconSlips
        owners = Array(repeating: [], count: lexicon.groups.count)
        roles = Array(repeating: nil, count: manifests.count)
        let known = Dictionary((earlier?.readings ?? []).map { ($0.manifest.id, $0) }) { first, _ in first }
        readings = manifests.map { manifest in
            if let reading = known[manifest.id], reading.manifest == manifest { return reading }
            return ManifestReading(manifest, lexicon: lexicon)
        }
        var raw = Array(repeating: [Share](), count: lexicon.groups.count)
        var exampleFeatures: [[(feature: Int, weight: Float)]] = []
        for (skill, reading) in readings.enumerated() { add(reading, skill, &raw, &exampleFeatures) }
        settleOwners(raw, lexicon)
        settleRarity(exampleFeatures)
    }

    private static func isNewer(_ version: String, than other: String) -> Bool {
        guard let version = SemanticVersion(version) else { return false }
        return SemanticVersion(other).map { $0 < version } ?? true
    }

    private static let lexiconSlips = SlipIndex(
        words: Lexicon.shared.words,
        known: Set(Lexicon.shared.entries.flatMap(\.keys))
    )

    // MARK: Building

    private mutating func add(
        _ reading: ManifestReading,
        _ skill: Int,
        _ raw: inout [[Share]],
        _ exampleFeatures: inout [[(feature: Int, weight: Float)]]
    ) {
        for (text, found) in zip(reading.manifest.examples, reading.examples) {
            let number = Int32(examples.count)
            examples.append(Example(skill: skill, text: text, norm: 0))
            var weighted: [(feature: Int, weight: Float)] = []
            weighted.reserveCapacity(found.count)
            for feature in found {
                let index = index(of: feature.key)
                inExamples[index].append(number)
                weighted.append((index, feature.weight))
            }
            exampleFeatures.append(weighted)
        }
        for (key, strength) in reading.strengths {
            words[index(of: key)].append(Share(skill: skill, strength: strength))
        }
        for (group, strength) in reading.groups { raw[group].append(Share(skill: skill, strength: strength)) }
        slips.add(words: reading.words, known: reading.keys)
    }

    private mutating func index(of key: UInt64) -> Int {
        if let known = features[key] { return Int(known) }
        let new = words.count
        features[key] = Int32(new)
        words.append([])
        inExamples.append([])
        return new
    }

    /// A group belongs to the skills that speak of it most; one that mentions it in passing gets little.
    private mutating func settleOwners(_ raw: [[Share]], _ lexicon: Lexicon) {
        var strongest = Array(repeating: Float(0), count: manifests.count)
        for group in lexicon.groups.indices where !lexicon.groups[group].isGrammar {
            let most = raw[group].map(\.strength).max() ?? 0
            guard most >= Self.ownership else { continue }
            owners[group] = raw[group].compactMap { share in
                let ratio = share.strength / most
                let strength = min(1, share.strength + 0.15) * ratio * ratio
                return strength >= 0.15 ? Share(skill: share.skill, strength: strength) : nil
            }
            for share in owners[group] where share.strength > strongest[share.skill] {
                strongest[share.skill] = share.strength
                roles[share.skill] = lexicon.groups[group].role
            }
        }
    }

    private mutating func settleRarity(_ exampleFeatures: [[(feature: Int, weight: Float)]]) {
        let count = Float(manifests.count)
        let most = logf((count + 1) / 1.5)
        var inSkills = [Int](repeating: 0, count: words.count)
        var last = [Int](repeating: -1, count: words.count)
        for (feature, list) in inExamples.enumerated() {
            for example in list where last[feature] != examples[Int(example)].skill {
                last[feature] = examples[Int(example)].skill
                inSkills[feature] += 1
            }
        }
        rarity = words.indices.map { feature in
            let frequency = Float(max(words[feature].count, inSkills[feature], 1))
            return max(0.05, min(1, logf((count + 1) / (frequency + 0.5)) / most))
        }
        for (number, list) in exampleFeatures.enumerated() {
            let sum = list.reduce(Float(0)) { sum, found in
                let weight = found.weight * rarity[found.feature]
                return sum + weight * weight
            }
            examples[number].norm = sum.squareRoot()
        }
    }

    /// How far cues may decide: 0, or 0.5 to 1 by the share of the skills that are alone of a kind which the lexicon knows.
    /// Skills that say the same of themselves count as one: what tells them from the others tells all of them.
    func cueTrust(_ lexicon: Lexicon) -> Double {
        let none = [Bool](repeating: false, count: manifests.count)
        var isAlone = none
        var isFirst = none
        for (group, owners) in owners.enumerated() {
            guard let first = owners.max(by: { $0.strength < $1.strength }), first.strength >= 0.5 else { continue }
            let description = manifests[first.skill].description
            let others = owners.filter { manifests[$0.skill].description != description }
            let next = others.map(\.strength).max() ?? 0
            for share in owners where manifests[share.skill].description == description && share.strength >= 0.5 {
                if next < 0.5 { isAlone[share.skill] = true }
                let isFirstOfText = share.strength >= 0.9 && next < 0.9 && lexicon.groups[group].kind == .topic
                if isFirstOfText { isFirst[share.skill] = true }
            }
        }
        let count = Double(max(manifests.count, 1))
        let textWorkers = isFirst.count { $0 }
        let isTextWork = textWorkers >= Self.leastTextWorkers && Double(textWorkers) / count >= Self.textWorkShare
        let known = Double(isAlone.count { $0 }) / count
        return max(known < Self.knownShare ? 0 : min(1, 2 * known - 0.6), isTextWork ? Self.textWorkTrust : 0)
    }

    // MARK: Scoring

    /// How a text's words compare with the manifests.
    struct Comparison {
        /// By skill: the share of the text's subject that the manifest speaks of, 0 to 1.
        var lexical: [Double]
        /// By skill: the cosine of the best example.
        var similarity: [Double]
        /// By skill: the best example.
        var example: [Int32]
        /// Features that spoke for a skill, with the units they came from.
        var spoken: Set<UInt64>

        /// Nothing in common with any of so many skills.
        static func none(of count: Int) -> Comparison {
            let zeros = [Double](repeating: 0, count: count)
            return Comparison(
                lexical: zeros,
                similarity: zeros,
                example: Array(repeating: -1, count: count),
                spoken: []
            )
        }
    }

    func compare(_ found: Features) -> Comparison {
        var matched = [Float](repeating: 0, count: manifests.count)
        var dots = [Float](repeating: 0, count: examples.count)
        var mass: Float = 0
        var norm: Float = 0
        var spoken: Set<UInt64> = []
        for feature in found.list {
            guard let number = features[feature.key].map(Int.init) else {
                norm += feature.weight * feature.weight
                if feature.isContent { mass += 0.5 }
                continue
            }
            let rare = rarity[number]
            let weight = feature.weight * rare
            norm += weight * weight
            for example in inExamples[number] { dots[Int(example)] += weight * weight }
            guard feature.isContent else { continue }
            mass += rare
            for share in words[number] { matched[share.skill] += rare * share.strength }
            if !words[number].isEmpty { spoken.insert(feature.key) }
        }
        var similarity = [Double](repeating: 0, count: manifests.count)
        var best = [Int32](repeating: -1, count: manifests.count)
        let length = norm.squareRoot()
        for (number, dot) in dots.enumerated() where dot > 0 {
            let example = examples[number]
            let cosine = Double(dot / max(0.0001, length * example.norm))
            if cosine > similarity[example.skill] {
                similarity[example.skill] = min(1, cosine)
                best[example.skill] = Int32(number)
            }
        }
        let lexical = matched.map { matched -> Double in
            guard matched > 0 else { return 0 }
            return Double(0.5 * matched / max(mass, 1) + 0.5 * (1 - expf(-matched)))
        }
        return Comparison(lexical: lexical, similarity: similarity, example: best, spoken: spoken)
    }

    /// Whether a mention of a deed is one of a skill that owns its group. Deeds are broad kinds: what finds a telephone does
    /// not turn off the lights. A manifest that is written in the language of the mention has to say a word of it.
    func isOwn(_ mention: Reading.Mention, of skill: Int, in units: Units) -> Bool {
        guard mention.isHan ? readings[skill].isInHan : readings[skill].isInLetters else { return true }
        return mention.range.contains { position in
            units.subject(at: position, in: mention.range).map { speaks(skill, of: $0.key) } ?? false
        }
    }

    /// Whether a skill speaks of a feature.
    func speaks(_ skill: Int, of key: UInt64) -> Bool {
        guard let number = features[key] else { return false }
        return words[Int(number)].contains { $0.skill == skill }
    }
}
