internal import Text

/// Words of a stretch of text without Han characters, with the marks that belong to them: `C++`, `.NET`, `GPT-4o`, `R&D`.
enum LatinTokens {
    /// A word, or what ends a phrase.
    enum Token {
        case word(Range<Int>)
        case border
    }

    /// Calls `body` with each token of a stretch of UTF-8.
    static func forEach(in bytes: [UInt8], _ range: Range<Int>, _ body: (Token) -> Void) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let (value, length) = bytes.scalar(at: offset) else { return }
            if Script.isSpace(value) {
                offset += length
            } else if isWord(value) || opensWithDot(bytes, at: offset, in: range) {
                let end = wordEnd(bytes, from: offset + length, limit: range.upperBound)
                let word = offset..<end
                // Addresses of pages and people are no words.
                let isAddress = bytes[word].contains(0x40) || bytes[word].contains(0x3A)
                body(isAddress ? .border : .word(word))
                offset = end
            } else {
                body(.border)
                offset += length
            }
        }
    }

    /// `.NET`: a full stop right before capitals, and not behind a word.
    private static func opensWithDot(_ bytes: [UInt8], at offset: Int, in range: Range<Int>) -> Bool {
        guard bytes[offset] == 0x2E, offset + 2 < range.upperBound else { return false }
        guard 0x41...0x5A ~= bytes[offset + 1], 0x41...0x5A ~= bytes[offset + 2] else { return false }
        return offset == range.lowerBound || bytes[offset - 1] <= 0x20
    }

    private static func wordEnd(_ bytes: [UInt8], from start: Int, limit: Int) -> Int {
        var end = start
        while end < limit, let (value, length) = bytes.scalar(at: end) {
            if isWord(value) {
                end += length
                continue
            }
            let hasMore = end + length < limit && bytes.scalar(at: end + length).map { isWord($0.value) } == true
            switch value {
            case 0x2D, 0x27, 0x2019, 0x26, 0x5F, 0x2E, 0x40, 0x2010, 0x2011:  // - ' ’ & _ . @ and two hyphens
                guard hasMore else { return end }
                end += length
            case 0x3A where end + 3 < limit && bytes[end + 1] == 0x2F && bytes[end + 2] == 0x2F:  // ://
                while end < limit, bytes[end] > 0x20 { end += 1 }
            case 0x2B, 0x23:  // C++, C#
                guard !hasMore else { return end }
                end += length
            default: return end
            }
        }
        return end
    }

    private static func isWord(_ value: UInt32) -> Bool {
        if value < 0x80 { return Script.isDigit(value) || Script.isLatin(value) }
        if Script.isLatin(value) { return true }
        guard !Punctuation.isMark(value), let properties = Unicode.Scalar(value)?.properties else { return false }
        return properties.isAlphabetic || properties.numericType != nil || properties.generalCategory == .nonspacingMark
    }
}
