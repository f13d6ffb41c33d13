/// The part of a passage to show: the one with most of the query's words in it.
enum Snippet {
    /// Columns; a Han character takes two.
    private static let width = 280

    static func of(_ text: String, _ forms: Set<String>, _ terms: inout Terms) -> String {
        let bytes = Array(text.utf8)
        guard bytes.count > width else { return oneLine(bytes[...]) }
        let all = terms.terms(in: text)
        let hits = all.indices.filter { index in
            forms.contains(all[index].form) || (all[index].isHan && forms.contains { all[index].form.contains($0) })
        }
        guard let first = hits.first else { return cut(bytes, from: 0) }
        // Every hit may be the start: different words count, equal ones hardly.
        var best = (score: 0.0, start: all[first].range.lowerBound)
        for hit in hits {
            let start = all[hit].range.lowerBound
            var seen: [String: Int] = [:]
            for other in hits where other >= hit && all[other].range.upperBound - start <= width {
                seen[all[other].form, default: 0] += 1
            }
            let score = seen.values.reduce(0.0) { $0 + 1 + Double(min($1, 4) - 1) * 0.1 }
            if score > best.score { best = (score, start) }
        }
        return cut(bytes, from: sentenceStart(bytes, before: best.start))
    }

    /// The start of the sentence, if it is near.
    private static func sentenceStart(_ bytes: [UInt8], before offset: Int) -> Int {
        var index = offset
        while index > 0, offset - index < 90 {
            let previous = bytes[index - 1]
            let isStop =
                [0x2E, 0x21, 0x3F, 0x0A].contains(previous)
                && (index >= bytes.count || bytes[index] <= 0x20 || previous == 0x0A)
            // 。 is E3 80 82, ！ EF BC 81, ？ EF BC 9F.
            let isWideStop =
                index >= 3
                && (bytes[(index - 3)..<index].elementsEqual([0xE3, 0x80, 0x82])
                    || bytes[(index - 3)..<index].elementsEqual([0xEF, 0xBC, 0x81])
                    || bytes[(index - 3)..<index].elementsEqual([0xEF, 0xBC, 0x9F]))
            if isStop || isWideStop || index == 0 { return index }
            index -= 1
        }
        if index == 0 { return 0 }
        // No sentence begins near: a few words before the hit.
        index = max(0, offset - 40)
        while index < offset, bytes[index] & 0xC0 == 0x80 { index += 1 }
        var space = index
        while space < offset, bytes[space] > 0x20 { space += 1 }
        return space < offset ? space + 1 : index
    }

    private static func cut(_ bytes: [UInt8], from start: Int) -> String {
        var end = start
        var columns = 0
        var lastSpace = start
        while end < bytes.count, columns < width {
            let byte = bytes[end]
            let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            columns += length > 2 ? 2 : 1
            if byte <= 0x20 || length > 2 { lastSpace = end }
            end += length
        }
        if end >= bytes.count { end = bytes.count } else if lastSpace > start { end = lastSpace }
        return (start > 0 ? "…" : "") + oneLine(bytes[start..<end]) + (end < bytes.count ? "…" : "")
    }

    private static func oneLine(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
