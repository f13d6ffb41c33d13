public import SkillKit
public import Text

/// What a skill that reads a text is asked for: the text, its language, and the language to answer in.
public struct Material: Sendable {
    /// The text, without the words that ask.
    public let text: String
    /// What it is written in.
    public let language: Language
    /// Whether the user speaks Chinese.
    public let isChinese: Bool

    /// Bytes that a text may have: a long book. Reading takes some ten times as much memory, a worker reads several at
    /// once, and in a container it may have 256 MB.
    public static let limit = 8 * 1024 * 1024

    /// Takes the text out of an input.
    /// - Parameters:
    ///   - input: what came.
    ///   - instruction: the words that ask for this skill.
    ///   - language: what the user says the text is written in; nil and `auto` leave it to its script.
    ///   - missing: the error for a text that is not there, in Chinese or not.
    /// - Throws: that error; `text_too_long`.
    public init(
        _ input: SkillInput,
        asking instruction: Instruction,
        language: String?,
        missing: (_ isChinese: Bool) -> SkillError
    ) throws(SkillError) {
        let size = input.materialSize
        guard size <= Self.limit else {
            throw Self.tooLong(size, isChinese: Language.of(input.text) == .chinese)
        }
        let isSeparate = input.hasSeparateMaterial
        let whole = input.material
        let text = isSeparate ? whole : instruction.removed(from: whole)
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw missing(Language.of(input.text) == .chinese)
        }
        self.text = text
        self.language = language.flatMap(Language.init(named:)) ?? Language.of(text)
        let words = Instruction.words(of: input.text, around: input.separatedMaterial ?? "")
        let spoken = isSeparate ? Language.of(String(words)) : self.language
        isChinese = (spoken == .other ? self.language : spoken) == .chinese
    }

    private static func tooLong(_ size: Int, isChinese: Bool) -> SkillError {
        let megabytes = limit / (1024 * 1024)
        if isChinese {
            let message = "文字有 \(size) 字节，超过了上限 \(limit) 字节，即 \(megabytes) MB (text too long)"
            return SkillError("text_too_long", message, hint: "请把它分成几部分，分别处理。")
        }
        let message = "the text has \(size) bytes; the limit is \(limit), which is \(megabytes) MB"
        return SkillError("text_too_long", message, hint: "Split it, and give the parts one by one.")
    }
}
