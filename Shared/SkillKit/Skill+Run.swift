public import Wire

extension Skill {
    /// Runs the skill with arguments as they came.
    /// - Throws: `SkillError` for arguments that do not fit, and for files that hold no text where text was missing;
    ///   and what the skill throws.
    public func run(
        _ input: SkillInput,
        _ arguments: JSONValue?,
        _ context: SkillContext
    ) async throws -> SkillOutput {
        try await run(input, .decode(arguments), context)
    }

    nonisolated(nonsending) func run(
        _ input: SkillInput,
        _ arguments: Arguments,
        _ context: SkillContext
    ) async throws -> SkillOutput {
        do {
            return try await execute(input, arguments, context)
        } catch let error as SkillError where error.code == "no_text" {
            // A skill sees no text, and says so. The user sees a file that is not empty, and needs to hear why.
            throw input.unreadableAttachment ?? error
        }
    }
}

extension SkillInput {
    /// The error for a file that is not empty and holds no text; nil if there is none, or one that does.
    var unreadableAttachment: SkillError? {
        guard !attachments.contains(where: { $0.text != nil }),
            let file = attachments.first(where: { !$0.data.isEmpty })
        else { return nil }
        let isChinese = text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }
        return SkillError(
            "unreadable_attachment",
            isChinese
                ? "无法读取附件“\(file.name)”：它不是文本文件（\(file.mediaType)，\(file.data.count) 字节）"
                : "\"\(file.name)\" cannot be read as text (\(file.mediaType), \(file.data.count) bytes)",
            hint: isChinese ? "请附上一个文本文件，例如 .txt 或 .md。" : "Attach a text file, such as .txt or .md."
        )
    }
}
