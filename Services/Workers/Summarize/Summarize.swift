internal import Material
internal import ModelAccess
internal import SkillKit
internal import Text
internal import Wire

@main
enum SummarizeWorker {
    static func main() async {
        await SkillWorker.run(Summarize(access: .ofProcess("skillbus-worker-summarize")))
    }
}

/// The skill `summarize`: what a text says, in the words of the model where there is one, and otherwise the sentences of
/// the text that say most.
struct Summarize: Skill {
    /// What may be asked of models.
    var access = ModelAccess.none

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    struct Arguments: SkillArguments {
        var points: Int?
        var max_points: Int?
        var max_chars: Int?
        var language: String?

        static let descriptions = [
            "points": "How many points at most, 1 to 10. Left out: as many as the text needs, at most 5.",
            "max_points": "Another name for points.",
            "max_chars":
                "How many characters a point may have, 10 to 2000. Left out: 50 for Chinese, a sentence otherwise.",
            "language": "The language of the text, such as zh or en. Left out: found by its script.",
        ]
        static let ranges = ["points": 1...10, "max_points": 1...10, "max_chars": 10...2000]
    }

    static let manifest = SkillManifest(
        id: "summarize",
        displayName: "Summarize",
        description: """
            Summarise a text, article, report or document: its main points, gist, key takeaways or a TL;DR, shorter than \
            the original. Works on text or a file that the user gives. \
            总结、概括、归纳一段文字、文章、报告或文件：摘要、要点、大意、主要内容、长文缩短。
            """,
        inputTypes: [.text, .file],
        consumes: ["text", "passages"],
        produces: ["text"],
        examples: [
            "summarize this article", "give me the key points of this report", "what does this text say in short",
            "tl;dr please", "boil this down to three sentences", "I need an abstract of this document",
            "总结这篇文章", "帮我写个摘要", "概括一下这份报告的主要内容", "列出这段话的要点", "太长不看，讲重点", "把这份文件归纳成三点",
        ],
        concurrency: 2,
        // A model reads a book for a while; without one it takes seconds.
        timeout: 3600,
        cacheTTL: 3600
    )

    /// Points of a summary, where nobody says how many.
    private static let usualPoints = 5
    /// Characters of a point in Chinese.
    private static let chineseLimit = 50
    /// Characters that no sentence has: what is longer has no marks, and is cut.
    private static let longestSentence = 600

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let wanted = arguments.points ?? arguments.max_points
        let request = try Request.material(input, language: arguments.language)
        let bytes = request.text.utf8.count
        if let model = try await access.model(for: context, sending: bytes, isChinese: request.isChinese) {
            let digest = Digest(
                request,
                points: wanted ?? Self.usualPoints,
                characters: arguments.max_chars
            )
            return Self.handingOn(input, try await digest.output(by: model, context))
        }
        return Self.handingOn(
            input,
            try await excerpt(request, points: wanted, characters: arguments.max_chars, context)
        )
    }

    /// With the passages that the summary is of, so that a step behind it can say where each point comes from.
    private static func handingOn(_ input: SkillInput, _ output: SkillOutput) -> SkillOutput {
        guard !input.previous.isEmpty else { return output }
        var output = output
        output.parts += input.previous.flatMap { $0.output.parts.filter { $0.kind == "passage" } }
        return output
    }

    /// The sentences that say most.
    private func excerpt(
        _ request: Material,
        points wanted: Int?,
        characters: Int?,
        _ context: SkillContext
    ) async throws -> SkillOutput {
        let words = Words(isChinese: request.isChinese)
        context.progress(words.reading, fraction: 0)
        let document = try SourceDocument(request.text, language: request.language) { part in
            context.progress(words.reading, fraction: 0.6 * part)
        }
        guard !document.sentences.isEmpty else { throw Request.noText(isChinese: request.isChinese) }

        context.progress(words.weighing(document.sentences.count), fraction: 0.6)
        await Task.yield()
        let scorer = SentenceScorer(document)
        let features = try scorer.features()
        try Task.checkCancellation()

        context.progress(words.choosing, fraction: 0.9)
        let selection = PointSelection(isDialogue: document.isDialogue)
        let count = wanted ?? Self.points(for: document.sentences.count)
        let chosen = try selection.chosen(count, of: document, scorer: scorer, features: features)
        let condenser = Condenser(
            limit: characters ?? (request.language == .chinese ? Self.chineseLimit : Self.longestSentence),
            value: scorer.value
        )
        return try stream(chosen, of: document, condenser, context)
    }

    /// Sends each point as soon as it is written, and hands back all of them.
    private func stream(
        _ chosen: [(index: Int, score: Double)],
        of document: SourceDocument,
        _ condenser: Condenser,
        _ context: SkillContext
    ) throws -> SkillOutput {
        var output = SkillOutput(text: "")
        var said: Set<String> = []
        for (index, score) in chosen {
            try Task.checkCancellation()
            let point = condenser.condensed(document.sentences[index].text)
            guard said.insert(Normalizer.fold(point)).inserted else { continue }
            let start = output.text.isEmpty ? "" : "\n"
            let piece = start + (chosen.count > 1 ? "- " : "") + point
            context.text(piece)
            output.text += piece
            output.parts.append(OutputPart(kind: "point", text: point, score: min(1, max(0, score / 5))))
        }
        return output
    }

    /// A summary is shorter than its text.
    private static func points(for sentences: Int) -> Int {
        switch sentences {
        case ...4: sentences
        case ...6: 3
        case ...9: 4
        default: usualPoints
        }
    }
}

/// What the skill says of its work, in the user's language.
private struct Words {
    let isChinese: Bool
    var reading: String { isChinese ? "正在阅读" : "reading" }
    var choosing: String { isChinese ? "正在挑选要点" : "choosing the points" }
    func weighing(_ count: Int) -> String {
        isChinese ? "正在比较 \(count) 个句子" : "weighing \(count) sentence\(count == 1 ? "" : "s")"
    }
}
