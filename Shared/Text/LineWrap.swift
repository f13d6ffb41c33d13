/// Tells lines that were broken at a column from lines that end where a thought does.
enum LineWrap {
    /// Joins lines of a group without an empty line in it; each result is one paragraph.
    static func joined(_ bytes: [UInt8], _ lines: [Range<Int>]) -> [[UInt8]] {
        guard lines.count > 1 else { return lines.map { Array(bytes[$0]) } }
        let widths = lines.map { width(bytes, $0) }
        let widest = widths.max() ?? 0
        let isWrapped = lines.count > 2 && 40...120 ~= widest
        var paragraphs: [[UInt8]] = []
        var paragraph = Array(bytes[lines[0]])
        for index in 1..<lines.count {
            let isFull = isWrapped && widths[index - 1] * 4 >= widest * 3
            if goesOn(bytes, lines[index - 1], lines[index], isFull: isFull) {
                let last = paragraph.scalar(before: paragraph.count)?.value ?? 0
                let first = bytes.scalar(at: lines[index].lowerBound)?.value ?? 0
                let isJoinedWithoutSpace = isWide(last) || isWide(first) || last == 0x2D
                if !isJoinedWithoutSpace { paragraph.append(0x20) }
                paragraph.append(contentsOf: bytes[lines[index]])
            } else {
                paragraphs.append(paragraph)
                paragraph = Array(bytes[lines[index]])
            }
        }
        paragraphs.append(paragraph)
        return paragraphs
    }

    private static func goesOn(_ bytes: [UInt8], _ line: Range<Int>, _ next: Range<Int>, isFull: Bool) -> Bool {
        if hasLabel(bytes, next) { return false }
        var end = line.upperBound
        while let mark = bytes.scalar(before: end), Punctuation.isClosing(mark.value), end > line.lowerBound {
            end -= mark.length
        }
        guard let last = bytes.scalar(before: end)?.value, let first = bytes.scalar(at: next.lowerBound)?.value else {
            return false
        }
        // In wrapped text a full line that ends a sentence is followed by more of its paragraph.
        if Punctuation.isTerminator(last) || last == 0x3A || last == 0xFF1A { return isFull }
        if 0x61...0x7A ~= first || last == 0x2C || last == 0xFF0C || last == 0x3001 { return true }
        return isFull
    }

    /// Whether a line begins with a name and a colon, as in minutes and lists of facts: it continues nothing.
    private static func hasLabel(_ bytes: [UInt8], _ line: Range<Int>) -> Bool {
        var spaces = 0
        for offset in line.prefix(80) {
            switch bytes[offset] {
            case 0x3A: return offset > line.lowerBound && (offset + 1 >= line.upperBound || bytes[offset + 1] == 0x20)
            case 0xEF where offset + 2 < line.upperBound && bytes[offset + 1] == 0xBC && bytes[offset + 2] == 0x9A:
                return offset > line.lowerBound
            case 0x20: spaces += 1
            case 0x3F, 0x21, 0x3B: return false
            default: break
            }
            if spaces > 8 { return false }
        }
        return false
    }

    /// Columns: a Chinese character takes two.
    private static func width(_ bytes: [UInt8], _ line: Range<Int>) -> Int {
        var columns = 0
        for byte in bytes[line] where byte & 0xC0 != 0x80 { columns += byte >= 0xE3 ? 2 : 1 }
        return columns
    }

    private static func isWide(_ scalar: UInt32) -> Bool {
        Script.isHan(scalar) || Script.isKana(scalar) || 0x3000...0x303F ~= scalar || 0xFF00...0xFF65 ~= scalar
    }
}
