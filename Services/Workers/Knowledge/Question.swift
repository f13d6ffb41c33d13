internal import SkillKit
internal import Text
internal import Wire

/// What to search for: the question without the words that only ask.
enum Question {
    /// Wording that asks for a search, or says what to do with what is found. Longer before shorter.
    private static let english: [[String]] = [
        "what does the * say about", "what do the * say about", "according to the *", "search the knowledge base for",
        "search the * for",
        "in the knowledge base", "in our knowledge base", "in my knowledge base", "from the knowledge base",
        "knowledge base",
        "in our docs", "in the docs", "in my docs", "in our documents", "in the documents", "in my documents",
        "in my notes",
        "in our documentation", "in the documentation", "in my files", "from my documents", "from the documents",
        "from the docs",
        "in the manual", "in the handbook", "could you please", "can you please", "would you please",
        "could you tell me", "can you tell me",
        "could you", "can you", "would you", "please tell me", "tell me about", "tell me", "i want to know",
        "i would like to know",
        "i'd like to know", "do you know", "look up", "look for", "search for", "search", "find out",
        "find information on",
        "find information about", "find material on", "find the section on", "find", "research the",
        "do a literature review on",
        "write a survey of", "do some research on", "research", "investigate", "explain to me", "explain", "describe",
        "please",
        "and summarise it", "and summarize it", "summarise it", "summarize it", "and summarise", "and summarize",
        "then summarise", "then summarize",
        "and cite your sources", "cite your sources", "and cite the sources", "with references", "with citations",
        "with sources",
        "cite the source", "and give me a sourced overview", "list the references", "condense it",
        "what is the meaning of", "definition of",
    ].map { $0.split(separator: " ").map(String.init) }

    private static let chinese: [String] = [
        "在知识库里查一下", "在知识库中查找", "在知识库里", "在知识库中", "在知识库", "从知识库里", "从知识库中", "从知识库", "知识库里有没有", "知识库里", "知识库中",
        "知识库", "从资料里找一下", "从资料里", "从文档里", "从文档中", "根据文档", "根据资料", "在文档里", "在文档中", "文档里", "文档中", "帮我查一下", "帮我查询",
        "帮我检索", "帮我搜索", "帮我找一下", "帮我了解", "帮我", "请帮我", "麻烦", "请问", "查一下", "查一查", "查询一下", "查询", "查找", "检索一下", "检索",
        "搜索一下", "搜索", "搜一下", "找一下", "找找", "调研一下", "调研", "研究一下", "了解一下", "解释一下", "解释", "介绍一下", "说明一下", "告诉我", "我想知道",
        "想知道", "有没有关于", "关于", "的说明", "的资料", "的相关资料", "什么是", "是什么意思", "的意思", "是什么", "的定义", "给我总结成三条", "并总结", "总结一下",
        "再总结",
        "给我总结", "附上参考文献", "附参考文献", "附上出处", "回答时附上出处", "并标注来源", "标注来源", "注明引用", "带引用", "附文献", "要有出处", "列出引用", "附引用",
        "做个调研报告", "写一份", "做一个", "怎么回事", "呢", "吗", "请",
    ].sorted { $0.count > $1.count }

    /// The words to search for.
    static func query(_ input: SkillInput, skill: String) -> String {
        let question = input.separatedMaterial ?? input.text
        let core = stripped(question)
        // "And who discovered it?" is about what was asked before.
        let telling = WordSegmenter().words(in: core).filter { !StopWords.contains($0.text) }
        guard telling.count <= 1,
            let before = input.history.last(where: { $0.role == "user" && $0.skills?.contains(skill) == true })
        else { return core }
        return stripped(before.text) + " " + core
    }

    /// The question as a model reads it: as it was asked; the words of the search where it needs the question before.
    static func asked(_ input: SkillInput, query: String) -> String {
        let question = input.separatedMaterial ?? input.text
        return stripped(question) == query ? question : "\(question)\n(\(query))"
    }

    /// Without the wording; the text itself if nothing else is left.
    static func stripped(_ text: String) -> String {
        var rest = text
        for phrase in chinese where rest.contains(phrase) {
            let without = rest.replacing(phrase, with: " ")
            if hasWords(without) { rest = without }
        }
        let pieces = WordSegmenter().pieces(in: rest)
        let words = pieces.indices.filter { pieces[$0].isWord }
        let folded = words.map { Normalizer.fold(pieces[$0].text) }
        var dropped = Set<Int>()
        var place = 0
        while place < words.count {
            if let length = english.lazy.compactMap({ match($0, folded, place) }).max() {
                dropped.formUnion(words[place..<(place + length)])
                place += length
            } else {
                place += 1
            }
        }
        let kept = pieces.indices.filter { !dropped.contains($0) }.map { pieces[$0].text }.joined()
        let result = hasWords(kept) ? kept : rest
        return result.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func match(_ phrase: [String], _ words: [String], _ start: Int) -> Int? {
        guard start + phrase.count <= words.count else { return nil }
        let fits = phrase.indices.allSatisfy { phrase[$0] == "*" || words[start + $0] == phrase[$0] }
        return fits ? phrase.count : nil
    }

    private static func hasWords(_ text: String) -> Bool {
        WordSegmenter().words(in: text).contains { !StopWords.contains($0.text) }
    }
}
