internal import Text

/// A text in parts that are translated one by one, and what stands between them as it is: fenced code, and white space.
struct SourceParts {
    struct Part: Hashable {
        /// What stands before the part and is kept: code blocks, empty lines.
        var lead: String
        /// What is translated, without white space at its ends.
        var text: String
    }

    private(set) var parts: [Part] = []
    /// What stands behind the last part.
    private(set) var tail = ""

    /// Cuts a text at its paragraphs into parts of at most `size` bytes. Leads, texts and the tail together are the text.
    init(_ text: String, atMost size: Int) {
        let bytes = Array(text.utf8)
        var kept = 0
        func add(_ range: Range<Int>) {
            let core = bytes.trimmed(range)
            // A rule or a line of figures is the same in every language.
            guard !core.isEmpty, bytes.text(core).contains(where: \.isLetter) else { return }
            parts.append(Part(lead: bytes.text(kept..<core.lowerBound), text: bytes.text(core)))
            kept = core.upperBound
        }
        for prose in Self.prose(in: bytes) {
            var open: Range<Int>?
            for paragraph in Paragraphs.ranges(in: Array(bytes[prose])) {
                let place = prose.lowerBound + paragraph.lowerBound..<prose.lowerBound + paragraph.upperBound
                if let before = open, place.upperBound - before.lowerBound <= size {
                    open = before.lowerBound..<place.upperBound
                    continue
                }
                if let before = open { add(before) }
                open = nil
                if place.count <= size {
                    open = place
                } else {
                    for part in TextParts.ranges(in: Array(bytes[place]), atMost: size) {
                        add(place.lowerBound + part.lowerBound..<place.lowerBound + part.upperBound)
                    }
                }
            }
            if let before = open { add(before) }
        }
        tail = bytes.text(kept..<bytes.count)
    }

    /// The ranges outside fenced code blocks. A fence that is never closed goes to the end, as in CommonMark.
    private static func prose(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        var line = 0
        var fence: (mark: UInt8, length: Int)?
        while line < bytes.count {
            let end = bytes[line...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
            if let (mark, length, isBare) = Self.fence(bytes[line..<end]) {
                if let open = fence {
                    if mark == open.mark, length >= open.length, isBare {
                        fence = nil
                        start = end
                    }
                } else {
                    fence = (mark, length)
                    if start < line { ranges.append(start..<line) }
                    start = bytes.count
                }
            }
            line = end
        }
        if start < bytes.count { ranges.append(start..<bytes.count) }
        return ranges
    }

    /// The mark and length of a fence, and whether nothing follows it.
    private static func fence(_ line: ArraySlice<UInt8>) -> (UInt8, Int, Bool)? {
        let rest = line.drop { $0 == 0x20 || $0 == 0x09 }
        guard let mark = rest.first, mark == 0x60 || mark == 0x7E else { return nil }
        let length = rest.prefix { $0 == mark }.count
        let info = rest.dropFirst(length)
        // ```a``` on one line is code in a sentence.
        guard length >= 3, mark == 0x7E || !info.contains(0x60) else { return nil }
        return (mark, length, info.allSatisfy { $0 <= 0x20 })
    }
}
