internal import ModelAccess
internal import SkillKit
internal import Wire

@main
enum TranslateWorker {
    static func main() async {
        await SkillWorker.run(Translate(access: .ofProcess("skillbus-worker-translate")))
    }
}

/// The skill `translate`: a text in another language, by a model, with what must not change checked afterwards.
struct Translate: Skill {
    /// What may be asked of models.
    var access = ModelAccess.none

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    struct Arguments: SkillArguments {
        /// A word, and what it must be in the translation.
        struct Term: Decodable, Sendable, Hashable {
            var source: String
            var target: String
        }

        var target: String?
        var source: String?
        var glossary: [Term]?

        static let descriptions = [
            "target": "The language to translate into, by name or code, such as Spanish, 英文 or zh-Hant.",
            "source": "The language of the text. Left out: told by the text, or by the model.",
            "glossary": "Terms with the translation that each must have: a list of source and target.",
        ]
    }

    static let manifest = SkillManifest(
        id: "translate",
        displayName: "Translate",
        description: """
            Translate a text, sentence, word or file into another language, such as English, Chinese, French or Spanish. \
            把文字、句子、单词或文件翻译成另一种语言，如英译中、中译英、翻成日语。
            """,
        inputTypes: [.text, .file],
        consumes: ["text"],
        produces: ["text"],
        examples: [
            "translate this into French", "how do you say thank you in Chinese", "put this paragraph into Spanish",
            "what does this sentence mean in English", "Japanese version please", "translate the file to German",
            "what is the Italian word for bridge", "把这段话翻译成英文", "这个单词用法语怎么说", "翻成日语", "中译英", "英译中",
            "这句话是什么意思，翻译一下", "把这份说明书译成西班牙语",
        ],
        concurrency: 2,
        // A model translates a book for a while.
        timeout: 3600,
        cacheTTL: 3600
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let request = try TranslationRequest(input, arguments)
        let words = TranslateWords(isChinese: request.isChinese)
        if let language = request.needless {
            // A step that goes on with the text gets the text.
            let note = words.alreadyIn(language)
            context.engine(ModelAccess.offline)
            guard input.previous.isEmpty else {
                context.progress(note)
                return SkillOutput(text: request.text, parts: [OutputPart(kind: "note", text: note)])
            }
            return SkillOutput(text: note, parts: [OutputPart(kind: "note", text: note)])
        }
        let bytes = request.text.utf8.count
        guard let model = try await access.model(for: context, sending: bytes, isChinese: request.isChinese) else {
            throw words.modelNeeded(isConfigured: access.isConfigured)
        }
        return try await Translation(request, words: words).output(by: model, context)
    }
}

/// What the skill says, in the user's language.
struct TranslateWords {
    let isChinese: Bool

    func alreadyIn(_ language: Tongue) -> String {
        isChinese
            ? "这段文字已经是\(language.chinese)，不需要翻译。" : "The text is already in \(language.english): nothing to translate."
    }

    func modelNeeded(isConfigured: Bool) -> SkillError {
        let code = "model_needed"
        if isConfigured {
            return isChinese
                ? SkillError(code, "翻译需要模型，而本次会话的文字不得离开本机", hint: "用 --privacy ask 或 allow 提问，或使用本机的模型。")
                : SkillError(
                    code,
                    "translating needs a model, and this session's text may not leave this host",
                    hint: "Ask with --privacy ask or allow, or use a model on this host."
                )
        }
        return isChinese
            ? SkillError(code, "翻译需要模型，而现在没有设置模型", hint: "请把 SKILLBUS_LLM_URL 设为模型服务的地址，然后重新启动。")
            : SkillError(
                code,
                "translating needs a model, and none is set up",
                hint: "Set SKILLBUS_LLM_URL to the address of a model server, and start again."
            )
    }

    func progress(_ done: Int, of count: Int) -> String {
        isChinese ? "已译 \(done)/\(count) 部分" : "translated \(done) of \(count) part\(count == 1 ? "" : "s")"
    }

    func checking(_ losses: [String]) -> String {
        isChinese
            ? "译文缺少 \(losses.joined(separator: "、"))，重译这一部分"
            : "the translation lost \(losses.joined(separator: ", ")); translating this part again"
    }

    func kept(_ losses: [String], part: Int, of count: Int) -> String {
        let place = count == 1 ? "" : isChinese ? "第 \(part) 部分" : " in part \(part)"
        return isChinese
            ? "请核对译文\(place)：重译后仍缺少 \(losses.joined(separator: "、"))"
            : "Check the translation\(place): also tried again, it lost \(losses.joined(separator: ", "))"
    }

    func onlyFirst(_ language: Tongue, not others: [Tongue]) -> String {
        isChinese
            ? "一次译成一种语言：这里是\(language.chinese)；\(others.map(\.chinese).joined(separator: "、"))请另外提出"
            : "one language at a time: this is \(language.english); ask again for "
                + others.map(\.english).joined(separator: ", ")
    }

    var structure: String { isChinese ? "标题、列表或表格的一部分" : "some of the headings, list items or table rows" }
    var unchanged: String { isChinese ? "翻译本身（与原文相同）" : "the translating itself (it is the text as it was)" }
    func term(_ term: Translate.Arguments.Term) -> String {
        isChinese ? "术语“\(term.target)”" : "the term \"\(term.target)\""
    }
}
