internal import Glibc

/// The grams of a set of texts, numbered, with their rarity (inverse document frequency).
struct Vocabulary: Sendable {
    /// A text as numbers of grams and weights.
    struct Vector: Sendable {
        var features: [Int32] = []
        var values: [Float] = []

        /// The length of a block; 1 where there is nothing in it.
        func length(of block: some RangeExpression<Int>) -> Float {
            let sum = values[block].reduce(Float(0)) { $0 + $1 * $1 }
            return sum > 0 ? sum.squareRoot() : 1
        }

        mutating func scale(_ block: some RangeExpression<Int>, by factor: Float) {
            for place in block.relative(to: values) { values[place] *= factor }
        }
    }

    /// Lengths of the blocks of a vector: of words with their neighbours and of pieces, and of words with their company.
    private static let blockLength: Float = 0.85
    private static let companyLength: Float = 0.75
    /// The length of the pieces of a profile, beside words of length 1.
    private static let piecesInProfile: Float = 0.35

    /// The shares of a text's mass that no training text has, 0 to 1.
    struct Novelty {
        var words: Float = 0
        var pairs: Float = 0
        var pieces: Float = 0
    }

    private let numbers: KeyTable
    private let rarity: [Float]
    /// The rarity of what no text has.
    private let strange: Float
    /// Grams from this number on are in no text, only related to those that are.
    private let firstRelated: Int32

    /// How many grams there are.
    var count: Int { rarity.count }

    /// Numbers the grams of the texts, then what is only related to them. Of more than `limit` grams, the ones that occur
    /// only once are left out.
    init(_ texts: [Grams], related: [[Associations.Term: Float]], limit: Int) {
        var frequencies: [UInt64: Int32] = [:]
        for text in texts {
            for block in [text.words, text.pairs, text.company, text.pieces] {
                for gram in block { frequencies[gram.key, default: 0] += 1 }
            }
        }
        let least: Int32 = frequencies.count > limit ? 2 : 1
        let known = frequencies.filter { $0.value >= least }
        var others: [UInt64: Int32] = [:]
        for term in related.lazy.flatMap(\.keys) where known[term.key] == nil { others[term.key, default: 0] += 1 }
        var table = KeyTable(capacity: known.count + others.count)
        var rarity: [Float] = []
        let total = Float(texts.count)
        // In the order of their keys, so that the same texts give the same numbers.
        for (key, count) in [known, others].flatMap({ $0.sorted { $0.key < $1.key } }) {
            table.insert(key, Int32(rarity.count))
            rarity.append(logf((total + 1) / (Float(count) + 1)) + 1)
        }
        numbers = table
        self.rarity = rarity
        firstRelated = Int32(known.count)
        strange = logf(total + 1) + 1
    }

    /// A text as a vector: counts damped by the logarithm, times rarity, each block of a length of its own.
    func vector(_ text: Grams) -> (Vector, Novelty) {
        var vector = Vector()
        let most = text.words.count + text.pairs.count + text.company.count + text.pieces.count
        vector.features.reserveCapacity(most)
        vector.values.reserveCapacity(most)
        var novelty = Novelty()
        novelty.words = append(text.words, to: &vector)
        novelty.pairs = append(text.pairs, to: &vector)
        let first = vector.values.count
        _ = append(text.company, to: &vector)
        let second = vector.values.count
        novelty.pieces = append(text.pieces, to: &vector)
        vector.scale(0..<first, by: Self.blockLength / vector.length(of: 0..<first))
        vector.scale(first..<second, by: Self.companyLength / vector.length(of: first..<second))
        vector.scale(second..., by: Self.blockLength / vector.length(of: second...))
        return (vector, novelty)
    }

    /// What a text is about, with what is related to it: a vector that others are compared with. The text's own part of a
    /// block gives it its length; what is related comes on top.
    func profile(_ text: Grams, related: [Associations.Term: Float]) -> Vector {
        var vector = Vector()
        for isHan in [false, true] {
            let first = vector.values.count
            _ = append(isHan ? text.pieces : text.words, to: &vector)
            if !isHan { _ = append(text.pairs, to: &vector) }
            let length = vector.length(of: first...)
            for (term, share) in related where term.isHan == isHan {
                guard let number = numbers[term.key] else { continue }
                vector.features.append(number)
                vector.values.append(share * rarity[Int(number)])
            }
            vector.scale(first..., by: (isHan ? Self.piecesInProfile : 1) / length)
        }
        return vector
    }

    /// Adds what is known of some grams. Returns the share that is not.
    private func append(_ grams: [Grams.Gram], to vector: inout Vector) -> Float {
        var known: Float = 0
        var unknown: Float = 0
        for gram in grams {
            guard let number = numbers[gram.key] else {
                unknown += strange
                continue
            }
            let rare = rarity[Int(number)]
            vector.features.append(number)
            vector.values.append((1 + logf(gram.count)) * rare)
            if number < firstRelated { known += rare } else { unknown += strange }
        }
        return unknown / max(known + unknown, 0.001)
    }
}

/// A table from keys that are hashes to numbers. A dictionary would hash them again, and take four times the memory.
struct KeyTable: Sendable {
    private var keys: [UInt64]
    private var values: [Int32]
    private let mask: Int

    init(capacity: Int) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        keys = Array(repeating: 0, count: size)
        values = Array(repeating: -1, count: size)
        mask = size - 1
    }

    private func place(_ key: UInt64) -> Int {
        var place = Int(truncatingIfNeeded: key &* 0x9E37_79B9_7F4A_7C15 >> 20) & mask
        while values[place] >= 0, keys[place] != key { place = (place + 1) & mask }
        return place
    }

    mutating func insert(_ key: UInt64, _ value: Int32) {
        let place = place(key)
        keys[place] = key
        values[place] = value
    }

    subscript(key: UInt64) -> Int32? {
        let value = values[place(key)]
        return value >= 0 ? value : nil
    }
}
