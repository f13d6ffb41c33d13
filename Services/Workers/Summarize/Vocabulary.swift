internal import Text

/// Numbers for the words that carry a text's meaning: folded, stemmed, without function words.
struct Vocabulary {
    /// How often each term occurs in the document.
    private(set) var frequencies: [Int] = []
    /// Words as written to terms; -1 for those that mean nothing by themselves. Most words come again.
    private var known: [String: Int32] = [:]
    private var terms: [String: Int32] = [:]
    private let segmenter = WordSegmenter()

    /// Spellings beyond this number are read but not remembered: a bound on memory, not on the text.
    private static let spellings = 500_000

    /// What a sentence is made of.
    struct Reading {
        /// Its terms, in order, as often as they occur.
        var terms: [Int32] = []
        /// Each of them once, by number: sums over them are the same in every run. Made when asked for: a document has a
        /// hundred thousand sentences.
        var distinct: [Int32] { Set(terms).sorted() }
        /// All of its words.
        var words = 0
        /// Numbers among them, as written.
        var figures: [String] = []
        /// Words with a capital that are not at its start: names, in languages that write them so.
        var names = 0
    }

    /// Reads a sentence and counts its terms.
    mutating func read(_ sentence: String) -> Reading {
        var reading = Reading()
        for word in segmenter.words(in: sentence) {
            reading.words += 1
            if word.isNumber {
                reading.figures.append(word.text)
                continue
            }
            if reading.words > 1, word.kind == .letters, let first = word.text.utf8.first, 0x41...0x5A ~= first {
                reading.names += 1
            }
            let term = self.term(word)
            guard term >= 0 else { continue }
            frequencies[Int(term)] += 1
            reading.terms.append(term)
        }
        return reading
    }

    /// The known terms and the figures of a piece of text. Counts nothing.
    func recall(_ piece: String) -> (terms: [Int32], figures: Int) {
        var terms: Set<Int32> = []
        var figures = 0
        for word in segmenter.words(in: piece) {
            if word.isNumber { figures += 1 }
            if let term = known[word.text], term >= 0 { terms.insert(term) }
        }
        return (terms.sorted(), figures)
    }

    private mutating func term(_ word: Word) -> Int32 {
        if let term = known[word.text] { return term }
        let folded = Normalizer.fold(word.text)
        let term: Int32
        if StopWords.containsEnglish(folded: folded) || StopWords.containsChinese(folded)
            || word.text.utf8.count == 1
        {
            term = -1
        } else {
            term = number(of: word.kind == .letters ? Stemmer.english.stem(folded) : folded)
        }
        if known.count < Self.spellings { known[word.text] = term }
        return term
    }

    private mutating func number(of stem: String) -> Int32 {
        if let term = terms[stem] { return term }
        guard frequencies.count < Self.spellings else { return -1 }
        let term = Int32(frequencies.count)
        terms[stem] = term
        frequencies.append(0)
        return term
    }
}
