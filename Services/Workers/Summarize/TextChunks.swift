internal import Text

/// A text in pieces that a model reads one by one: whole paragraphs as far as they fit, sentences where one does not.
enum TextChunks {
    /// The pieces in order, none longer than `size` bytes. Together they are the whole text, but for empty lines.
    static func split(_ text: String, atMost size: Int) -> [String] {
        let bytes = Array(text.utf8)
        var chunks: [Range<Int>] = []
        var current: Range<Int>?
        func add(_ range: Range<Int>) {
            if let open = current, range.upperBound - open.lowerBound <= size {
                current = open.lowerBound..<range.upperBound
            } else {
                if let open = current { chunks.append(open) }
                current = range
            }
        }
        for paragraph in Paragraphs.ranges(in: bytes) {
            if paragraph.count <= size {
                add(paragraph)
                continue
            }
            for part in TextParts.ranges(in: Array(bytes[paragraph]), atMost: size) {
                add(paragraph.lowerBound + part.lowerBound..<paragraph.lowerBound + part.upperBound)
            }
        }
        if let open = current { chunks.append(open) }
        return chunks.map { String(decoding: bytes[$0], as: UTF8.self) }
    }
}
