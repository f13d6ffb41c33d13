internal import Text

/// A word of a phrase.
struct PhraseWord {
    /// As written.
    let text: String
    /// Folded and stemmed: the same for all forms of a word.
    let stem: String
    /// Whether it is of Han characters.
    let isHan: Bool
    /// Whether a space stands before it.
    let isSpaced: Bool
}

/// Cuts sentences into runs of words that may be phrases: between function words, common verbs and punctuation.
struct PhraseRuns {
    let language: Language
    /// Words of Latin letters as written to their stems; nil for those that end a phrase. Most words come again.
    private var known: [String: String?] = [:]
    private static let spellings = 50_000
    /// Words of a run: a longer one has no borders, and is cut.
    private static let longest = 1000
    private let segmenter = WordSegmenter()

    init(language: Language) { self.language = language }

    /// Calls `body` with each run of a sentence.
    mutating func forEach(in sentence: String, _ body: ([PhraseWord]) -> Void) {
        let bytes = Array(sentence.utf8)
        var run: [PhraseWord] = []
        func end() {
            if !run.isEmpty { body(run) }
            run.removeAll(keepingCapacity: true)
        }
        func add(_ word: PhraseWord) {
            if run.count == Self.longest { end() }
            run.append(word)
        }
        var offset = 0
        while offset < bytes.count {
            let (stretch, isHan) = Self.stretch(bytes, from: offset)
            let isSpaced = offset > 0 && bytes[offset - 1] == 0x20
            if isHan {
                // In a text in another language, Chinese words stand for themselves.
                if language != .chinese { end() }
                var first = true
                for word in segmenter.words(in: bytes.text(stretch)) {
                    if PhraseBorders.endsChinese(word.text) {
                        end()
                    } else {
                        add(PhraseWord(text: word.text, stem: word.text, isHan: true, isSpaced: first && isSpaced))
                    }
                    first = false
                }
                if language != .chinese { end() }
            } else {
                LatinTokens.forEach(in: bytes, stretch) { token in
                    guard case .word(let range) = token else { return end() }
                    // Longer words are no words.
                    guard range.count <= 64 else { return end() }
                    let text = bytes.text(range)
                    let isSpaced = range.lowerBound > 0 && bytes[range.lowerBound - 1] <= 0x20
                    if Self.isNumber(text) {
                        // A number belongs to a name before it: iPhone 15.
                        guard isSpaced, let name = run.last, Self.isName(name.text), text.utf8.count <= 3 else {
                            return end()
                        }
                        add(PhraseWord(text: text, stem: text, isHan: false, isSpaced: true))
                    } else if let stem = stem(text) {
                        add(PhraseWord(text: text, stem: stem, isHan: false, isSpaced: isSpaced))
                    } else {
                        end()
                    }
                }
            }
            offset = stretch.upperBound
        }
        end()
    }

    private mutating func stem(_ text: String) -> String? {
        if let stem = known[text] { return stem }
        let stem = newStem(text)
        if known.count < Self.spellings { known[text] = stem }
        return stem
    }

    private func newStem(_ text: String) -> String? {
        guard text.utf8.count > 1 else { return nil }
        var folded = Normalizer.fold(text)
        for ending in ["'s", "\u{2019}s"] where folded.hasSuffix(ending) { folded.removeLast(2) }
        if PhraseBorders.endsEnglish(folded) { return nil }
        // Without a list for a language, its shortest words are taken for function words.
        if language == .other, folded.count <= 3 { return nil }
        // Names and codes have no forms: GPT-4o, C++, NASA's.
        return Stemmer.english.stem(folded)
    }

    private static func isNumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { 0x2B...0x39 ~= $0 || $0 == 0x5F }
    }

    private static func isName(_ text: String) -> Bool { text.utf8.contains { 0x41...0x5A ~= $0 } }

    /// The longest stretch of one kind from an offset: Han characters, or everything else.
    private static func stretch(_ bytes: [UInt8], from start: Int) -> (range: Range<Int>, isHan: Bool) {
        var end = start
        var isHan = false
        while let (value, length) = bytes.scalar(at: end) {
            let here = Script.isHan(value)
            if end == start { isHan = here }
            if here != isHan { break }
            end += length
        }
        return (start..<end, isHan)
    }
}
