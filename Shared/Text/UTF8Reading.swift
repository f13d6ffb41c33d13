/// Reading scalars out of UTF-8 bytes, without making strings.
extension Array<UInt8> {
    /// The scalar that starts at an offset and the number of its bytes. Bytes that are not UTF-8 read as U+FFFD, one
    /// by one; past the end there is nothing.
    public func scalar(at offset: Int) -> (value: UInt32, length: Int)? {
        guard offset >= 0, offset < count else { return nil }
        let first = UInt32(self[offset])
        if first < 0x80 { return (first, 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0
        guard length > 0, offset + length <= count else { return (0xFFFD, 1) }
        var value = first & (0xFF >> UInt32(length + 1))
        for next in 1..<length {
            let byte = UInt32(self[offset + next])
            guard byte & 0xC0 == 0x80 else { return (0xFFFD, 1) }
            value = value << 6 | byte & 0x3F
        }
        return (value, length)
    }

    /// The scalar that ends before an offset and the number of its bytes; nil at the start.
    public func scalar(before offset: Int) -> (value: UInt32, length: Int)? {
        guard offset > 0, offset <= count else { return nil }
        var start = offset - 1
        while start > 0, offset - start < 4, self[start] & 0xC0 == 0x80 { start -= 1 }
        if let found = scalar(at: start), start + found.length == offset { return found }
        return (0xFFFD, 1)
    }

    /// The range without white space at both ends; empty (at its start) if it is nothing else.
    public func trimmed(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, let next = scalar(at: start), Script.isSpace(next.value) { start += next.length }
        while end > start, let last = scalar(before: end), Script.isSpace(last.value) { end -= last.length }
        return start..<Swift.max(start, end)
    }

    /// The bytes of a range as text.
    public func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }
}
