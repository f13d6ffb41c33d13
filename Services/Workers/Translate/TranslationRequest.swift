internal import Material
internal import SkillKit
internal import Text
internal import Wire

/// What the user asks for: the text, the languages and the terms.
struct TranslationRequest {
    /// What to translate.
    let text: String
    /// The language to translate into.
    let target: Tongue
    /// The language of the text, where it is known.
    let source: Tongue?
    /// Languages that were asked for too.
    let others: [Tongue]
    /// Terms, each with what it must be.
    let glossary: [Translate.Arguments.Term]
    /// Whether the user speaks Chinese.
    let isChinese: Bool

    private static let mostTerms = 200
    private static let longestTerm = 200

    private static let instruction = Instruction(asking: [
        "translat", "in english", "in chinese", "into ", "version", "to english", "to chinese", "to spanish",
        "to french",
        "to german", "to japanese", "翻译", "翻成", "译成", "译为", "中译", "英译", "译文", "翻譯", "譯成", "英文", "中文", "怎么说",
    ])

    /// - Throws: `SkillError`: `no_text`, `text_too_long`, `no_target`, `invalid_arguments`.
    init(_ input: SkillInput, _ arguments: Translate.Arguments) throws(SkillError) {
        let material = try Material(input, asking: Self.instruction, language: nil) { isChinese in
            Self.noText(isChinese: isChinese)
        }
        var text = material.text
        var words = input.text
        if !input.hasSeparateMaterial {
            if let quoted = Self.asked(text) {
                text = quoted
            } else if text == input.text {
                // All of it is text, so no word of it says what to do.
                words = ""
            } else {
                words = String(input.text.prefix(max(0, input.text.count - text.count)))
            }
        } else if let separated = input.separatedMaterial {
            words = String(Instruction.words(of: input.text, around: separated))
        }
        let hasAsking = words.contains { $0.isLetter }
        isChinese = hasAsking ? words.unicodeScalars.contains { Script.isHan($0.value) } : material.isChinese
        let mentions = LanguageMentions(words)
        let known = Tongue.of(text)
        source = try Self.tongue(arguments.source, of: "source") ?? mentions.source
        let given = try Self.tongue(arguments.target, of: "target")
        if let named = given ?? mentions.target {
            target = named
        } else {
            target = try Self.usual(for: source ?? known, hasAsking: hasAsking, isChinese: isChinese)
        }
        others = given == nil ? mentions.others : []
        // Empty lines around the text are of the request; those of a file are the file's.
        let isFile = input.attachments.contains { $0.isText } && input.previous.isEmpty
        self.text = isFile ? text : text.trimmed
        glossary = try Self.glossary(arguments.glossary ?? [])
        detected = known
    }

    private let detected: Tongue?

    /// The language that the text has and is to have.
    var needless: Tongue? {
        if let source, source == target { return target }
        guard let detected, detected.covers(target) else { return nil }
        return target.code == "zh-Hans" ? nil : target
    }

    private static func tongue(_ name: String?, of argument: String) throws(SkillError) -> Tongue? {
        guard let name, !name.isEmpty, name != "auto" else { return nil }
        guard let tongue = Tongue(named: name) else {
            throw SkillError(
                JobError.Code.invalidArguments,
                "invalid arguments: \"\(argument)\" is no name or code of a language: \(name.prefix(60))",
                hint: "For example Spanish, 英文, ja or zh-Hant."
            )
        }
        return tongue
    }

    /// The language that is meant where none is named: the user's own, of a text that is in another.
    private static func usual(for source: Tongue?, hasAsking: Bool, isChinese: Bool) throws(SkillError) -> Tongue {
        if let source, !source.covers(.chinese), isChinese, hasAsking { return .chinese }
        if source == nil, hasAsking { return isChinese ? .chinese : .english }
        if let source, source.covers(.chinese) { return .english }
        if let source, source != .english, !isChinese { return .english }
        throw isChinese
            ? SkillError("no_target", "没有说要译成哪种语言", hint: "例如：翻译成法语：……，或参数 target。")
            : SkillError(
                "no_target",
                "it is not said which language to translate into",
                hint: "For example: translate to French: ..., or the argument target."
            )
    }

    private static func glossary(
        _ terms: [Translate.Arguments.Term]
    ) throws(SkillError) -> [Translate.Arguments.Term] {
        guard terms.count <= mostTerms else {
            throw SkillError(
                JobError.Code.invalidArguments,
                "invalid arguments: \"glossary\" has \(terms.count) terms; the limit is \(mostTerms)"
            )
        }
        for term in terms {
            guard [term.source, term.target].allSatisfy({ 1...longestTerm ~= $0.count && !$0.contains("\n") }) else {
                throw SkillError(
                    JobError.Code.invalidArguments,
                    "invalid arguments: a term of \"glossary\" is empty, has a line end, or more than \(longestTerm) characters"
                )
            }
        }
        return terms
    }

    /// The word or sentence in a question for it: "how do you say thank you in Chinese", serendipity 中文怎么讲.
    static func asked(_ question: String) -> String? {
        guard question.count <= 300 else { return nil }
        let patterns: [Regex<(Substring, Substring)>] = [
            /(?i)^\s*how (?:do|would|can) (?:you|i|we|one) (?:say|write) (.+?) in [\p{L} ]+\??\s*$/,
            /(?i)^\s*what does (.+?) mean in [\p{L} ]+\??\s*$/,
            /(?i)^\s*what(?:'s| is) (?:the )?\p{L}+ (?:word )?for (.+?)\??\s*$/,
            /(?i)^\s*(?:please )?translate (?!(?:this|that|it|these|the following)\b)(.+?) (?:in|into|to) [\p{L} ]+[.?!]?\s*$/,
            /^\s*(.+?)\s*用\p{L}{1,5}[语文话]怎么[说讲写][？?]?\s*$/,
            /^\s*(.+?)\s*的?\p{L}{1,5}[语文话](?:怎么[说讲写]|是什么)[？?]?\s*$/,
        ]
        for pattern in patterns {
            guard let match = question.firstMatch(of: pattern) else { continue }
            let quotes = "\"'“”‘’「」 "
            let word = match.1.drop { quotes.contains($0) }.reversed().drop { quotes.contains($0) }.reversed()
            if !word.isEmpty { return String(word) }
        }
        return nil
    }

    static func noText(isChinese: Bool) -> SkillError {
        if isChinese {
            return SkillError("no_text", "没有可以翻译的文字，内容是空的", hint: "请把要翻译的文字贴在请求后面，或附上一个文本文件。")
        }
        return SkillError(
            "no_text",
            "there is no text to translate: the input is empty",
            hint: "Paste the text after the request, or attach a text file."
        )
    }
}
