/// Paragraphs of plain text: what stands between empty lines.
public enum Paragraphs {
    /// The ranges of the paragraphs in UTF-8 bytes, without white space at their ends.
    public static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var paragraphs: [Range<Int>] = []
        var start = 0
        var lineStart = 0
        func end(at offset: Int) {
            let paragraph = bytes.trimmed(start..<offset)
            if !paragraph.isEmpty { paragraphs.append(paragraph) }
        }
        while lineStart < bytes.count {
            let lineEnd = bytes[lineStart...].firstIndex(of: 0x0A) ?? bytes.count
            if bytes.trimmed(lineStart..<lineEnd).isEmpty {
                end(at: lineStart)
                start = lineEnd
            }
            lineStart = lineEnd + 1
        }
        if start < bytes.count { end(at: bytes.count) }
        return paragraphs
    }

    /// The paragraphs of a text.
    public static func split(_ text: String) -> [String] {
        let bytes = Array(text.utf8)
        return ranges(in: bytes).map { bytes.text($0) }
    }
}
