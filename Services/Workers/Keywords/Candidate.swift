/// A phrase that may be a keyword: all places of it in the text, in whatever spelling.
struct Candidate {
    /// Its words.
    let words: [PhraseWord]
    /// How often it occurs.
    var count = 0
    /// How often it stands alone between borders.
    var whole = 0
    /// How many of its ends were borders, at best: 2 where it once stood alone.
    var borders = 0
    /// Where it was first, as a part of the text.
    let first: Double
    /// Whether a title has it.
    var isInTitle = false
    /// The greatest count of a longer phrase around it.
    var longer = 0
    /// Spellings and how often each occurs.
    private var spellings: [(text: String, count: Int)] = []

    /// Spellings of one phrase that are told apart at most.
    private static let mostSpellings = 8

    init(words: [PhraseWord], first: Double) {
        self.words = words
        self.first = first
    }

    /// Notes a place of it.
    mutating func occurs(as words: ArraySlice<PhraseWord>) {
        count += 1
        // Han characters have one.
        guard words.contains(where: { !$0.isHan }) else { return }
        let spelling = Self.joined(words)
        if let known = spellings.firstIndex(where: { $0.text == spelling }) {
            spellings[known].count += 1
        } else if spellings.count < Self.mostSpellings {
            spellings.append((spelling, 1))
        }
    }

    /// The most usual spelling; of equally usual ones the plainest: small, and short.
    var spelling: String {
        let best = spellings.max { one, other in
            if one.count != other.count { return one.count < other.count }
            let capitals = (Self.capitals(one.text), Self.capitals(other.text))
            if capitals.0 != capitals.1 { return capitals.0 > capitals.1 }
            return (one.text.utf8.count, one.text) > (other.text.utf8.count, other.text)
        }
        return best?.text ?? Self.joined(words[...])
    }

    private static func joined(_ words: ArraySlice<PhraseWord>) -> String {
        var text = ""
        for word in words { text += (text.isEmpty || !word.isSpaced ? "" : " ") + word.text }
        return text
    }

    private static func capitals(_ text: String) -> Int { text.utf8.count { 0x41...0x5A ~= $0 } }
}
