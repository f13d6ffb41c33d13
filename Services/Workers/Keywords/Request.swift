internal import Material
internal import SkillKit
internal import Text

/// What the user asks for: the text to take keywords from.
enum Request {
    private static let instruction = Instruction(asking: [
        "keyword", "key word", "key phrase", "keyphrase", "key term", "important term", "tags", "关键词", "关键字", "关键短语",
        "标签", "术语", "核心词", "關鍵詞", "關鍵字", "標籤", "術語",
    ])

    /// - Throws: `SkillError` with the code `no_text` where there is none, `text_too_long` where there is too much.
    static func material(_ input: SkillInput, language: String?) throws(SkillError) -> Material {
        try Material(input, asking: instruction, language: language, missing: noText)
    }

    static func noText(isChinese: Bool) -> SkillError {
        if isChinese {
            let message = "没有可以提取关键词的文字，内容是空的"
            return SkillError("no_text", message, hint: "请把文字贴在请求后面，或附上一个文本文件。")
        }
        let message = "there is no text to take keywords from: the input is empty"
        return SkillError("no_text", message, hint: "Paste the text after the request, or attach a text file.")
    }
}
