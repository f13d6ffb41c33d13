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
