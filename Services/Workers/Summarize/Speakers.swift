internal import Text

/// The names before what people say, in minutes and transcripts: `Project Manager: Okay.`
struct Speakers {
    /// Whether the document is a dialogue.
    let areMany: Bool
    private static let longestName = 40

    /// Looks at the blocks of a document.
    init(_ blocks: [TextBlock]) {
        let sample = blocks.prefix(200)
        var counts: [Substring: Int] = [:]
        for block in sample {
            if let name = Self.name(block.text) { counts[name, default: 0] += 1 }
        }
        // Names come again; what stands before other colons does not.
        let turns = counts.values.filter { $0 > 1 }.reduce(0, +)
        areMany = sample.count > 5 && turns * 2 > sample.count
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
        guard !name.contains(where: { ".!?。！？，,".contains($0) }) else { return nil }
        return name
    }
}
