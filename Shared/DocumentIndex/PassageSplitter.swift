internal import Text

/// Cuts a document into passages of about a thousand Latin letters, along paragraphs and never across headings.
struct PassageSplitter {
    struct Passage: Equatable {
        var heading: String
        var text: String
    }

    /// Below this, paragraphs are put together.
    private static let enough = 800
    /// No passage is longer, unless a single word is.
    private static let most = 1200

    private var passages: [Passage] = []
    private var heading = ""
    private var pending = ""
    private var pendingWidth = 0

    static func split(_ sections: [DocumentText.Section]) -> [Passage] {
        var splitter = PassageSplitter()
        for section in sections {
            splitter.flush()
            splitter.heading = section.heading
            for paragraph in Paragraphs.split(section.text) { splitter.add(paragraph, separator: "\n\n") }
        }
        splitter.flush()
        return splitter.passages
    }

    /// Columns that a text takes: a Han character says about as much as three Latin letters, and is as wide as two.
    private static func width(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x1100 ? 1 : 2) }
    }

    private mutating func add(_ piece: String, separator: String) {
        let width = Self.width(piece)
        if width > Self.most {
            flush()
            for sentence in Self.pieces(of: piece) { add(sentence, separator: " ") }
            flush()
            return
        }
        if pendingWidth > 0, pendingWidth + width > Self.most || pendingWidth >= Self.enough { flush() }
        if !pending.isEmpty { pending += separator }
        pending += piece
        pendingWidth += width
    }

    /// Sentences of a long paragraph; of a sentence without end, runs of whole words.
    private static func pieces(of paragraph: String) -> [String] {
        SentenceSegmenter().sentences(in: paragraph).flatMap { sentence -> [String] in
            guard width(sentence) > most else { return [sentence] }
            var pieces: [String] = []
            var piece = ""
            var pieceWidth = 0
            for word in WordSegmenter().pieces(in: sentence).flatMap({ cut($0.text) }) {
                let wordWidth = width(word)
                if pieceWidth + wordWidth > enough, !piece.isEmpty {
                    pieces.append(piece)
                    piece = ""
                    pieceWidth = 0
                }
                piece += word
                pieceWidth += wordWidth
            }
            return piece.isEmpty ? pieces : pieces + [piece]
        }
    }

    /// A word, in pieces if it is no word but a block of data.
    private static func cut(_ word: String) -> [String] {
        guard word.utf8.count > enough else { return [word] }
        var pieces: [String] = []
        var rest = word[...]
        while !rest.isEmpty {
            pieces.append(String(rest.prefix(enough / 2)))
            rest = rest.dropFirst(enough / 2)
        }
        return pieces
    }

    private mutating func flush() {
        if !pending.isEmpty { passages.append(Passage(heading: heading, text: pending)) }
        pending = ""
        pendingWidth = 0
    }
}
