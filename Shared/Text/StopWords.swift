/// Function words: they hold sentences together and say nothing of the subject.
public enum StopWords {
    /// Whether a word is a function word of its language. Any spelling; full width too.
    public static func contains(_ word: String) -> Bool {
        let folded = Normalizer.fold(word)
        return containsEnglish(folded: folded) || containsChinese(folded)
    }

    /// Whether a folded word is an English function word.
    public static func containsEnglish(folded word: String) -> Bool {
        if english.contains(word) { return true }
        // Contractions in any form: it's, we'll, don’t.
        guard let mark = word.firstIndex(where: { $0 == "'" || $0 == "\u{2019}" }) else { return false }
        let stem = word[..<mark]
        let ending = word[word.index(after: mark)...]
        let isContraction = contractions.contains(String(ending))
        return isContraction && (english.contains(String(stem)) || negated.contains(String(stem)))
    }

    /// Whether a word is a Chinese function word. Traditional spellings count.
    public static func containsChinese(_ word: String) -> Bool { chinese.contains(word) }

    private static let contractions: Set = ["s", "re", "ve", "ll", "d", "m", "t", "em", "all"]
    private static let negated: Set = [
        "don", "doesn", "didn", "isn", "aren", "wasn", "weren", "hasn", "haven", "hadn", "won", "wouldn", "couldn",
        "shouldn", "mustn", "mightn", "needn", "ain", "can", "shan", "let", "o", "y", "ma",
    ]

    static let english: Set<String> = set(
        """
        a an the this that these those such same other another each every either neither both all any some no none
        few fewer less least more most much many several enough own
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
        herself it its itself they them their theirs themselves one ones oneself someone somebody something anyone
        anybody anything everyone everybody everything nobody nothing who whom whose which what whatever whoever
        whichever
        am is are was were be been being do does did doing done have has had having can could may might must shall
        should will would ought need dare let lets get gets got getting gotten
        of in to for with on at by from as into about like through over between after before against during without
        within under around among amongst amid along across behind beyond below above beneath beside besides near off
        out outside inside onto upon toward towards up down until till since per via throughout despite except unlike
        than versus vs amidst regarding concerning
        and or but nor so yet if unless because although though while whereas whether when whenever where wherever why
        how however therefore thus hence moreover furthermore nevertheless nonetheless otherwise then else instead
        meanwhile also too even only just still already again ever never always often sometimes usually mostly rarely
        once twice here there now soon later ago almost nearly quite rather very really well perhaps maybe not cannot
        yes no please together apart away back forth indeed actually especially particularly namely thereby therein
        thereof hereby herein wherein whereby whereupon accordingly consequently similarly likewise albeit
        first second third last next etc eg ie e.g i.e et al ok okay oh ah
        be became become becomes becoming seem seems seemed seeming make makes made making take takes took taken give
        gives gave given go goes went gone going come comes came coming say says said saying see sees saw seen know
        knows knew known use uses used using show shows showed shown find finds found
        new old good great little big large small high low long short early late able different various certain due
        main major general common specific
        two three four five six seven eight nine ten hundred thousand
        way ways thing things lot lots kind sort
        don doesn didn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn
        s t re ve ll d m
        """
    )

    static let chinese: Set<String> = set(
        """
        的 了 着 过 地 得 之 乎 者 也 矣 焉 哉 吗 呢 吧 啊 呀 哦 嗯 嘛 啦 哇 哟 呗 罢了 而已
        我 你 您 他 她 它 我们 你们 您们 他们 她们 它们 咱 咱们 自己 本人 人家 大家 别人 彼此 某 某些 某个 各 各个 各种 各自 各位
        这 那 这个 那个 这些 那些 这样 那样 这么 那么 这里 那里 这儿 那儿 这边 那边 这种 那种 此 该 本 其 其他 其它 其余 其中 另 另外 每 每个
        任何 所有 一切 全部 全 整个 有的 有些 一些 一个 一种 一样 一般 一定 一直 一起 一次 一方面 另一方面 许多 很多 不少 多少 若干 几 几个
        两 两个 多个 多种 个 种 次 位 名 项 件 条 些 点 只 支 把 张 块 份 者 们
        什么 怎么 怎样 怎么样 如何 为什么 为何 谁 哪 哪个 哪些 哪里 哪儿 几时 何 何时 何处 是否 能否 可否
        是 有 在 为 被 把 将 对 从 向 往 到 于 以 由 与 和 跟 同 及 或 且 并 而 但 却 就 才 都 也 还 又 再 更 最 很 太 非常 十分 极 极其 特别
        比较 较 较为 相当 颇 稍 稍微 几乎 大约 大概 约 左右 以上 以下 以内 以外 之间 之前 之后 之中 之一 之内 之外 之上 之下 以前 以后 以来
        不 没 没有 未 无 非 别 勿 莫 不是 不会 不能 不可 不要 不用 不得 不同 不仅 不但 不过 不管 不论 无论 无法
        会 能 可 可以 能够 可能 应 应该 应当 必须 需 需要 要 想 愿意 肯 敢 得以 使 使得 令 让 叫 给 予 予以 加以 进行 作为 成为 作 做
        因为 因此 因而 由于 所以 于是 从而 以致 以便 以及 如果 假如 假使 倘若 若 要是 只要 只有 除非 虽然 虽 尽管 即使 即便 然而 可是 但是
        不料 而且 并且 况且 何况 甚至 乃至 或者 还是 要么 与其 宁可 既 既然 即 即可 例如 比如 譬如 诸如 如 像 似 等 等等 及其 还有 此外 除
        除了 除此之外 关于 对于 至于 有关 针对 根据 依据 按 按照 依照 通过 经过 经 凭 据 沿着 随着 随 自 自从 自此 当 当时 每当 正 正在
        曾 曾经 已 已经 刚 刚才 刚刚 马上 立即 立刻 即将 终于 总是 常 常常 经常 往往 有时 偶尔 仍 仍然 依然 依旧 渐渐 逐渐 逐步 一旦 首先
        其次 再次 最后 然后 接着 同时 目前 现在 如今 今天 昨天 明天 今年 去年 近年 近年来 最近 日前 时 时候 期间 当中 里 中 内 外 上 下 前 后
        左 右 间 旁 边 里面 上面 下面 前面 后面 方面 来 去 起来 出来 出 起 进 入 回 开 完 好 多 少 大 小 高 低 新 旧 主要 重要 一 二 三 四 五
        六 七 八 九 十 百 千 万 亿 第一 第二 第三 分别 各类 相关 具有 具备 存在 包括 包含 属于 指出 表示 认为 说 说道 称 提出 介绍 表明 显示
        得到 获得 采用 利用 使用 运用 本文 文章 文中 作者 研究 结果 结论 目的 方法 探讨 分析 基于 并不 并非 而是 就是 也是 都是 还是 只是
        便是 正是 乃是 可谓 换言之 总之 综上所述 综上 所述 上述 下述 如下 如上 以此 为此 对此 据此 由此 因 故 则 所 乃 亦 矣 且 尚 尤其
        尤 特 之类 的话 似的 一下 一点 有点 真 真的 确实 的确 其实 事实上 实际上 当然 显然 果然 居然 竟然 竟 究竟 到底 根本 简直 恐怕 也许
        或许 难道 毕竟 反而 反之 相反 否则 不然 那 哪怕 请 请问 谢谢 您好 你好 好的 对吧 是吧
        为了 突然 其中的 都会 座 束 艘 颗 栋 幅 首 句 段 便 却 之所以 每年 每天 每次 夜里 白天 如此 从此 此后 后来 原来 本来
        這 那個 這個 這些 這樣 這麼 們 我們 你們 他們 她們 它們 會 為 與 對 從 將 說 還 沒 沒有 個 種 嗎 過 著 來 時 後 裡 裏 無 於 應該 應
        因為 雖然 如果說 而且 並 並且 這種 哪個 為什麼 什麼 怎麼 讓 給 關於 對於 進行 經過 隨著
        """
    )

    private static func set(_ words: String) -> Set<String> {
        Set(words.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
