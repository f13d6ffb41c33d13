internal import SkillKit
internal import Text

/// What the user asks for, in the user's language: the words of the skill, and the text apart from the instruction.
struct Request {
    /// The language to answer in.
    let isChinese: Bool
    /// The text to summarise.
    let material: String

    /// Words that ask for a summary.
    private static let asking = [
        "summar", "tl;dr", "tldr", "main point", "key point", "gist", "shorten", "condense", "shorter", "short version",
        "in brief", "briefly", "abstract of", "总结", "摘要", "概括", "概述", "要点", "缩写", "精简", "归纳", "提炼", "简短", "總結", "歸納",
    ]
    /// An instruction has no more characters than this.
    private static let longestInstruction = 120

    /// - Throws: `SkillError` with the code `no_text` where there is nothing to summarise.
    init(_ input: SkillInput, language: String?) throws(SkillError) {
        var material = input.material
        let named = language.flatMap(Self.language)
        if !input.hasSeparateMaterial { material = Self.withoutInstruction(material) }
        let instruction = input.hasSeparateMaterial ? input.text : ""
        let spoken = Language.of(instruction)
        isChinese = (named ?? (spoken == .other ? Language.of(material) : spoken)) == .chinese
        let isEmpty = !material.contains { !$0.isWhitespace }
        guard !isEmpty else { throw Self.noText(isChinese: named == .chinese || Language.of(input.text) == .chinese) }
        self.material = material
    }

    /// The language that an argument names.
    static func language(_ name: String) -> Language? {
        let name = Normalizer.fold(name)
        if name.hasPrefix("zh") || name.hasPrefix("chin") || name.contains("中文") || name.contains("汉语") {
            return .chinese
        }
        if name.hasPrefix("en") || name.contains("英") { return .english }
        return name.isEmpty || name == "auto" ? nil : .other
    }

    static func noText(isChinese: Bool) -> SkillError {
        if isChinese {
            return SkillError(
                "no_text",
                "没有可以总结的文字：内容是空的 (no text: the input is empty)",
                hint: "请把要总结的文字贴在请求里，或附上一个文本文件。"
            )
        }
        return SkillError(
            "no_text",
            "there is no text to summarise: the input is empty",
            hint: "Paste the text after the request, or attach a text file."
        )
    }

    /// What is left of a text whose first words only ask for a summary: all of it, where they do not.
    private static func withoutInstruction(_ text: String) -> String {
        let start = text.prefix(longestInstruction)
        let end = start.firstIndex { ":：\n".contains($0) }
        if let end, asks(start[..<end]) { return String(text[text.index(after: end)...]) }
        // Without a mark behind it, a short text that asks is nothing but the instruction.
        return start.endIndex == text.endIndex && asks(start) && isOneSentence(start) ? "" : text
    }

    private static func isOneSentence(_ text: Substring) -> Bool {
        SentenceSegmenter().ranges(in: Array(text.utf8)).count <= 1
    }

    private static func asks(_ text: Substring) -> Bool {
        let folded = Normalizer.fold(String(text))
        return asking.contains { folded.contains($0) }
    }
}
