/// Cuts text that is too long to be read at once.
public enum TextParts {
    /// The parts of UTF-8 text, none longer than `size` bytes (at least 16): each ends behind the last line end in its
    /// second half, else behind a mark that ends a sentence, else behind a space, else between two characters.
    public static func ranges(in bytes: [UInt8], atMost size: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = self.end(of: bytes, from: start, limit: start + max(16, size))
            parts.append(start..<end)
            start = end
        }
        return parts
    }

    /// The first of the parts of a text.
    public static func first(of text: String, atMost size: Int) -> String {
        guard text.utf8.count > size else { return text }
        // More than that is not looked at.
        let bytes = Array(text.utf8.prefix(max(16, size) + 1))
        return String(decoding: bytes[..<end(of: bytes, from: 0, limit: max(16, size))], as: UTF8.self)
    }

    private static func end(of bytes: [UInt8], from start: Int, limit: Int) -> Int {
        guard limit < bytes.count else { return bytes.count }
        var sentence: Int?
        var space: Int?
        var offset = limit
        while offset > start + (limit - start) / 2 {
            offset -= 1
            let byte = bytes[offset]
            if byte == 0x0A { return offset + 1 }
            if byte == 0x20 {
                if space == nil { space = offset + 1 }
                // . ! ?
                if sentence == nil, [0x2E, 0x21, 0x3F].contains(bytes[offset - 1]) { sentence = offset + 1 }
            } else if sentence == nil, offset > start + 2, endsChineseSentence(bytes, at: offset) {
                sentence = offset + 1
            }
        }
        if let end = sentence ?? space { return end }
        offset = limit
        while offset > start + 1, bytes[offset] & 0xC0 == 0x80 { offset -= 1 }
        return offset
    }

    /// Whether the byte is the last of 。, ！ or ？.
    private static func endsChineseSentence(_ bytes: [UInt8], at offset: Int) -> Bool {
        switch (bytes[offset - 2], bytes[offset - 1], bytes[offset]) {
        case (0xE3, 0x80, 0x82), (0xEF, 0xBC, 0x81), (0xEF, 0xBC, 0x9F): true
        default: false
        }
    }
}
