internal import Text

/// Chooses sentences that score well and say different things.
struct PointSelection {
    /// Two sentences more alike than this say the same.
    private static let same = 0.75
    /// Candidates that are looked at: the best by score.
    private static let candidates = 500

    /// What has fewer words is a noise of talk.
    private static let fewestWords = 4

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
        var frequency = 1.45
        var centrality = -0.15
        var agreement = 1.3
        var lead = 0.75
        var close = -0.3
        var opening = 0.1
        var heading = 0.4
        var figures = 0.1
        var names = 0.1
        var cue = 0.5
        var length = 0.1
        var fullness = 0.4
        var dangling = -0.3
        var aside = -0.4
        var redundancy = 0.4

        /// In talk, frequent words say little, and most sentences are too short to say anything.
        static let dialogue = Weights(
            frequency: -0.2,
            centrality: 0,
            agreement: 0.7,
            lead: 0.6,
            close: 0,
            opening: 0,
            names: 0.4,
            cue: 0.6,
            length: 0.5,
            fullness: 0.8,
            dangling: -0.6,
            redundancy: 0.6
        )
    }

    /// The score of a sentence by its features.
    func score(_ features: SentenceFeatures) -> Double {
        var score = weights.frequency * features.frequency + weights.centrality * features.centrality
        score += weights.agreement * features.agreement + weights.lead * features.lead + weights.close * features.close
        score += weights.opening * features.opening + weights.heading * features.heading
        score += weights.figures * features.figures + weights.names * features.names + weights.cue * features.cue
        score += weights.length * features.length + weights.fullness * features.fullness
        score += weights.dangling * features.dangling
        return score + weights.aside * features.aside
    }

    /// Numbers of the chosen sentences, in the order of the document, with their scores.
    func chosen(
        _ count: Int,
        of document: SourceDocument,
        scorer: SentenceScorer,
        features: [SentenceFeatures]
    ) throws -> [(index: Int, score: Double)] {
        let isWorthSaying = document.sentences.map { !document.isDialogue || $0.reading.words >= Self.fewestWords }
        let hasChoice = isWorthSaying.count(where: \.self) >= count
        let scores = features.indices.map { hasChoice && !isWorthSaying[$0] ? -100 : score(features[$0]) }
        let ranked = Array(scores.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }.prefix(Self.candidates))
        let termWeights = document.vocabulary.frequencies.indices.map { scorer.rarity(Int32($0)) }
        let vectors = ranked.map { TermVector(document.sentences[$0].reading.terms, weights: termWeights) }
        var likest = [Double](repeating: 0, count: ranked.count)
        var isTaken = [Bool](repeating: false, count: ranked.count)
        var chosen: [Int] = []
        while chosen.count < count {
            try Task.checkCancellation()
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
