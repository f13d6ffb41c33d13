internal import Text

/// A sentence of the document, with what is known of it.
struct SourceSentence {
    /// As it is written.
    var text: String
    /// What it is made of.
    var reading: Vocabulary.Reading
    /// Its number among the sentences of the document.
    var index: Int
    /// The number of its block, and whether it is the first there.
    var block: Int
    var opensBlock: Bool
    /// Whether it is an entry of a list.
    var isItem: Bool
    /// How often the document says it, word for word.
    var occurrences = 1
}

/// The document as sentences, each distinct one once.
struct SourceDocument {
    /// In order.
    private(set) var sentences: [SourceSentence] = []
    /// Terms of its headings.
    private(set) var headingTerms: Set<Int32> = []
    /// Words and how often they occur.
    private(set) var vocabulary = Vocabulary()
    /// Whether it is what several people said in turn.
    private(set) var isDialogue = false
    /// What its text is written in.
    let language: Language

    /// Sentences that are kept at most: a bound on memory. A text with more has said it all by then.
    private static let most = 120_000
    /// Longest part of a long block that is read at once: a cancelled job ends within the reading of one.
    private static let part = 64 * 1024
    /// Headings whose words count.
    private static let mostHeadings = 100
    /// Progress is told after so much.
    private static let step = 256 * 1024
    private var known: [Int: Int] = [:]

    /// Reads a document. `progress` is called now and then with the part that is read.
    init(_ text: String, language: Language, progress: (Double) -> Void) throws(CancellationError) {
        self.language = language
        var blocks = DocumentReader().blocks(in: text)
        if Task.isCancelled { throw CancellationError() }
        Self.findHeadings(&blocks)
        let withoutRows = blocks.contains { $0.kind == .paragraph || $0.kind == .item }
        let speakers = Speakers(blocks)
        isDialogue = speakers.areMany
        let all = max(1, text.utf8.count)
        var read = 0
        var reported = 0
        let segmenter = SentenceSegmenter()
        var headings: [TextBlock] = []
        for (number, block) in blocks.enumerated() where sentences.count < Self.most {
            if Task.isCancelled { throw CancellationError() }
            switch block.kind {
            case .heading where withoutRows:
                if headings.count < Self.mostHeadings { headings.append(block) }
                continue
            case .row where withoutRows: continue
            default: break
            }
            var opensBlock = true
            let bytes = Array(speakers.withoutSpeaker(block.text).utf8)
            for part in TextParts.ranges(in: bytes, atMost: Self.part) {
                if Task.isCancelled { throw CancellationError() }
                for sentence in segmenter.sentences(in: bytes.text(part)) {
                    add(sentence, block: number, opensBlock: opensBlock, isItem: block.kind == .item)
                    opensBlock = false
                }
                read += part.count
                if read - reported > Self.step {
                    reported = read
                    progress(min(1, Double(read) / Double(all)))
                }
            }
        }
        for heading in headings { headingTerms.formUnion(vocabulary.read(heading.text).terms) }
        known = [:]
    }

    private mutating func add(_ text: String, block: Int, opensBlock: Bool, isItem: Bool) {
        let reading = vocabulary.read(text)
        guard reading.words > 0 || text.contains(where: \.isEmoji) else { return }
        // The same words in the same order are the same sentence, whatever its case and marks.
        var hasher = Hasher()
        hasher.combine(reading.terms)
        hasher.combine(reading.figures)
        if reading.terms.isEmpty, reading.figures.isEmpty { hasher.combine(Normalizer.fold(text)) }
        let key = hasher.finalize()
        if let first = known[key], sentences[first].reading.terms == reading.terms,
            sentences[first].reading.figures == reading.figures
        {
            sentences[first].occurrences += 1
            return
        }
        known[key] = sentences.count
        sentences.append(
            SourceSentence(
                text: text,
                reading: reading,
                index: sentences.count,
                block: block,
                opensBlock: opensBlock,
                isItem: isItem
            )
        )
    }

    /// A short line without a full stop above a longer paragraph is a heading, with or without a mark for it.
    private static func findHeadings(_ blocks: inout [TextBlock]) {
        guard blocks.count > 2 else { return }
        for index in 0..<blocks.count - 1 where blocks[index].kind == .paragraph {
            let text = blocks[index].text
            let next = blocks[index + 1]
            guard next.kind == .paragraph, text.utf8.count <= 100, next.text.utf8.count > 2 * text.utf8.count,
                let last = text.unicodeScalars.last?.value,
                !Punctuation.isTerminator(last), !Punctuation.isClosing(last), last != 0x3A, last != 0xFF1A
            else { continue }
            let spaces = text.utf8.count { $0 == 0x20 }
            // Above everything else a line with a colon is a title too; further down it says something of something.
            let hasClauses = text.contains("，") || index > 0 && (text.contains("：") || text.contains(": "))
            let isShort = spaces < 14 && !hasClauses
            if isShort { blocks[index].kind = .heading }
        }
    }
}

extension Character {
    fileprivate var isEmoji: Bool {
        unicodeScalars.contains { $0.properties.isEmojiPresentation || $0.value == 0xFE0F }
    }
}
