internal import Text

/// The names before what people say, in minutes and transcripts: `Project Manager: Okay.`
struct Speakers {
    /// Whether the document is a dialogue.
    let areMany: Bool
    private static let longestName = 60

    /// Looks at the blocks of a document.
    init(_ blocks: [TextBlock]) {
        let sample = blocks.prefix(400)
        var counts: [Substring: Int] = [:]
        for block in sample {
            if let name = Self.name(block.text) { counts[name, default: 0] += 1 }
        }
        // Names come again; what stands before other colons does not.
        let turns = counts.values.filter { $0 > 1 }.reduce(0, +)
        areMany = sample.count > 5 && turns * 5 > sample.count * 2
    }

    /// What was said, without the name of who said it.
    func withoutSpeaker(_ text: String) -> String {
        guard areMany, let name = Self.name(text) else { return text }
        return String(text[name.endIndex...].dropFirst().drop(while: \.isWhitespace))
    }

    private static func name(_ text: String) -> Substring? {
        let start = text.prefix(longestName)
        guard let colon = start.firstIndex(where: { $0 == ":" || $0 == "：" }), colon > start.startIndex else {
            return nil
        }
        let name = start[..<colon]
        guard !name.contains(where: { "!?。！？；".contains($0) }), name.utf8.count(where: { $0 == 0x20 }) < 9 else {
            return nil
        }
        // "Mr. Paul Manly (…)" is a name, "He agreed. The vote" is not.
        let sentences = SentenceSegmenter().ranges(in: Array(name.utf8)).count
        return sentences == 1 ? name : nil
    }
}
