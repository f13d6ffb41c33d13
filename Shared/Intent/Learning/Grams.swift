internal import Glibc

/// What a learner sees of a text: words with their pairs, and pieces of words and runs of Han characters.
///
/// Three blocks, each of which is scaled to a length of its own, so that none drowns another. A word's pieces know its
/// beginning and end; pieces forgive slips and endings, pairs keep the order of words, and company forgives it.
struct Grams {
    /// A key and how often it occurs.
    struct Gram {
        let key: UInt64
        var count: Float
    }

    /// Words, numbers and Han characters.
    private(set) var words: [Gram] = []
    /// Pairs of neighbours, and pairs with one word between. One block with the words.
    private(set) var pairs: [Gram] = []
    /// Pairs of words that stand near each other, in whichever order: "card … lost" and "lost … card".
    private(set) var company: [Gram] = []
    /// Three to five letters of a word, one to four Han characters.
    private(set) var pieces: [Gram] = []

    /// Longer texts are read up to here; what is an instruction is shorter.
    private static let limit = 256
    /// Runs of Han characters are taken up to this length.
    static let longestRun = 4
    private static let emptyRun: UInt64 = 0x48A1
    /// How far apart two words are that stand near each other.
    private static let reach = 7

    /// The grams of the units that are active; of all without `isActive`.
    init(_ units: Units, isActive: [Bool]? = nil) {
        var keys: [UInt64] = []
        var runs: [UInt64] = []
        var tokens: [UInt64] = []
        var run: [UInt32] = []
        let list = units.list
        func endRun() {
            guard !run.isEmpty else { return }
            for start in run.indices {
                var key = Self.emptyRun
                for scalar in run[start...].prefix(Self.longestRun) {
                    key = Key.mix(key, UInt64(scalar))
                    runs.append(key)
                }
            }
            run.removeAll(keepingCapacity: true)
        }
        for (position, unit) in list.prefix(Self.limit).enumerated() {
            if let isActive, !isActive[position] {
                endRun()
                continue
            }
            switch unit.kind {
            case .word:
                endRun()
                tokens.append(unit.key)
                Self.pieces(units.scalars[unit.start..<unit.end], into: &runs)
            case .number:
                endRun()
                tokens.append(unit.key)
            case .han:
                tokens.append(unit.key)
                run.append(unit.scalar)
            case .mark:
                endRun()
                if unit.scalar == 0x3F { tokens.append(unit.key) }
            case .lineEnd: endRun()
            }
        }
        endRun()
        keys.reserveCapacity(tokens.count * 2)
        for (position, token) in tokens.enumerated() {
            if position > 0 { keys.append(Key.mix(tokens[position - 1], token)) }
            if position > 1 { keys.append(Key.mix(Key.mix(tokens[position - 2], 0x5C1F), token)) }
        }
        var near: [UInt64] = []
        near.reserveCapacity(tokens.count * Self.reach)
        for (position, token) in tokens.enumerated() {
            for other in tokens[max(0, position - Self.reach)..<position] {
                near.append(Key.mix(Key.mix(min(token, other), 0x7A1E), max(token, other)))
            }
        }
        company = Self.counted(&near)
        words = Self.counted(&tokens)
        pairs = Self.counted(&keys)
        pieces = Self.counted(&runs)
    }

    /// The key of a run of Han characters.
    static func run(_ scalars: ArraySlice<UInt32>) -> UInt64 {
        scalars.reduce(emptyRun) { Key.mix($0, UInt64($1)) }
    }

    private static func pieces(_ word: ArraySlice<UInt32>, into keys: inout [UInt64]) {
        let count = min(word.count, 24) + 2
        let first = word.startIndex
        for start in 0..<count {
            var key: UInt64 = 0xC4A3
            for length in 1...5 {
                let place = start + length - 1
                guard place < count else { break }
                let scalar: UInt64 = place == 0 || place == count - 1 ? 0x20 : UInt64(word[first + place - 1])
                key = Key.mix(key, scalar)
                if length >= 3 { keys.append(key) }
            }
        }
    }

    private static func counted(_ keys: inout [UInt64]) -> [Gram] {
        keys.sort()
        var grams: [Gram] = []
        grams.reserveCapacity(keys.count)
        for key in keys {
            if grams.last?.key == key {
                grams[grams.count - 1].count += 1
            } else {
                grams.append(Gram(key: key, count: 1))
            }
        }
        return grams
    }
}
