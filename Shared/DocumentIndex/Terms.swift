internal import Text

/// Words as the index has them: folded, in simplified characters, English ones stemmed.
struct Terms {
    private let segmenter = WordSegmenter()
    private var stems: [String: String] = [:]

    /// A word of a text in its index form, with its place in the bytes of the text.
    struct Term {
        var form: String
        var range: Range<Int>
        var isHan: Bool
    }

    /// The form of one word, as `text` has it.
    private mutating func form(_ word: Word) -> String {
        if let known = stems[word.text] { return known }
        var form = Normalizer.fold(word.text)
        switch word.kind {
        case .han: form = ChineseScript.simplified(form)
        case .letters: form = Stemmer.english.stem(Self.withoutPossessive(form))
        case .number, .other: break
        }
        if stems.count > 50_000 { stems.removeAll() }
        stems[word.text] = form
        return form
    }

    /// ICU keeps `Raft's` together.
    private static func withoutPossessive(_ word: String) -> String {
        for ending in ["'s", "\u{2019}s"] where word.hasSuffix(ending) { return String(word.dropLast(2)) }
        return word
    }

    /// Every word of a text.
    mutating func terms(in text: String) -> [Term] {
        segmenter.words(in: text).map { Term(form: form($0), range: $0.range, isHan: $0.isHan) }
    }

    /// What the full-text table gets: words with spaces between, and each Han character on its own, by which words are
    /// found that stand within a longer one.
    mutating func indexed(_ text: String) -> (words: String, characters: String) {
        var words = ""
        var characters = ""
        words.reserveCapacity(text.utf8.count + text.utf8.count / 4)
        for term in terms(in: text) {
            if !words.isEmpty { words += " " }
            words += term.form
            if term.isHan {
                for character in term.form {
                    if !characters.isEmpty { characters += " " }
                    characters.append(character)
                }
            } else if !characters.isEmpty, !characters.hasSuffix(" .") {
                // Keeps characters that only met across a foreign word apart.
                characters += " x"
            }
        }
        return (words, characters)
    }
}
