internal import Text

/// Chooses sentences that score well and say different things.
struct PointSelection {
    /// Two sentences more alike than this say the same.
    private static let same = 0.75
    /// Candidates that are looked at: the best by score.
    private static let candidates = 500

    /// The weights of the features.
    var weights: Weights

    /// Makes a selection for a kind of document.
    init(isDialogue: Bool) {
        weights = isDialogue ? .dialogue : Weights()
    }

    /// A selection with weights of its own.
    init(weights: Weights) { self.weights = weights }

    /// Weights of the features in the score, tuned on public collections of summaries; and how much a sentence loses by
    /// being like one that is chosen already.
    struct Weights {
        var frequency = 1.0
        var centrality = 0.6
        var agreement = 0.6
        var lead = 0.8
        var close = 0.1
        var opening = 0.1
        var heading = 0.4
        var figures = 0.2
        var names = 0.1
        var cue = 0.4
        var length = 0.5
        var dangling = -0.2
        var aside = -0.4
        var redundancy = 0.6

        /// In talk nothing stands out by its place.
        static let dialogue = Weights(frequency: 1.5, lead: 0, close: 0, opening: 0)
    }

    /// The score of a sentence by its features.
    func score(_ features: SentenceFeatures) -> Double {
        var score = weights.frequency * features.frequency + weights.centrality * features.centrality
        score += weights.agreement * features.agreement + weights.lead * features.lead + weights.close * features.close
        score += weights.opening * features.opening + weights.heading * features.heading
        score += weights.figures * features.figures + weights.names * features.names + weights.cue * features.cue
        score += weights.length * features.length + weights.dangling * features.dangling
        return score + weights.aside * features.aside
    }

    /// Numbers of the chosen sentences, in the order of the document, with their scores.
    func chosen(
        _ count: Int,
        of document: SourceDocument,
        scorer: SentenceScorer,
        features: [SentenceFeatures]
    ) -> [(index: Int, score: Double)] {
        let scores = features.map(score)
        let ranked = Array(scores.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }.prefix(Self.candidates))
        let termWeights = document.vocabulary.frequencies.indices.map { scorer.rarity(Int32($0)) }
        let vectors = ranked.map { TermVector(document.sentences[$0].reading.terms, weights: termWeights) }
        var likest = [Double](repeating: 0, count: ranked.count)
        var isTaken = [Bool](repeating: false, count: ranked.count)
        var chosen: [Int] = []
        while chosen.count < count {
            var best: Int?
            var bestValue = -Double.infinity
            for position in ranked.indices where !isTaken[position] && likest[position] < Self.same {
                let value = scores[ranked[position]] - weights.redundancy * likest[position]
                if value > bestValue {
                    best = position
                    bestValue = value
                }
            }
            guard let best else { break }
            isTaken[best] = true
            chosen.append(ranked[best])
            for position in ranked.indices where !isTaken[position] {
                likest[position] = max(likest[position], vectors[best].cosine(vectors[position]))
            }
        }
        return chosen.sorted().map { ($0, scores[$0]) }
    }
}
