internal import ModelAccess
internal import SkillKit
internal import Wire

@main
enum CitationsWorker {
    static func main() async {
        await SkillWorker.run(Citations(access: .ofProcess("skillbus-worker-citations")))
    }
}

/// The skill `citations`: the references that a text has, or the documents that an answer stands on, as one list. Nothing
/// is in the list that is not in the text: what cannot be told apart stays as it was written.
struct Citations: Skill {
    /// What may be asked of models: only to tell the fields of a reference apart.
    var access = ModelAccess.none

    var engine: String { access.engine }
    var sendsDataTo: [String] { access.sendsDataTo }

    enum Style: String, SchemaEnumeration {
        case numeric
        case authorYear = "author-year"
    }

    struct Arguments: SkillArguments {
        var style: Style?

        static let descriptions = [
            "style":
                "numeric for [1], or author-year. Left out: by the style that is named (APA, MLA, IEEE, GB/T 7714), or numeric."
        ]
    }

    static let manifest = SkillManifest(
        id: "citations",
        displayName: "Citations",
        description: """
            Citations and references: format, list or clean up references, a bibliography, works cited, footnotes, sources of \
            a statement (APA, MLA, IEEE, Chicago, GB/T 7714), DOI and ISBN. \
            引用与参考文献：整理、排列参考文献列表，标注来源和出处，引文格式转换（国标、APA）。
            """,
        inputTypes: [.text, .file],
        consumes: ["passages", "text"],
        produces: ["references", "text"],
        examples: [
            "cite this in APA style", "make a bibliography", "format these references", "add references to this text",
            "where does this come from? cite the source", "list the sources you used",
            "turn these links into citations",
            "convert the citations to IEEE", "generate a works cited list", "生成参考文献", "按国标格式整理参考文献列表",
            "给这段话标注出处", "列出引用的来源", "把引文改成APA格式", "这些文献怎么引用",
        ],
        concurrency: 4,
        timeout: 600,
        cacheTTL: 3600
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let request = try CitationRequest(input, arguments)
        let words = CitationWords(isChinese: request.isChinese)
        context.progress(words.reading, fraction: 0)
        let cited = try CitedText(request)
        try Task.checkCancellation()
        guard !cited.references.isEmpty else { throw words.nothingFound }

        var references = cited.references
        var notes = cited.missing.isEmpty ? [] : [words.missing(cited.missing)]
        let messy = references.indices.filter { !references[$0].written.isEmpty && !references[$0].fields.isEnough }
        var isRead = false
        let bytes = messy.reduce(0) { $0 + references[$1].written.utf8.count }
        if !messy.isEmpty,
            let model = try await access.model(for: context, sending: bytes, isChinese: request.isChinese)
        {
            context.progress(words.telling(messy.count), fraction: 0.3)
            let reader = FieldReading(model, context)
            let result = try await reader.fields(of: messy.map { references[$0].written })
            for (index, fields) in zip(messy, result.fields) { references[index].fields = fields }
            if result.madeUp > 0 { notes.append(words.madeUp(result.madeUp)) }
            isRead = result.hasAnswered
        }
        if !isRead { context.engine(ModelAccess.offline) }
        let left = references.count { !$0.written.isEmpty && !$0.fields.isEnough }
        if left > 0 { notes.append(words.asWritten(left)) }
        if let name = request.namedStyle { notes.append(words.form(name, request.style)) }

        let list = ReferenceList(references, style: request.style, words: words)
        for note in notes { context.progress(note, fraction: 0.9) }
        let text = (cited.body.map { $0 + "\n\n" } ?? "") + words.heading + "\n" + list.text
        return SkillOutput(text: text, parts: list.parts + notes.map { OutputPart(kind: "note", text: $0) })
    }
}
