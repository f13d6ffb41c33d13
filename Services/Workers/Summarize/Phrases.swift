internal import Text

/// What the wording of a sentence gives away.
struct Phrases {
    /// It announces an aim, a result or a conclusion.
    let announces: Bool
    /// It hangs on the sentence before.
    let dangles: Bool
    /// It asks, or is an aside of talk.
    let asks: Bool

    private static let englishCues = [
        "we propose", "we present", "we introduce", "we show", "we find", "we found", "we demonstrate", "we develop",
        "this paper", "in this work", "this study", "this report", "our results", "results show", "results suggest",
        "results indicate", "in conclusion", "in summary", "to summarize", "overall,", "importantly", "the main",
        "the key", "significantly", "conclude", "we argue", "we describe", "we investigate", "as a result", "the aim",
        "the goal", "the purpose", "demonstrates that", "suggests that", "shows that", "decided", "agreed",
    ]
    private static let chineseCues = [
        "本文", "结果表明", "结果显示", "研究表明", "表明", "结论", "提出了", "总之", "综上", "因此", "最重要", "主要", "关键", "发现",
        "旨在", "总的来说", "决定", "指出", "强调", "目标是", "意味着", "總之", "結論", "顯示",
    ]
    private static let englishDangling: Set<String> = [
        "however", "but", "and", "so", "also", "this", "these", "those", "that", "it", "they", "he", "she", "such",
        "moreover", "furthermore", "additionally", "then", "thus", "hence", "here", "there", "or", "yet", "still",
        "nevertheless", "nonetheless", "otherwise", "instead", "meanwhile", "similarly", "likewise", "its", "their",
        "his", "her", "both", "another", "again", "besides", "for", "because",
    ]
    private static let chineseDangling = [
        "但是", "但", "而且", "并且", "此外", "另外", "同时", "然而", "不过", "所以", "于是", "然后", "这", "那", "它", "他", "她", "其",
        "另一方面", "也就是说", "换句话说", "例如", "比如", "此后", "后来", "因此", "其中", "其次", "再次", "对", "嗯", "好", "就是", "還有", "還", "這",
    ]

    init(_ sentence: String, language: Language) {
        if language == .chinese {
            announces = Self.chineseCues.contains { sentence.contains($0) }
            dangles = Self.chineseDangling.contains { sentence.hasPrefix($0) }
            asks =
                sentence.hasSuffix("？") || sentence.hasSuffix("?") || sentence.hasSuffix("吗。")
                || sentence.hasSuffix("呢。")
            return
        }
        let lower = Normalizer.fold(sentence)
        announces = Self.englishCues.contains { lower.contains($0) }
        let first = lower.prefix { $0.isLetter }
        dangles = Self.englishDangling.contains(String(first))
        asks = lower.hasSuffix("?") || lower.hasSuffix("?\"")
    }
}
