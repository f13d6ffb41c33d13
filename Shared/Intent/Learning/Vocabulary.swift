internal import Glibc

/// The grams of a set of texts, numbered, with their rarity (inverse document frequency).
struct Vocabulary: Sendable {
    /// A text as numbers of grams and weights.
    struct Vector: Sendable {
        var features: [Int32] = []
        var values: [Float] = []
    }

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

    /// How many grams there are.
    var count: Int { rarity.count }

    /// Numbers the grams of the texts. Of more than `limit`, the ones that occur only once are left out.
    init(_ texts: [Grams], limit: Int) {
        var frequencies: [UInt64: Int32] = [:]
        for text in texts {
            for block in [text.words, text.pairs, text.pieces] {
                for gram in block { frequencies[gram.key, default: 0] += 1 }
            }
        }
        let least: Int32 = frequencies.count > limit ? 2 : 1
        var table = KeyTable(capacity: frequencies.count)
        var rarity: [Float] = []
        let total = Float(texts.count)
        // In the order of their keys, so that the same texts give the same numbers.
        for (key, count) in frequencies.filter({ $0.value >= least }).sorted(by: { $0.key < $1.key }) {
            table.insert(key, Int32(rarity.count))
            rarity.append(logf((total + 1) / (Float(count) + 1)) + 1)
        }
        numbers = table
        self.rarity = rarity
        strange = logf(total + 1) + 1
    }

    /// A text as a vector: counts damped by the logarithm, times rarity, each block of length one.
    func vector(_ text: Grams) -> (Vector, Novelty) {
        var vector = Vector()
        let most = text.words.count + text.pairs.count + text.pieces.count
        vector.features.reserveCapacity(most)
        vector.values.reserveCapacity(most)
        var novelty = Novelty()
        novelty.words = append(text.words, to: &vector)
        novelty.pairs = append(text.pairs, to: &vector)
        let first = vector.values.count
        novelty.pieces = append(text.pieces, to: &vector)
        for block in [0..<first, first..<vector.values.count] {
            let sum = block.reduce(Float(0)) { $0 + vector.values[$1] * vector.values[$1] }
            guard sum > 0 else { continue }
            let scale = 1 / sum.squareRoot()
            for place in block { vector.values[place] *= scale }
        }
        return (vector, novelty)
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
            known += rare
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
