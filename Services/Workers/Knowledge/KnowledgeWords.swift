internal import DocumentIndex
internal import Lifecycle
internal import SkillKit

/// What the skill says, in the language of the question.
struct KnowledgeWords {
    let isChinese: Bool

    var searching: String { isChinese ? "正在检索文档" : "searching the documents" }

    func found(_ count: Int) -> String {
        isChinese ? "找到 \(count) 段" : "found \(count) \(count == 1 ? "passage" : "passages")"
    }

    var answering: String { isChinese ? "正在根据段落作答" : "answering from the passages" }

    var noAnswer: String {
        isChinese ? "模型认为这些段落没有回答这个问题；以下是段落本身" : "the model finds no answer in the passages; here they are"
    }

    var noAnswerAfterAll: String {
        isChinese ? "回答没有写完，以下是段落本身" : "the answer did not come to its end; here are the passages"
    }

    var uncited: String {
        isChinese
            ? "模型的回答没有引用任何段落，因此不予采用；以下是段落本身" : "the model's answer cites no passage, and is not used; here they are"
    }

    var cut: String {
        isChinese ? "（回答达到长度上限，在此截断。）" : "(The answer was cut here: it reached the limit of its length.)"
    }

    /// What is to be known about sentences that no passage is named for.
    func unsupported(_ count: Int) -> String {
        isChinese
            ? "（请注意：有 \(count) 句没有标明出处。）"
            : "(Note: no passage is named for \(count) \(count == 1 ? "sentence" : "sentences").)"
    }

    func unknown(_ numbers: [String]) -> String {
        let shown = numbers.prefix(5).joined(separator: ", ")
        return isChinese ? "已删去不存在的引用编号：\(shown)" : "citations of passages that do not exist were removed: \(shown)"
    }

    /// The sources of the passages that an answer cites.
    func sources(_ passages: [DocumentIndex.Passage], cited: Set<Int>) -> String {
        let lines = cited.sorted().compactMap { number -> String? in
            guard passages.indices.contains(number - 1) else { return nil }
            let passage = passages[number - 1]
            return "[\(number)] " + (passage.title.isEmpty ? passage.source : "\(passage.title) — \(passage.source)")
        }
        return lines.joined(separator: "\n")
    }

    /// The passages, numbered, each with its source.
    func answer(_ passages: [DocumentIndex.Passage]) -> String {
        passages.enumerated().map { index, passage in
            let title = passage.title.isEmpty ? passage.source : "\(passage.title) — \(passage.source)"
            return "[\(index + 1)] \(title)\n\(passage.snippet)"
        }.joined(separator: "\n\n")
    }

    var emptyQuery: SkillError {
        isChinese
            ? SkillError("empty_query", "查询是空的：没有要查找的词 (empty query)", hint: "请写出要查找的问题或关键词。")
            : SkillError(
                "empty_query",
                "the query is empty: there is no word to search for",
                hint: "Write the question or the words to look for."
            )
    }

    func nothingFound(_ query: String, hasOwnDocuments: Bool) -> SkillError {
        let shown = query.count > 80 ? query.prefix(80) + "…" : query[...]
        let place =
            hasOwnDocuments
            ? (isChinese ? "给出的文档" : "the given documents") : (isChinese ? "已索引的文档" : "the indexed documents")
        return isChinese
            ? SkillError("nothing_found", "\(place)里没有与“\(shown)”相关的内容", hint: "换个说法再试，或用 skillbus index 文件夹 加入更多文档。")
            : SkillError(
                "nothing_found",
                "nothing in \(place) matches \"\(shown)\"",
                hint: "Try other words, or add documents with: skillbus index DIR"
            )
    }

    /// What makes the index at a path, typed by somebody who has none of this process's variables: those of a worker
    /// that `skillbus up --state` started say where its state is.
    private func command(_ path: String) -> String {
        var variables = Environment.all
        variables["SKILLBUS_STATE"] = nil
        let usual = DocumentIndex.defaultPath(stateFolder: Environment.stateFolder(of: variables))
        let name = DocumentIndex.defaultPath(stateFolder: "")
        if path == usual { return "skillbus index" }
        guard path.hasSuffix(name) else { return "SKILLBUS_KNOWLEDGE=\(quoted(path)) skillbus index" }
        return "skillbus index --state \(quoted(String(path.dropLast(name.count))))"
    }

    private func quoted(_ path: String) -> String {
        let isPlain = path.allSatisfy { $0.isLetter || $0.isNumber || "/._-+".contains($0) }
        return isPlain
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    func error(for error: IndexError, path: String) -> SkillError {
        switch error {
        case .emptyQuery: return emptyQuery
        case .notFound:
            return isChinese
                ? SkillError("no_index", "还没有文档索引（\(path)）", hint: "先建立索引：\(command(path)) 文件夹")
                : SkillError(
                    "no_index",
                    "there is no index of documents yet (\(path))",
                    hint: "Make one with: \(command(path)) DIR"
                )
        case .incompatible:
            return SkillError(
                "index_incompatible",
                "\(error)",
                hint: isChinese ? "请重新建立索引：\(command(path)) 文件夹" : "Index again: \(command(path)) DIR"
            )
        case .busy: return SkillError("index_busy", "\(error)", retryable: true)
        case .folder, .database: return SkillError("index_unreadable", "\(error)", retryable: true)
        }
    }
}
