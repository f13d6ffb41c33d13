internal import Text

/// Words that no phrase contains: function words, and verbs and adverbs that describe what is done rather than what it
/// is about.
enum PhraseBorders {
    /// Whether a folded English word ends a phrase.
    static func endsEnglish(_ folded: String) -> Bool {
        if StopWords.containsEnglish(folded: folded) || english.contains(folded) { return true }
        // Adverbs: "rapidly", but not "family" or "supply".
        return folded.utf8.count > 6 && folded.hasSuffix("ly") && !notAdverbs.contains(folded)
    }

    /// Whether a Chinese word ends a phrase.
    static func endsChinese(_ word: String) -> Bool { StopWords.containsChinese(word) }

    /// Whether a Chinese word may be part of a keyword but is none by itself.
    static func isWeakAlone(_ word: String) -> Bool { weakAlone.contains(word) }

    /// The parts of a run around words that are more likely verbs than part of a name: one in `-ed` at the end ("the flood
    /// tide filled") or behind a plural ("mills sawed timber"). At the start it tells a kind: "distributed systems".
    static func withoutVerbs(_ run: [PhraseWord]) -> [[PhraseWord]] {
        var parts: [[PhraseWord]] = []
        var part: [PhraseWord] = []
        for (position, word) in run.enumerated() {
            let follows = position > 0 ? run[position - 1].text : ""
            let isBehindPlural = follows.hasSuffix("s") && !["ss", "us", "is"].contains { follows.hasSuffix($0) }
            let isPast = word.text.utf8.count > 4 && word.text.hasSuffix("ed")
            if isPast, position > 0, position == run.count - 1 || isBehindPlural {
                if !part.isEmpty { parts.append(part) }
                part = []
            } else {
                part.append(word)
            }
        }
        if !part.isEmpty { parts.append(part) }
        return parts
    }

    private static let notAdverbs: Set = ["assembly", "monopoly", "anomaly", "butterfly", "polypoly", "homopoly"]

    private static let english: Set<String> = set(
        """
        propose proposes proposed proposing present presents presented presenting describe describes described describing
        discuss discusses discussed discussing investigate investigates investigated investigating demonstrate
        demonstrates demonstrated demonstrating suggest suggests suggested suggesting indicate indicates indicated
        indicating consider considers considered considering provide provides provided providing obtain obtains obtained
        obtaining allow allows allowed allowing require requires required requiring perform performs performed performing
        develop develops developed developing introduce introduces introduced introducing achieve achieves achieved
        achieving improve improves improved apply applies applied applying compare compares compared comparing determine
        determines determined determining examine examines examined examining report reported reports reporting lead
        leads led leading increase increases increased increasing decrease decreases decreased decreasing reduce reduces
        reduced reducing include includes included including contain contains contained containing follow follows
        followed following based cause causes caused causing affect affects affected affecting produce produces produced
        producing create creates created creating enable enables enabled enabling offer offers offered offering call
        called calls calling illustrate illustrates illustrated illustrating establish establishes established
        establishing employ employs employed employing utilize utilizes utilized utilizing exploit exploits exploited
        derive derives derived deriving evaluate evaluates evaluated evaluating analyze analyzes analyzed analyzing
        analyse analysed analysing observe observes observed observing exhibit exhibits exhibited conclude concludes
        concluded depend depends depended depending occur occurs occurred occurring remain remains remained remaining
        appear appears appeared appearing tend tends tended help helps helped helping explain explains explained
        explaining believe believes argue argues argued address addresses addressed addressing assume assumes assumed
        assuming avoid avoids avoided choose chosen chooses chose carry carried carries convert converts converted
        lasts lasted fail fails failed rise rises rose risen grow grows grew grown built stayed stays move moves moved
        start starts started starting begin begins began begun turn turns turned needs needed want wants wanted
        wanting try tries tried trying think thinks thought feel feels felt keep keeps kept leave leaves left bring
        brings brought hold holds held put puts ran runs ask asks asked tell tells told passed passes meet meets met
        pay pays paid ensure ensures ensured store stores stored respectively lived lives went wrote written
        helped told happen happens happened continue continues continued continuing open opens opened close closes
        closed announce announces announced expect expects expected expecting spend spends spent receive receives
        received buy buys bought sell sells sold lose loses lost win wins won add adds added adding support supports
        supported join joins joined serve serves served send sends sent reach reaches reached visit visits visited
        cover covers covered cut cuts fall falls fell fallen stop stops stopped drop drops dropped
        possible important useful effective efficient available suitable well-known simple recent previous existing
        necessary sufficient similar significant better best greater larger higher lower smaller full total
        result results paper study studies article author authors work works approach approaches method methods
        technique techniques problem problems example examples case cases number numbers order respect aim aims aimed
        purpose basis fact role terms range variety set sets fig figs figure figures table tables section sections eq
        eqs ref refs day days week weeks month months year years today yesterday tomorrow people
        monday tuesday wednesday thursday friday saturday sunday
        january february march april june july august september october november december
        """
    )

    private static let weakAlone: Set<String> = set(
        """
        提高 提出 实现 影响 结果 问题 方法 发现 产生 出现 存在 达到 增加 减少 考虑 需要 保证 主要 重要 主要原因 一定 可能 情况 方面 过程 作用
        基础 条件 因素 水平 程度 意义 原因 内容 部分 目前 具体 基本 求 出 占 约 种 期 年 月 日 个 次 例 组 该 所 较 更 易 容易 难以 导致 引起
        造成 具 能够 成功 进一步 有效 明显 显著 较好 良好 不同 相应 有关 要求 介绍 阐述 总结 研究 分析 探讨 人 人们 时间 事情 东西 地方 时代 知道
        觉得 看到 看 听 去年 今年 表示 认为 开始 继续 成为 带来 形成 比例 任务 准确率
        """
    )

    private static func set(_ words: String) -> Set<String> {
        Set(words.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
