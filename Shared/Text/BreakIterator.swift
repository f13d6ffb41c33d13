internal import CICU

/// ICU's break iterators over UTF-8.
enum BreakIterator {
    /// Texts are given to ICU in blocks of about this size, cut where a boundary is certain: an iterator's caches grow
    /// with its text, and a dictionary looks at a run of Han characters as a whole.
    private static let block = 64 * 1024

    static func pool(of type: UBreakIteratorType, locale: String) -> Pool {
        // The numbers stand for C's enumerators, which are not Sendable.
        let number = type.rawValue
        return Pool {
            var status = U_ZERO_ERROR
            let iterator = cicu_break_open(UBreakIteratorType(rawValue: number), locale, &status)
            guard status.rawValue <= U_ZERO_ERROR.rawValue else { return nil }
            return iterator
        }
    }

    /// Calls `body` with each segment and ICU's status of the boundary at its end. The segments cover the bytes. Where
    /// ICU cannot work (no memory, no data), a block is one segment.
    static func forEachSegment(of bytes: [UInt8], pool: Pool, _ body: (Range<Int>, Int32) -> Void) {
        var start = 0
        while start < bytes.count {
            let end = blockEnd(of: bytes, from: start)
            var reached = start
            pool.with { iterator in
                bytes.withUnsafeBytes { raw in
                    let address = raw.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
                    var status = U_ZERO_ERROR
                    cicu_break_set_utf8(iterator, address, Int64(end - start), &status)
                    guard status.rawValue <= U_ZERO_ERROR.rawValue else { return }
                    while true {
                        let next = cicu_break_next(iterator)
                        guard next > 0, start + Int(next) <= end, start + Int(next) > reached else { break }
                        body(reached..<start + Int(next), cicu_break_rule_status(iterator))
                        reached = start + Int(next)
                    }
                    // The iterator must not keep the address of text that goes away.
                    cicu_break_set_utf8(iterator, "", 0, &status)
                }
            }
            if reached < end { body(reached..<end, 0) }
            start = end
        }
    }

    /// Where a block that starts at an offset ends: after the last line end in it, else after the last space, else after
    /// the last punctuation of Chinese, else between two characters.
    private static func blockEnd(of bytes: [UInt8], from start: Int) -> Int {
        guard bytes.count - start > block + block / 4 else { return bytes.count }
        let limit = start + block
        var space: Int?
        var stop: Int?
        var offset = limit
        while offset > start + block / 2 {
            offset -= 1
            let byte = bytes[offset]
            if byte == 0x0A { return offset + 1 }
            if byte == 0x20, space == nil { space = offset + 1 }
            // The full stop of Chinese, U+3002.
            if byte == 0x82, stop == nil, bytes[offset - 1] == 0x80, bytes[offset - 2] == 0xE3 { stop = offset + 1 }
        }
        if let end = space ?? stop { return end }
        offset = limit
        while offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset += 1 }
        return offset
    }
}
