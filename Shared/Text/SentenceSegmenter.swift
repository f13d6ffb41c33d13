internal import CICU

/// Finds sentences: ICU's boundaries, corrected for abbreviations, initials, quotes and numbered lists, and Chinese
/// clauses between semicolons.
public struct SentenceSegmenter: Sendable {
    private static let pool = BreakIterator.pool(of: UBRK_SENTENCE, locale: "en")

    /// Makes a segmenter. It costs nothing; iterators are kept and shared.
    public init() {}

    /// The sentences of a text, without the white space around them.
    public func sentences(in text: String) -> [String] {
        let bytes = Array(text.utf8)
        return ranges(in: bytes).map { bytes.text($0) }
    }

    /// The ranges of the sentences of UTF-8 text, without the white space around them.
    public func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var sentences: [Range<Int>] = []
        var start = 0
        func close(at end: Int) {
            let sentence = bytes.trimmed(start..<end)
            start = end
            guard !sentence.isEmpty else { return }
            if let last = sentences.last, !hasWord(bytes, sentence),
                !bytes[last.upperBound..<sentence.lowerBound].contains(0x0A)
            {
                sentences[sentences.count - 1] = last.lowerBound..<sentence.upperBound
            } else {
                sentences.append(sentence)
            }
        }
        BreakIterator.forEachSegment(of: bytes, pool: Self.pool) { segment, _ in
            for semicolon in chineseSemicolons(bytes, segment) where isBoundary(bytes, start: start, end: semicolon) {
                close(at: semicolon)
            }
            if segment.upperBound == bytes.count || isBoundary(bytes, start: start, end: segment.upperBound) {
                close(at: segment.upperBound)
            }
        }
        if start < bytes.count { close(at: bytes.count) }
        return sentences
    }

    /// Offsets after each `；` and the closing marks that follow it.
    private func chineseSemicolons(_ bytes: [UInt8], _ range: Range<Int>) -> [Int] {
        var found: [Int] = []
        var offset = range.lowerBound
        // U+FF1B is EF BC 9B.
        while let next = bytes[offset..<range.upperBound].firstIndex(of: 0xEF) {
            offset = next + 1
            guard next + 2 < range.upperBound, bytes[next + 1] == 0xBC, bytes[next + 2] == 0x9B else { continue }
            var end = next + 3
            while end < range.upperBound, let mark = bytes.scalar(at: end), Punctuation.isClosing(mark.value) {
                end += mark.length
            }
            if end < range.upperBound { found.append(end) }
            offset = end
        }
        return found
    }

    /// Whether the boundary that ICU sees at `end` really ends the sentence that began at `start`.
    private func isBoundary(_ bytes: [UInt8], start: Int, end: Int) -> Bool {
        let sentence = bytes.trimmed(start..<end)
        guard !sentence.isEmpty else { return true }
        let next = self.next(bytes, from: end)
        guard next < bytes.count, let following = bytes.scalar(at: next) else { return true }
        let lineBreaks = bytes[sentence.upperBound..<next].count { $0 == 0x0A }
        if lineBreaks > 1 { return true }

        // The mark that ends the sentence, behind closing quotes and brackets.
        var stop = sentence.upperBound
        while stop > sentence.lowerBound, let mark = bytes.scalar(before: stop), Punctuation.isClosing(mark.value) {
            stop -= mark.length
        }
        guard stop > sentence.lowerBound, let mark = bytes.scalar(before: stop) else { return lineBreaks > 0 }
        guard Punctuation.isTerminator(mark.value) else {
            // A line that ends without a mark goes on in the next one if that begins small.
            if lineBreaks > 0 { return !isLower(following.value) }
            return false
        }
        if lineBreaks > 0 {
            return !(mark.value == 0x2E && Abbreviations.neverEnds(lastToken(bytes, sentence.lowerBound..<stop)))
        }
        if stop < sentence.upperBound, mark.value > 0x7F, speaks(bytes, at: next) { return false }
        guard mark.value == 0x2E else { return !isLower(following.value) }

        // A full stop that belongs to what follows: "and .NET".
        if next == stop, stop - 2 >= sentence.lowerBound, bytes[stop - 2] == 0x20 { return false }
        let token = lastToken(bytes, sentence.lowerBound..<stop)
        // "1. First point" and "Fig. 3".
        if token.count > 1, token.dropLast().allSatisfy({ 0x30...0x39 ~= $0 }),
            stop - token.count == sentence.lowerBound
        {
            return false
        }
        if isLower(following.value), Script.isLatin(following.value) { return false }
        if Abbreviations.neverEnds(token) {
            return Abbreviations.needsNumber(token) && !Script.isDigit(following.value)
        }
        if Abbreviations.mayEnd(token) {
            // Such a word ends a sentence only where the next word plainly begins one: "Acme Inc. The firm ...".
            return Abbreviations.begins(nextWord(bytes, at: next))
        }
        return true
    }

    private func next(_ bytes: [UInt8], from offset: Int) -> Int {
        var offset = offset
        while let space = bytes.scalar(at: offset), Script.isSpace(space.value) { offset += space.length }
        return offset
    }

    private func lastToken(_ bytes: [UInt8], _ range: Range<Int>) -> ArraySlice<UInt8> {
        var start = range.upperBound
        // Abbreviations are short: no more is looked at.
        while start > range.lowerBound, range.upperBound - start < 16 {
            let byte = bytes[start - 1]
            if byte <= 0x20 || byte == 0x28 || byte == 0x5B || byte == 0x22 || byte == 0x27 || byte > 0x7F { break }
            start -= 1
        }
        return bytes[start..<range.upperBound]
    }

    private func nextWord(_ bytes: [UInt8], at offset: Int) -> ArraySlice<UInt8> {
        var end = offset
        while end < bytes.count, end - offset < 16, bytes[end] | 0x20 >= 0x61, bytes[end] | 0x20 <= 0x7A { end += 1 }
        return bytes[offset..<end]
    }

    private func isLower(_ scalar: UInt32) -> Bool {
        scalar < 0x80 ? 0x61...0x7A ~= scalar : cicu_is_lower(Int32(bitPattern: scalar))
    }

    private func hasWord(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        var offset = range.lowerBound
        while offset < range.upperBound, let scalar = bytes.scalar(at: offset) {
            let value = scalar.value
            if value < 0x80 ? (Script.isDigit(value) || Script.isLatin(value)) : !Punctuation.isMark(value) {
                return true
            }
            offset += scalar.length
        }
        return false
    }

    /// Whether what follows a closing quote says who spoke: `“你会来吗？”她说`.
    private func speaks(_ bytes: [UInt8], at offset: Int) -> Bool {
        let window = bytes.text(offset..<min(bytes.count, offset + 15))
        guard let verb = window.firstIndex(where: { "说問问道答喊叫說笑".contains($0) }) else { return false }
        let subject = window[..<verb]
        return subject.count <= 3 && subject.allSatisfy { $0.unicodeScalars.allSatisfy { Script.isHan($0.value) } }
    }
}
