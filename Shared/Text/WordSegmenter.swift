internal import CICU

/// A piece of a text between two word boundaries.
public struct Word: Hashable, Sendable {
    /// What a piece is.
    public enum Kind: Sendable, Hashable {
        /// A word of letters.
        case letters
        /// A word of Han characters.
        case han
        /// A number.
        case number
        /// White space, punctuation, symbols, emoji.
        case other
    }

    /// The piece as it is written.
    public let text: String
    /// Where it is, in bytes of the text's UTF-8.
    public let range: Range<Int>
    /// What it is.
    public let kind: Kind

    /// Makes a piece.
    public init(text: String, range: Range<Int>, kind: Kind) {
        self.text = text
        self.range = range
        self.kind = kind
    }

    /// Whether it is a word or a number, and not what stands between them.
    public var isWord: Bool { kind != .other }
    /// Whether it is of Han characters.
    public var isHan: Bool { kind == .han }
    /// Whether it is a number.
    public var isNumber: Bool { kind == .number }
}

/// Finds words, also where no spaces stand between them: ICU's word boundaries, with its dictionary for Chinese.
public struct WordSegmenter: Sendable {
    private static let pool = BreakIterator.pool(of: UBRK_WORD, locale: "zh")

    /// Makes a segmenter. It costs nothing; iterators are kept and shared.
    public init() {}

    /// Words and numbers of a text, in order.
    public func words(in text: String) -> [Word] {
        var words: [Word] = []
        words.reserveCapacity(text.utf8.count / 6)
        forEach(in: Array(text.utf8)) { if $0.isWord { words.append($0) } }
        return words
    }

    /// All pieces of a text, in order; joined they are the text.
    public func pieces(in text: String) -> [Word] {
        var pieces: [Word] = []
        forEach(in: Array(text.utf8)) { pieces.append($0) }
        return pieces
    }

    /// Calls `body` with each piece of UTF-8 text, in order.
    public func forEach(in bytes: [UInt8], _ body: (Word) -> Void) {
        BreakIterator.forEachSegment(of: bytes, pool: Self.pool) { range, status in
            let kind: Word.Kind
            if status >= 100, let first = bytes.scalar(at: range.lowerBound) {
                kind = status < 200 ? .number : Script.isHan(first.value) ? .han : .letters
            } else {
                kind = .other
            }
            body(Word(text: bytes.text(range), range: range, kind: kind))
        }
    }
}
