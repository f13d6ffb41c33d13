internal import Material
internal import ModelAccess
internal import SkillKit
internal import Text
internal import Wire

@main
enum KeywordsWorker {
    static func main() async {
        await SkillWorker.run(Keywords(access: .ofProcess("skillbus-worker-keywords")))
    }
}

/// The skill `keywords`: the phrases that a text is about, as it writes them; chosen by a model where there is one.
struct Keywords: Skill {
    /// What may be asked of models.
    var access = ModelAccess.none

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    struct Arguments: SkillArguments {
        var count: Int?
        var top: Int?
        var language: String?

        static let descriptions = [
            "count": "How many keywords at most, 1 to 50. Left out: 8.",
            "top": "Another name for count.",
            "language": "The language of the text, such as zh or en. Left out: found by its script.",
        ]
        static let ranges = ["count": 1...50, "top": 1...50]
    }

    static let manifest = SkillManifest(
        id: "keywords",
        displayName: "Keywords",
        description: """
            Extract the keywords, key phrases, key terms or tags of a text, article or document that the user gives. \
            从一段文字、文章或文件中提取关键词、关键字、关键短语、术语、标签。
            """,
        inputTypes: [.text, .file],
        consumes: ["text", "passages"],
        produces: ["text"],
        examples: [
            "extract keywords from this article", "what are the key terms of this text", "give me ten key phrases",
            "tag this post for me", "which topics does this document cover", "suggest tags for the blog entry",
            "提取这篇文章的关键词", "找出这段文字里的关键字", "给这篇博客加几个标签", "这份文件里有哪些术语", "列出十个关键短语",
        ],
        concurrency: 2,
        // A model may take its time; without one it takes seconds.
        timeout: 600,
        cacheTTL: 3600
    )

    /// Keywords, where nobody says how many.
    private static let usualCount = 8
    /// Longest part of a long block that is read at once: a cancelled job ends within the reading of one.
    private static let part = 64 * 1024
    /// Progress is told after so much.
    private static let step = 256 * 1024

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let count = arguments.count ?? arguments.top ?? Self.usualCount
        let request = try Request.material(input, language: arguments.language)
        let words = Words(isChinese: request.isChinese)
        context.progress(words.reading, fraction: 0)
        let scorer = try read(request, words, context)
        context.progress(words.ranking, fraction: 0.9)
        await Task.yield()
        try Task.checkCancellation()
        if access.isConfigured {
            let choice = KeywordChoice(request, candidates: try scorer.best(KeywordChoice.mostCandidates), count: count)
            if let model = try await access.model(for: context, sending: choice.bytes, isChinese: request.isChinese),
                let chosen = try await choice.keywords(by: model)
            {
                return stream(chosen, request, words, context)
            }
        }
        return stream(try scorer.best(count), request, words, context)
    }

    private func read(_ material: Material, _ words: Words, _ context: SkillContext) throws -> KeywordScorer {
        var scorer = KeywordScorer(language: material.language)
        let all = Double(max(1, material.text.utf8.count))
        var read = 0
        var reported = 0
        let blocks = DocumentReader().blocks(in: material.text)
        try Task.checkCancellation()
        for block in blocks {
            let bytes = Array(block.text.utf8)
            for part in TextParts.ranges(in: bytes, atMost: Self.part) {
                try Task.checkCancellation()
                let isTitle = block.kind == .heading
                self.read(bytes.text(part), isTitle: isTitle, from: read, of: all, into: &scorer)
                read += part.count
                guard read - reported > Self.step else { continue }
                reported = read
                context.progress(words.reading, fraction: 0.9 * min(1, Double(read) / all))
            }
        }
        scorer.finish()
        return scorer
    }

    private func read(
        _ text: String,
        isTitle: Bool,
        from start: Int,
        of all: Double,
        into scorer: inout KeywordScorer
    ) {
        var read = start
        let sentences = SentenceSegmenter().sentences(in: text)
        for sentence in sentences {
            // What ends without a full stop beside other sentences is a title.
            let last = sentence.unicodeScalars.last?.value ?? 0
            let standsOut = sentences.count > 1 && !Punctuation.isTerminator(last) && !Punctuation.isClosing(last)
            scorer.read(
                sentence,
                at: min(1, Double(read) / all),
                isTitle: isTitle || standsOut && sentence.utf8.count < 200
            )
            read += sentence.utf8.count
        }
    }

    /// Sends each keyword, and hands back all of them.
    private func stream(_ keywords: [Keyword], _ material: Material, _ words: Words, _ context: SkillContext)
        -> SkillOutput
    {
        guard !keywords.isEmpty else {
            context.text(words.none)
            return SkillOutput(text: words.none)
        }
        var output = SkillOutput(text: "")
        for keyword in keywords {
            let separator = output.text.isEmpty ? "" : material.language == .chinese ? "、" : ", "
            let piece = separator + keyword.text + (keyword.isTopic ? words.topic : "")
            context.text(piece)
            output.text += piece
            let kind = keyword.isTopic ? "topic" : "keyword"
            output.parts.append(OutputPart(kind: kind, text: keyword.text, score: keyword.score))
        }
        return output
    }
}

/// What the skill says of its work, in the user's language.
private struct Words {
    let isChinese: Bool
    var reading: String { isChinese ? "正在阅读" : "reading" }
    var ranking: String { isChinese ? "正在给候选词排序" : "ranking the phrases" }
    /// Behind a keyword that the text does not have.
    var topic: String { isChinese ? "（主题）" : " (topic)" }
    var none: String {
        isChinese ? "没有找到关键词：文字里只有虚词或标点。" : "No keywords: the text has only function words or punctuation."
    }
}
