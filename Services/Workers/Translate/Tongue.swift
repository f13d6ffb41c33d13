internal import Text

/// A language as people name it.
struct Tongue: Hashable, Sendable {
    /// BCP 47; empty for one that is not known here.
    let code: String
    /// In English, for the model too.
    let english: String
    /// In Chinese.
    let chinese: String

    private let names: [String]

    private init(_ code: String, _ english: String, _ chinese: String, _ names: String = "") {
        self.code = code
        self.english = english
        self.chinese = chinese
        self.names =
            ([english, chinese] + names.split(separator: ",").map(String.init)).map(Normalizer.fold)
    }

    static let english = Tongue("en", "English", "英语", "英文,inglés,anglais,englisch")
    static let chinese = Tongue("zh", "Chinese", "中文", "汉语,漢語,国语,普通话,华语,mandarin,mandarin chinese,chino,chinois")

    static let all: [Tongue] = [
        english, chinese,
        Tongue("zh-Hans", "Simplified Chinese", "简体中文", "简体,简中,简体字"),
        Tongue("zh-Hant", "Traditional Chinese", "繁体中文", "繁体,繁中,繁體中文,繁體,繁体字"),
        Tongue("yue", "Cantonese", "粤语", "广东话,粵語"), Tongue("ja", "Japanese", "日语", "日文,日本語,日本语"),
        Tongue("ko", "Korean", "韩语", "韩文,朝鲜语,한국어"), Tongue("fr", "French", "法语", "法文,français"),
        Tongue("de", "German", "德语", "德文,deutsch"), Tongue("es", "Spanish", "西班牙语", "西语,西班牙文,español,castilian"),
        Tongue("pt-BR", "Brazilian Portuguese", "巴西葡萄牙语"), Tongue("pt", "Portuguese", "葡萄牙语", "葡语,葡萄牙文,português"),
        Tongue("it", "Italian", "意大利语", "意语,意大利文,italiano"), Tongue("nl", "Dutch", "荷兰语", "荷兰文,nederlands"),
        Tongue("ru", "Russian", "俄语", "俄文,русский"), Tongue("uk", "Ukrainian", "乌克兰语", "乌克兰文"),
        Tongue("pl", "Polish", "波兰语", "波兰文"), Tongue("cs", "Czech", "捷克语", "捷克文"), Tongue("sk", "Slovak", "斯洛伐克语"),
        Tongue("hu", "Hungarian", "匈牙利语", "匈牙利文"), Tongue("ro", "Romanian", "罗马尼亚语"),
        Tongue("bg", "Bulgarian", "保加利亚语"),
        Tongue("el", "Greek", "希腊语", "希腊文"), Tongue("tr", "Turkish", "土耳其语", "土耳其文"),
        Tongue("ar", "Arabic", "阿拉伯语", "阿拉伯文,阿语"),
        Tongue("he", "Hebrew", "希伯来语", "希伯来文"), Tongue("fa", "Persian", "波斯语", "波斯文,farsi"),
        Tongue("hi", "Hindi", "印地语", "印地文"), Tongue("ur", "Urdu", "乌尔都语"), Tongue("bn", "Bengali", "孟加拉语", "bangla"),
        Tongue("ta", "Tamil", "泰米尔语"), Tongue("th", "Thai", "泰语", "泰文"), Tongue("vi", "Vietnamese", "越南语", "越南文,越语"),
        Tongue("id", "Indonesian", "印尼语", "印度尼西亚语,印尼文"), Tongue("ms", "Malay", "马来语", "马来文"),
        Tongue("tl", "Filipino", "菲律宾语", "tagalog,他加禄语"), Tongue("sv", "Swedish", "瑞典语", "瑞典文"),
        Tongue("da", "Danish", "丹麦语", "丹麦文"), Tongue("nb", "Norwegian", "挪威语", "挪威文"),
        Tongue("fi", "Finnish", "芬兰语", "芬兰文"),
        Tongue("ca", "Catalan", "加泰罗尼亚语"), Tongue("la", "Latin", "拉丁语", "拉丁文"), Tongue("eo", "Esperanto", "世界语"),
        Tongue("sw", "Swahili", "斯瓦希里语"), Tongue("mn", "Mongolian", "蒙古语", "蒙语,蒙古文"),
        Tongue("bo", "Tibetan", "藏语", "藏文"),
    ]

    /// Every name with its language, the longest first.
    static let byName: [(name: [Character], tongue: Tongue)] =
        all.flatMap { tongue in tongue.names.map { (Array($0), tongue) } }
        .sorted { $0.0.count == $1.0.count ? $0.0.lexicographicallyPrecedes($1.0) : $0.0.count > $1.0.count }

    /// One Han character that stands for a language: 中译英.
    static func short(_ character: Character) -> Tongue? {
        let codes: [Character: String] = [
            "中": "zh", "汉": "zh", "英": "en", "日": "ja", "韩": "ko", "法": "fr", "德": "de", "俄": "ru", "西": "es",
            "葡": "pt",
            "意": "it", "泰": "th", "越": "vi", "阿": "ar",
        ]
        return codes[character].flatMap { code in all.first { $0.code == code } }
    }

    /// The language of a name or code in any of the usual forms; another name is taken as it is, so that a model may
    /// know more languages than this list. Nil for what is no name.
    init?(named name: String) {
        let trimmed = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let folded = Normalizer.fold(trimmed).replacing("_", with: "-")
        let aliases = [
            "zh-cn": "zh-hans", "zh-sg": "zh-hans", "zh-tw": "zh-hant", "zh-hk": "zh-hant", "zh-mo": "zh-hant",
            "cn": "zh",
            "jp": "ja", "kr": "ko", "no": "nb",
        ]
        let code = aliases[folded] ?? folded
        let known =
            Self.all.first { $0.code.lowercased() == code } ?? Self.all.first { $0.names.contains(folded) }
            ?? Self.all.first { $0.code == code.prefix { $0 != "-" } && code.contains("-") }
        if let known {
            self = known
            return
        }
        // It becomes a part of what the model is told.
        let isName = trimmed.allSatisfy { $0.isLetter || " -()".contains($0) }
        guard isName, 2...40 ~= trimmed.count else { return nil }
        self.init("", trimmed, trimmed)
    }

    /// Whether a text in this language need not be translated into the other.
    func covers(_ other: Tongue) -> Bool {
        self == other || code == "zh" && other.code == "zh-Hans" || code == "zh-Hans" && other.code == "zh"
            || code == "zh-Hant" && other.code == "zh"
    }

    /// The language of a text where its script and words leave no doubt; nil where a model has to tell.
    static func of(_ text: String) -> Tongue? {
        switch Language.of(text) {
        case .chinese: return chinese
        case .other:
            var kana = 0
            var hangul = 0
            var letters = 0
            for scalar in text.unicodeScalars.prefix(4096) where scalar.properties.isAlphabetic {
                letters += 1
                if Script.isKana(scalar.value) { kana += 1 }
                if Script.isHangul(scalar.value) { hangul += 1 }
            }
            if kana * 8 > letters { return all.first { $0.code == "ja" } }
            if hangul * 2 > letters { return all.first { $0.code == "ko" } }
            return nil
        case .english:
            // Also French of a few words counts as English there. English has its small words.
            let words = text.prefix(4096).split { !$0.isLetter && $0 != "'" }.map { Normalizer.fold(String($0)) }
            let small = words.count { StopWords.containsEnglish(folded: $0) && !shared.contains($0) }
            let isPlain = text.utf8.prefix(4096).count { $0 >= 0x80 } * 20 < min(4096, text.utf8.count)
            return isPlain && small >= 2 && small * 5 >= words.count ? english : nil
        }
    }

    /// Small words of English that other languages have too.
    private static let shared: Set<String> = [
        "a", "i", "an", "in", "on", "so", "do", "no", "me", "he", "has", "was", "is", "we", "it", "at", "will", "also",
        "am",
        "as", "or", "had", "to", "if", "us", "be", "up", "my", "of", "over", "her", "die",
    ]
}
