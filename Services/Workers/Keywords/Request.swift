internal import SkillKit
internal import Text

/// What the user asks for: the text to take keywords from, its language, and the language to answer in.
struct Request {
    /// The text to take keywords from.
    let material: String
    /// What it is written in.
    let textLanguage: Language
    /// Whether the user speaks Chinese.
    let isChinese: Bool

    private static let instruction = Instruction(asking: [
        "keyword", "key word", "key phrase", "keyphrase", "key term", "important term", "tags", "关键词", "关键字", "关键短语",
        "标签", "术语", "核心词", "關鍵詞", "關鍵字", "標籤", "術語",
    ])

    /// - Throws: `SkillError` with the code `no_text` where there is nothing to take keywords from.
    init(_ input: SkillInput, language: String?) throws(SkillError) {
        let material = input.hasSeparateMaterial ? input.material : Self.instruction.removed(from: input.material)
        guard material.contains(where: { !$0.isWhitespace }) else {
            throw Self.noText(isChinese: Language.of(input.text) == .chinese)
        }
        self.material = material
        textLanguage = language.flatMap(Language.init(named:)) ?? Language.of(material)
        let words = Instruction.words(of: input.text, around: input.separatedMaterial ?? "")
        let spoken = input.hasSeparateMaterial ? Language.of(String(words)) : textLanguage
        isChinese = (spoken == .other ? textLanguage : spoken) == .chinese
    }

    private static func noText(isChinese: Bool) -> SkillError {
        if isChinese {
            let message = "没有可以提取关键词的文字，内容是空的 (no text: the input is empty)"
            return SkillError("no_text", message, hint: "请把文字贴在请求后面，或附上一个文本文件。")
        }
        let message = "there is no text to take keywords from: the input is empty"
        return SkillError("no_text", message, hint: "Paste the text after the request, or attach a text file.")
    }
}
