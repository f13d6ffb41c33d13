internal import Glibc
internal import Text

/// A keyword and how good it is, 0 to 1.
struct Keyword {
    let text: String
    let score: Double
    /// Whether it is what the text is about, and not written there.
    var isTopic = false
}

/// Finds the phrases that a text is about.
///
/// In languages with spaces a phrase is a whole run between borders, and its words are worth more the more often they
/// stand in long runs (degree by frequency). Chinese has few borders: there every part of a run is a candidate, and one
/// that is nearly always a part of a longer one gives way to it. Both count occurrences, and prefer what comes early or in a
/// title.
struct KeywordScorer {
    /// Words that a phrase may have.
    private static let longestPhrase = 4
    /// Characters that a Chinese phrase may have.
    private static let longestChinese = 7
    /// Candidates that are kept: those that occur once and late are forgotten beyond it.
    private static let mostCandidates = 50_000

    /// Runs that an abstract does not have.
    private static let longText = 150

    private let language: Language
    private var runs: PhraseRuns
    private var candidates: [String: Candidate] = [:]
    private var runCount = 0
    /// Of each stem: the number of runs that have it, and the sum of their lengths.
    private var stems: [String: (runs: Int, length: Int)] = [:]

    init(language: Language) {
        self.language = language
        runs = PhraseRuns(language: language)
    }

    /// Reads a sentence that stands at a part (0 to 1) of the text.
    mutating func read(_ sentence: String, at part: Double, isTitle: Bool) {
        // Each run is counted as it is found: a sentence may be as long as a text without marks. What finds them is taken
        // out meanwhile, for both change.
        var runs = PhraseRuns(language: language)
        swap(&runs, &self.runs)
        runs.forEach(in: sentence) { run in
            runCount += 1
            if language == .chinese {
                addParts(of: run, at: part, isTitle: isTitle)
            } else {
                for phrase in PhraseBorders.withoutVerbs(run) { addWhole(phrase, at: part, isTitle: isTitle) }
            }
            if candidates.count > Self.mostCandidates { forgetRare() }
        }
        swap(&runs, &self.runs)
    }

    /// The best keywords, best first.
    func best(_ count: Int) throws -> [Keyword] {
        let scored = candidates.map { (key: $0.key, candidate: $0.value, score: score($0.value)) }
        let ranked = scored.sorted { ($0.score, $1.candidate.first, $1.key) > ($1.score, $0.candidate.first, $0.key) }
        try Task.checkCancellation()
        var chosen: [(candidate: Candidate, score: Double)] = []
        var spellings: Set<String> = []
        for (_, candidate, score) in ranked where score > 0 {
            if chosen.count == count { break }
            let isPart = chosen.contains {
                $0.candidate.count >= candidate.count && Self.contains($0.candidate.words, candidate.words)
            }
            guard !isPart, spellings.insert(Normalizer.fold(candidate.spelling)).inserted else { continue }
            chosen.append((candidate, score))
        }
        let top = chosen.first?.score ?? 1
        return chosen.map { Keyword(text: $0.candidate.spelling, score: $0.score / top) }
    }

    // MARK: Languages with spaces

    private mutating func addWhole(_ run: [PhraseWord], at part: Double, isTitle: Bool) {
        for stem in Set(run.map(\.stem)) {
            let known = stems[stem] ?? (0, 0)
            stems[stem] = (known.runs + 1, known.length + min(run.count, 8))
        }
        // Parts of runs count only where they come again and again: "solar panel" in "solar panel factory".
        for length in 1...max(1, min(run.count, Self.longestPhrase)) {
            for start in 0...run.count - length {
                let isWhole = length == run.count
                guard isWhole || length > 1 else { continue }
                note(run[start..<start + length], at: part, isTitle: isTitle) { candidate in
                    if isWhole { candidate.whole += 1 }
                }
            }
        }
    }

    private func wholeScore(_ candidate: Candidate) -> Double {
        let count = candidate.whole > 0 ? candidate.whole : candidate.count >= 3 ? candidate.count - 2 : 0
        guard count > 0 else { return 0 }
        var degree = 0.0
        for word in candidate.words {
            guard let (runs, length) = stems[word.stem], runs > 0 else { continue }
            degree += Double(length) / Double(runs)
        }
        let score =
            pow(degree, 0.85) * Double(count) * (1 + 0.7 * (1 - candidate.first)) * (candidate.isInTitle ? 1.2 : 1)
        return candidate.words.count == 1 ? 0.9 * score : score
    }

    // MARK: Chinese

    private mutating func addParts(of run: [PhraseWord], at part: Double, isTitle: Bool) {
        for start in run.indices {
            var characters = 0
            for end in start..<min(run.count, start + Self.longestPhrase) {
                let word = run[end]
                characters += word.isHan ? word.text.count : 1
                guard characters <= Self.longestChinese else { break }
                // Not a character by itself.
                guard characters > 1 || !word.isHan else { continue }
                if start == end, PhraseBorders.isWeakAlone(word.text) { continue }
                let borders = (start == 0 ? 1 : 0) + (end == run.count - 1 ? 1 : 0)
                note(run[start...end], at: part, isTitle: isTitle) { candidate in
                    candidate.borders = max(candidate.borders, borders)
                    if borders == 2 { candidate.whole += 1 }
                }
            }
        }
    }

    private func chineseScore(_ candidate: Candidate, longer: Int) -> Double {
        // Once, and only as a part of something: nothing says that it is a phrase.
        if candidate.count == 1, candidate.whole == 0 { return 0 }
        let own = max(Double(candidate.count) - 0.8 * Double(longer), Double(candidate.whole), 0)
        let length = candidate.words.reduce(0) { $0 + ($1.isHan ? $1.text.count : 2) }
        var score = (own + 0.15 * Double(candidate.count)) * pow(log(1 + Double(length)), 0.6)
        score *= (1 + (candidate.isInTitle ? 1.3 : 0)) * (1 + 0.6 * (1 - candidate.first))
        if candidate.whole == 0 { score *= candidate.borders == 1 ? 0.7 : 0.25 }
        if candidate.words.count == 1 { score *= 0.65 }
        return score
    }

    // MARK: Both

    private mutating func note(
        _ words: ArraySlice<PhraseWord>,
        at part: Double,
        isTitle: Bool,
        _ change: (inout Candidate) -> Void
    ) {
        let key = Self.key(words)
        func note(_ candidate: inout Candidate) {
            candidate.occurs(as: words)
            if isTitle { candidate.isInTitle = true }
            change(&candidate)
        }
        note(&candidates[key, default: Candidate(words: Array(words), first: part)])
    }

    private func score(_ candidate: Candidate) -> Double {
        let score = language == .chinese ? chineseScore(candidate, longer: candidate.longer) : wholeScore(candidate)
        // A long text says what it is about more than once.
        return candidate.count == 1 && runCount > Self.longText ? 0.4 * score : score
    }

    /// Finds for every candidate how often the longer ones around it occur. Called once, after the last sentence.
    mutating func finish() {
        guard language == .chinese else { return }
        for candidate in candidates.values where candidate.words.count > 1 {
            for part in [candidate.words.dropFirst(), candidate.words.dropLast()] {
                let key = Self.key(part)
                if let known = candidates[key], known.longer < candidate.count {
                    candidates[key]?.longer = candidate.count
                }
            }
        }
    }

    private mutating func forgetRare() {
        var limit = 1
        while candidates.count > Self.mostCandidates / 2 {
            candidates = candidates.filter { $0.value.count > limit || $0.value.isInTitle && limit < 2 }
            limit *= 2
        }
        if stems.count > Self.mostCandidates * 2 { stems = stems.filter { $0.value.runs > 1 } }
    }

    private static func key(_ words: ArraySlice<PhraseWord>) -> String {
        words.count == 1 ? words[words.startIndex].stem : words.map(\.stem).joined(separator: "\u{1F}")
    }

    private static func contains(_ words: [PhraseWord], _ part: [PhraseWord]) -> Bool {
        guard part.count < words.count else { return false }
        return (0...words.count - part.count).contains { start in
            zip(words[start...], part).allSatisfy { $0.stem == $1.stem }
        }
    }
}
