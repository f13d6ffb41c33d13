internal import DocumentIndex
internal import Lifecycle
internal import ModelAccess
internal import SkillKit
internal import Text
internal import Wire

/// Finds the passages of the indexed documents that answer a question, and lets a model answer from them where there is one.
struct Knowledge: Skill {
    struct Arguments: SkillArguments {
        /// A document to search instead of the index.
        struct Document: Decodable, Sendable {
            var id: String
            var title: String?
            var text: String
            var scope: String?
        }

        var limit: Int?
        var folder: String?
        var scope: String?
        var documents: [Document]?

        static let descriptions = [
            "limit": "Passages to return, 1 to 20; 5 if absent.",
            "folder": "Search only documents below this folder.",
            "scope": "Search only those of the given documents that have this scope.",
            "documents": "Documents to search instead of the index, each with id and text.",
        ]
        static let ranges = ["limit": 1...20]
    }

    static let manifest = SkillManifest(
        id: "knowledge",
        displayName: "Knowledge",
        description: """
            Answer a question or look something up in the user's own indexed documents, notes, manuals and policies: what, \
            who, when, where, why, how. Returns the passages that fit best, with their sources. \
            在用户自己已建立索引的文档、笔记、手册、制度中查找资料、回答问题（什么、谁、何时、哪里、为什么、怎么），给出最相关的段落和出处。
            """,
        inputTypes: [.text, .file],
        consumes: ["text"],
        produces: ["passages", "text"],
        examples: [
            "what does the handbook say about parental leave", "look up the refund policy in our docs",
            "who invented the telephone",
            "how does garbage collection work in Java", "explain the difference between TCP and UDP",
            "search the knowledge base for vpn setup", "when did the Berlin wall fall", "why do cats purr", "查一下公司年假制度",
            "什么是CAP定理", "知识库里有没有关于报销流程的说明", "根据文档，接口的超时时间默认是多少", "红楼梦的作者是谁", "光合作用的原理是什么",
            "从资料里找一下服务器的安装步骤", "长城有多长",
        ],
        // A model may take its time; the search takes none.
        timeout: 600,
        // The index may change at any moment.
        cacheTTL: 30
    )

    private let shelf: Shelf
    /// What may be asked of models.
    private let access: ModelAccess

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    /// Makes the skill over an index, which need not exist yet.
    init(index path: String = Knowledge.configuredPath, access: ModelAccess = .none) {
        shelf = Shelf(path: path)
        self.access = access
    }

    /// `SKILLBUS_KNOWLEDGE`, or the index in the state folder.
    static var configuredPath: String {
        if let path = Environment.all["SKILLBUS_KNOWLEDGE"], !path.isEmpty { return path }
        return DocumentIndex.defaultPath(stateFolder: Environment.stateFolder)
    }

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let isChinese = Language.of(input.text) == .chinese
        let words = KnowledgeWords(isChinese: isChinese)
        let limit = arguments.limit ?? 5
        guard 1...20 ~= limit else {
            throw SkillError(
                JobError.Code.invalidArguments,
                "invalid arguments: \"limit\" must be from 1 to 20, not \(limit)"
            )
        }
        let query = Question.query(input, skill: Self.manifest.id)
        guard query.contains(where: { !$0.isWhitespace }) else { throw words.emptyQuery }
        context.progress(words.searching, fraction: 0.1)
        let passages: [DocumentIndex.Passage]
        do throws(IndexError) {
            passages = try await search(query, limit, arguments, input)
        } catch {
            throw words.error(for: error, path: shelf.path)
        }
        try Task.checkCancellation()
        guard let best = passages.first else {
            throw words.nothingFound(query, hasOwnDocuments: arguments.documents != nil)
        }
        // What scores far below the best has only a common word or two of the question.
        let fitting = passages.filter { $0.score >= best.score * 0.2 }
        context.progress(words.found(fitting.count), fraction: access.isConfigured ? 0.4 : 0.9)
        var output = SkillOutput(
            text: words.answer(fitting),
            parts: fitting.map { passage in
                OutputPart(
                    kind: "passage",
                    text: passage.text,
                    source: passage.source,
                    title: passage.title.isEmpty ? nil : passage.title,
                    score: passage.score,
                    values: ["snippet": .string(passage.snippet)]
                )
            }
        )
        let answer = GroundedAnswer(question: Question.asked(input, query: query), passages: fitting, words: words)
        if let model = try await access.model(for: context, sending: answer.bytes, isChinese: isChinese),
            let text = try await answer.text(by: model, context)
        {
            output.text = text
        }
        return output
    }

    private func search(
        _ query: String,
        _ limit: Int,
        _ arguments: Arguments,
        _ input: SkillInput
    ) async throws(IndexError) -> [DocumentIndex.Passage] {
        var given: [DocumentIndex.Document]?
        if let documents = arguments.documents {
            given =
                documents
                .filter { arguments.scope == nil || $0.scope == arguments.scope }
                .map { DocumentIndex.Document(source: $0.id, title: $0.title ?? "", text: $0.text) }
        } else {
            // Documents that came with the request are meant before those of the index.
            let texts = input.attachments.compactMap { file in
                file.text.map { DocumentIndex.Document(source: file.name, title: file.name, text: $0) }
            }
            if !texts.isEmpty { given = texts }
        }
        let folder = arguments.folder ?? (arguments.documents == nil ? arguments.scope : nil)
        let documents = given
        let result: Result<[DocumentIndex.Passage], IndexError> = await withCheckedContinuation { continuation in
            startThread(named: "search") { [shelf] in
                do throws(IndexError) {
                    let passages =
                        if let documents {
                            try DocumentIndex.Reader(documents: documents).search(query, limit: limit)
                        } else {
                            try shelf.search(query, limit: limit, folder: folder)
                        }
                    continuation.resume(returning: .success(passages))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
