internal import Glibc
internal import Text
internal import Wire

/// What is learned from the manifests' examples: which skill a text is most like, and whether it is like any.
struct SkillLearner: Sendable {
    /// What it says of a text.
    struct Judgement {
        /// By skill: how far the text is on its side.
        let scores: [Float]
        /// By skill: its share of the chance, 1 in sum.
        let shares: [Double]
        /// Figures from which the chance follows that the text is for any of them.
        let figures: [Double]
    }

    /// Grams that are numbered at most before those that occur once are left out.
    private static let featureLimit = 1 << 17
    /// How sharply the shares tell skills apart.
    private static let sharpness = 6.0

    private let vocabulary: Vocabulary
    private let classifier: LinearClassifier
    private let density: Double

    /// Learns. Takes milliseconds for tens of examples, seconds for ten thousand.
    /// - Returns: nil for fewer than two skills.
    init?(_ manifests: [SkillManifest]) {
        guard manifests.count > 1 else { return nil }
        var texts: [Grams] = []
        var subjects: [(grams: Grams, related: [Associations.Term: Float])] = []
        var classes: [Int32] = []
        for (skill, manifest) in manifests.enumerated() {
            let name = manifest.id.split(separator: "-").joined(separator: " ")
            let described = name + "\n" + manifest.displayName + "\n" + manifest.description
            subjects.append(Self.subject(Units(described)))
            for text in [described] + manifest.examples {
                texts.append(Grams(Units(text)))
                classes.append(Int32(skill))
            }
        }
        vocabulary = Vocabulary(texts, related: subjects.map(\.related), limit: Self.featureLimit)
        classifier = LinearClassifier(
            texts.map { [vocabulary] in vocabulary.vector($0).0 },
            profiles: subjects.map { [vocabulary] in vocabulary.profile($0.grams, related: $0.related) },
            classes: classes,
            classCount: manifests.count,
            featureCount: vocabulary.count
        )
        density = log(Double(texts.count) / Double(manifests.count))
    }

    /// What a description is about, without its words of grammar, and what is related to that.
    private static func subject(_ units: Units) -> (Grams, [Associations.Term: Float]) {
        let isContent = units.list.map { unit in
            unit.kind != .word || !StopWords.containsEnglish(folded: Units.string(units.scalars[unit.start..<unit.end]))
        }
        let grams = isContent.contains(true) ? Grams(units, isActive: isContent) : Grams(units)
        let words = grams.words.map { Associations.Term(key: $0.key, isHan: false) }
        let runs = grams.pieces.map { Associations.Term(key: $0.key, isHan: true) }
        return (grams, Associations.shared.related(to: words + runs))
    }

    /// Judges a text.
    func judge(_ units: Units, isActive: [Bool]? = nil) -> Judgement {
        let grams = Grams(units, isActive: isActive)
        let (vector, novelty) = vocabulary.vector(grams)
        let scores = classifier.scores(vector)
        var top: [Float] = Array(repeating: -.infinity, count: 5)
        for score in scores where score > top[4] {
            top[4] = score
            var place = 4
            while place > 0, top[place] > top[place - 1] {
                top.swapAt(place, place - 1)
                place -= 1
            }
        }
        let best = Double(top[0])
        let known = top.filter { $0 > -.infinity }
        let powers = scores.map { exp(Self.sharpness * (Double($0) - best)) }
        let sum = powers.reduce(0, +)
        return Judgement(
            scores: scores,
            shares: powers.map { $0 / sum },
            figures: [
                best, best - Double(top[1]), Double(known.reduce(0, +)) / Double(known.count),
                Double(novelty.words), Double(novelty.pairs), Double(novelty.pieces),
                log(Double(grams.words.reduce(0) { $0 + $1.count }) + 1), density, log(Double(scores.count)),
            ]
        )
    }
}
