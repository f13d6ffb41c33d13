/// Reads the words out of a document: plain text with or without hard-wrapped lines, Markdown, or HTML.
///
/// Every step is one pass over the bytes, whatever they are: nothing here is a validator, and nothing is refused.
public struct DocumentReader: Sendable {
    /// Makes a reader.
    public init() {}

    /// The blocks of a document in order, none of them empty. A task that is cancelled meanwhile gets those so far: the
    /// caller has to look at that in any case.
    public func blocks(in document: String) -> [TextBlock] {
        var bytes = Invisible.removed(from: Array(document.utf8))
        if HTMLText.looksLikeHTML(bytes) { bytes = HTMLText.text(of: bytes) }
        return MarkdownText.blocks(in: bytes)
    }
}

/// Characters that show nothing and stand inside words: soft hyphens, zero-width spaces, joiners where nothing joins.
enum Invisible {
    static func removed(from bytes: [UInt8]) -> [UInt8] {
        // All of them begin with C2 AD, E2 80, E2 81 or EF BB.
        guard bytes.contains(where: { $0 == 0xC2 || $0 == 0xE2 || $0 == 0xEF }) else { return bytes }
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var offset = 0
        var previous: UInt32 = 0x20
        while offset < bytes.count {
            let byte = bytes[offset]
            guard byte >= 0x80, let (value, length) = bytes.scalar(at: offset) else {
                kept.append(byte)
                previous = UInt32(byte)
                offset += 1
                continue
            }
            if !shows(value, after: previous) {
                offset += length
                continue
            }
            kept.append(contentsOf: bytes[offset..<offset + length])
            previous = value
            offset += length
        }
        return kept
    }

    private static func shows(_ value: UInt32, after previous: UInt32) -> Bool {
        switch value {
        case 0xAD, 0x200B, 0x2060...0x2064, 0xFEFF, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        // Joiners have a meaning between emoji and in Arabic and Indic scripts, and none in these.
        case 0x200C, 0x200D: !(previous < 0x250 || Script.isHan(previous) || Script.isSpace(previous))
        default: true
        }
    }
}
