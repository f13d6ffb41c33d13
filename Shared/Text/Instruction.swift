/// The words with which a user asks for something, before the text that it is about.
public struct Instruction: Sendable {
    /// Folded pieces of words that ask, such as `summar` or `总结`.
    private let asking: [String]
    /// An instruction has no more characters than this.
    private static let longest = 120

    /// An instruction that has at least one of the pieces. They are folded (see ``Normalizer/fold(_:)``).
    public init(asking: [String]) { self.asking = asking }

    /// What is left of a text without an instruction at its start: all of it where there is none, and nothing where
    /// there is nothing else. An instruction ends in a colon or at a line's end.
    public func removed(from text: String) -> String {
        let start = text.prefix(Self.longest)
        if let end = start.firstIndex(where: { ":：\n\r\n".contains($0) }), asks(start[..<end]) {
            return String(text[text.index(after: end)...])
        }
        // Without a mark behind it, one short sentence that asks is nothing but the instruction.
        let isAll = start.endIndex == text.endIndex
        return isAll && asks(start) && SentenceSegmenter().ranges(in: Array(start.utf8)).count <= 1 ? "" : text
    }

    /// The words around the text that they are about, where both came as one: a beginning or an end.
    public static func words(of text: String, around material: String) -> Substring {
        let length = text.utf8.count - material.utf8.count
        guard length > 0, !material.isEmpty else { return text[...] }
        if text.hasPrefix(material) { return text[text.utf8.index(text.endIndex, offsetBy: -length)...] }
        let end = text.utf8.index(text.startIndex, offsetBy: length)
        return text[..<(end.samePosition(in: text) ?? text.endIndex)]
    }

    private func asks(_ text: Substring) -> Bool {
        let folded = Normalizer.fold(String(text))
        return asking.contains { folded.contains($0) }
    }
}

extension Language {
    /// The language that a name or code means, in either language: `zh-CN`, `Chinese`, `英文`; nil for none and `auto`.
    public init?(named name: String) {
        let name = Normalizer.fold(name)
        if name.isEmpty || name == "auto" { return nil }
        if ["zh", "chin", "cn", "中文", "汉语", "漢語", "简体", "繁"].contains(where: { name.hasPrefix($0) }) {
            self = .chinese
        } else if name.hasPrefix("en") || name.hasPrefix("英") {
            self = .english
        } else {
            self = .other
        }
    }
}
