internal import Glibc
internal import Text

/// Scores the sentences of a document: what is said often, early, with figures, and much like the rest.
struct SentenceScorer {
    /// The graph of sentences is quadratic: it has no more than this many, the best by the other features.
    static let graphSize = 400
    /// The wording is looked at in no more sentences than this, the best by the other features.
    private static let readClosely = 2000

    private let document: SourceDocument
    /// Weight of each term: how much of the document it is.
    private let termWeights: [Double]

    init(_ document: SourceDocument) {
        self.document = document
        let sentenceCount = Double(max(1, document.sentences.count))
        var containing = [Int](repeating: 0, count: document.vocabulary.frequencies.count)
        for sentence in document.sentences {
            for term in sentence.reading.distinct { containing[Int(term)] += 1 }
        }
        termWeights = containing.map { log(1 + sentenceCount / Double(max(1, $0))) }
    }

    /// The weight of a term, for those who compare sentences.
    func rarity(_ term: Int32) -> Double { termWeights[Int(term)] }

    /// How much a piece of a sentence says: its terms by how often the document has them, and its figures.
    func value(_ piece: String) -> Double {
        let (terms, figures) = document.vocabulary.recall(piece)
        var value = 1.5 * Double(min(2, figures))
        for term in terms { value += 1 + log(Double(max(1, document.vocabulary.frequencies[Int(term)]))) }
        return Phrases(piece, language: document.language).dangles ? value * 0.6 : value
    }

    /// The features of every sentence.
    func features() throws -> [SentenceFeatures] {
        var features = document.sentences.map(plainFeatures)
        try Task.checkCancellation()
        addCentrality(&features)
        try Task.checkCancellation()
        let rough = features.indices.sorted {
            features[$0].frequency + features[$0].centrality + features[$0].lead
                > features[$1].frequency + features[$1].centrality + features[$1].lead
        }
        try addAgreement(&features, among: Array(rough.prefix(Self.graphSize)))
        for index in rough.prefix(Self.readClosely) {
            try Task.checkCancellation()
            let phrases = Phrases(document.sentences[index].text, language: document.language)
            features[index].cue = phrases.announces ? 1 : 0
            features[index].dangling = phrases.dangles ? 1 : 0
            features[index].aside = phrases.asks ? 1 : 0
        }
        return features
    }

    private func plainFeatures(_ sentence: SourceSentence) -> SentenceFeatures {
        let reading = sentence.reading
        let count = document.sentences.count
        let isChinese = document.language == .chinese
        let words = Double(reading.words)
        var features = SentenceFeatures()
        var sum = 0.0
        let distinct = reading.distinct
        for term in distinct {
            let frequency = Double(document.vocabulary.frequencies[Int(term)])
            sum += frequency > 1 ? log(1 + frequency) : 0.3
        }
        features.frequency = sum / max(6, words).squareRoot()
        features.lead = 1 / (1 + Double(sentence.index))
        features.close = 1 / (1 + Double(count - 1 - sentence.index))
        features.opening = sentence.opensBlock ? 1 : 0
        if !document.headingTerms.isEmpty {
            let shared = distinct.count { document.headingTerms.contains($0) }
            features.heading = Double(shared) / Double(max(4, distinct.count))
        }
        features.figures = min(1, Double(reading.figures.count) / 2)
        features.names = min(1, Double(reading.names) / 4)
        let wanted = isChinese ? 12.0 : 14.0
        features.length = min(1, words / wanted)
        features.fullness = min(1, words / (3 * wanted))
        return features
    }

    /// Likeness to the sum of all sentences.
    private func addCentrality(_ features: inout [SentenceFeatures]) {
        var centroid = [Double](repeating: 0, count: termWeights.count)
        for sentence in document.sentences {
            for term in sentence.reading.terms { centroid[Int(term)] += termWeights[Int(term)] }
        }
        var best = 1e-9
        for (index, sentence) in document.sentences.enumerated() {
            var product = 0.0
            var square = 0.0
            for term in sentence.reading.terms {
                product += termWeights[Int(term)] * centroid[Int(term)]
                square += termWeights[Int(term)] * termWeights[Int(term)]
            }
            guard square > 0 else { continue }
            features[index].centrality = product / square.squareRoot()
            best = max(best, features[index].centrality)
        }
        for index in features.indices { features[index].centrality /= best }
        let most = max(1e-9, features.map(\.frequency).max() ?? 0)
        for index in features.indices { features[index].frequency /= most }
    }

    /// LexRank: the weight that a walk over likeness gives a sentence, among the chosen ones.
    private func addAgreement(_ features: inout [SentenceFeatures], among chosen: [Int]) throws {
        guard chosen.count > 2 else { return }
        let vectors = chosen.map { TermVector(document.sentences[$0].reading.terms, weights: termWeights) }
        let count = chosen.count
        var likeness = [Double](repeating: 0, count: count * count)
        for one in 0..<count {
            try Task.checkCancellation()
            for other in one + 1..<count {
                let value = vectors[one].cosine(vectors[other])
                guard value > 0.05 else { continue }
                likeness[one * count + other] = value
                likeness[other * count + one] = value
            }
        }
        for row in 0..<count {
            let sum = likeness[row * count..<(row + 1) * count].reduce(0, +)
            guard sum > 0 else { continue }
            for column in 0..<count { likeness[row * count + column] /= sum }
        }
        var rank = [Double](repeating: 1 / Double(count), count: count)
        for _ in 0..<20 {
            var next = [Double](repeating: 0.15 / Double(count), count: count)
            for row in 0..<count where rank[row] > 0 {
                for column in 0..<count { next[column] += 0.85 * rank[row] * likeness[row * count + column] }
            }
            rank = next
        }
        let best = max(1e-12, rank.max() ?? 0)
        for (position, index) in chosen.enumerated() { features[index].agreement = rank[position] / best }
    }
}
