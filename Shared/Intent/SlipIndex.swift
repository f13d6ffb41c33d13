internal import Text

/// Corrects slips of the keyboard in words that routing would otherwise not know: one letter missing, doubled, wrong or
/// exchanged with its neighbour.
struct SlipIndex: Sendable {
    /// The lexicon's words. No model adds to them, so that all share them: to copy them would be most of the time that a
    /// change of the registry takes.
    private let usual: Words
    /// The manifests' words.
    private var own = Words()

    init(words: [String], known: Set<UInt64>) {
        var usual = Words(known: known)
        usual.reserveCapacity(words.count)
        for word in words { usual.insert(Array(word.utf8)) }
        self.usual = usual
    }

    mutating func add(words: [String], known more: some Sequence<UInt64>) {
        own.known.formUnion(more)
        for word in words {
            let bytes = Array(word.utf8)
            if !usual.contains(bytes) { own.insert(bytes) }
        }
    }

    /// The known word that a word is a slip of; nil for known words and strangers.
    func correction(of word: String, key: UInt64) -> String? {
        let bytes = Array(word.utf8)
        guard Words.mayHold(bytes), !usual.known.contains(key), !own.known.contains(key),
            !StopWords.containsEnglish(folded: word)
        else { return nil }
        return (usual.nearest(bytes) ?? own.nearest(bytes)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Words, to be found by spellings that are one edit away.
private struct Words: Sendable {
    /// Shorter words are too near to other words; of four letters, only an exchange of two is undone.
    private static let shortest = 4
    private static let longest = 24

    /// Keys of words that are right as they are.
    var known: Set<UInt64> = []
    private var words: [[UInt8]] = []
    /// By each spelling of a word with one letter left out, and by its own: the first of its links.
    private var spellings: [UInt64: Int32] = [:]
    /// Words of one spelling, as a list.
    private var links: [(word: Int32, next: Int32)] = []

    init(known: Set<UInt64> = []) { self.known = known }

    mutating func reserveCapacity(_ count: Int) { spellings.reserveCapacity(count * 9) }

    static func mayHold(_ bytes: [UInt8]) -> Bool {
        shortest...longest ~= bytes.count && bytes.allSatisfy { 0x61...0x7A ~= $0 }
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        candidates(Self.hash(bytes, without: -1)).contains { words[Int($0)] == bytes }
    }

    mutating func insert(_ bytes: [UInt8]) {
        guard Self.mayHold(bytes), !contains(bytes) else { return }
        let number = Int32(words.count)
        words.append(bytes)
        for left in -1..<bytes.count {
            let spelling = Self.hash(bytes, without: left)
            links.append((number, spellings[spelling] ?? -1))
            spellings[spelling] = Int32(links.count - 1)
        }
    }

    /// The words that have a spelling.
    private func candidates(_ spelling: UInt64) -> [Int32] {
        guard var link = spellings[spelling] else { return [] }
        var found: [Int32] = []
        while link >= 0 {
            found.append(links[Int(link)].word)
            link = links[Int(link)].next
        }
        return found
    }

    /// The first word that a spelling is a slip of.
    func nearest(_ bytes: [UInt8]) -> [UInt8]? {
        guard !words.isEmpty else { return nil }
        var best: Int32?
        for left in -1..<bytes.count {
            for candidate in candidates(Self.hash(bytes, without: left))
            where best.map({ candidate < $0 }) ?? true && Self.isSlip(bytes, of: words[Int(candidate)]) {
                best = candidate
            }
        }
        return best.map { words[Int($0)] }
    }

    private static func hash(_ bytes: [UInt8], without left: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for (index, byte) in bytes.enumerated() where index != left {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        return hash
    }

    /// Whether one edit leads from a word to another, or two edits between long ones that begin alike.
    private static func isSlip(_ typed: [UInt8], of word: [UInt8]) -> Bool {
        guard typed != word, abs(typed.count - word.count) <= 1 else { return false }
        let shorter = min(typed.count, word.count)
        var head = 0
        while head < shorter, typed[head] == word[head] { head += 1 }
        var tail = 0
        while tail < shorter - head, typed[typed.count - 1 - tail] == word[word.count - 1 - tail] { tail += 1 }
        let typedRest = typed[head..<typed.count - tail]
        let wordRest = word[head..<word.count - tail]
        if typedRest.count == 2, wordRest.count == 2 { return typedRest.elementsEqual(wordRest.reversed()) }
        return shorter >= 4 && max(typed.count, word.count) >= 5 && typedRest.count <= 1 && wordRest.count <= 1
            && (head > 0 || typedRest.count != wordRest.count)
    }
}
