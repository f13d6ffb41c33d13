internal import Material
internal import SkillKit
internal import Text

/// What the user asks for: the text to summarise.
enum Request {
    private static let instruction = Instruction(asking: [
        "summar", "tl;dr", "tldr", "main point", "key point", "gist", "shorten", "condense", "shorter", "short version",
        "in brief", "briefly", "abstract of", "总结", "摘要", "概括", "概述", "要点", "缩写", "精简", "归纳", "提炼", "简短", "總結",
        "歸納",
    ])

    /// - Throws: `SkillError` with the code `no_text` where there is none, `text_too_long` where there is too much.
    static func material(_ input: SkillInput, language: String?) throws(SkillError) -> Material {
        try Material(input, asking: instruction, language: language, missing: noText)
    }

    static func noText(isChinese: Bool) -> SkillError {
        if isChinese {
            let message = "没有可以总结的文字，内容是空的"
            return SkillError("no_text", message, hint: "请把要总结的文字贴在请求后面，或附上一个文本文件。")
        }
        let message = "there is no text to summarise: the input is empty"
        return SkillError("no_text", message, hint: "Paste the text after the request, or attach a text file.")
    }
}
