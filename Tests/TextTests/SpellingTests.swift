import Testing
import Text

@Suite struct SpellingTests {
    @Test(arguments: [
        ("ＡＢＣ１２３", "abc123"), ("Straße", "strasse"), ("ﬁne", "fine"), ("soft\u{AD}hyphen\u{200B}", "softhyphen"),
        ("中文，OK", "中文,ok"), ("中文OK", "中文ok"), ("", ""), ("ｶﾞ", "ガ"), ("İ", "i\u{307}"), ("👍🏽", "👍🏽"),
    ])
    func folding(text: String, folded: String) {
        #expect(Normalizer.fold(text).unicodeScalars.elementsEqual(folded.unicodeScalars))
    }

    @Test func halfWidthKeepsCases() {
        #expect(Normalizer.halfWidth("ＡｂＣ（１２）") == "AbC(12)")
        #expect(Normalizer.halfWidth("Plain 中文") == "Plain 中文")
    }

    @Test(arguments: [
        ("帮我总结这篇文章", Language.chinese), ("Summarise this text", .english), ("", .other), ("12345 !?", .other),
        ("The Chinese word 你好 means hello and is said by people everywhere", .english),
        ("我们用 Kubernetes 和 PostgreSQL 部署 microservices", .chinese), ("これは日本語の文章です", .other),
        ("안녕하세요 여러분", .other), ("Привет, мир", .other), ("مرحبا بالعالم", .other), ("Ｈｅｌｌｏ", .english),
        ("繁體中文也是中文", .chinese),
        (
            "Le chat est assis sur le tapis et le chien dort dans le jardin pendant que les enfants jouent avec leurs amis près de la maison où leur grand-mère prépare le repas",
            .other
        ),
    ])
    func languages(text: String, language: Language) {
        #expect(Language.of(text) == language)
    }

    @Test func stems() {
        let stems = ["connections", "connected", "connecting", "connect"].map { Stemmer.english.stem($0) }
        #expect(Set(stems) == ["connect"])
        #expect(Stemmer.english.stem("中文") == "中文")
        #expect(Stemmer.english.stem("") == "")
        let long = String(repeating: "s", count: 10_000)
        #expect(Stemmer.english.stem(long) == long)
    }

    @Test func stopWords() {
        for word in ["the", "The", "ＴＨＥ", "don't", "it’s", "they'll", "的", "我们", "因为", "because"] {
            #expect(StopWords.contains(word), "\(word)")
        }
        for word in ["reactor", "O'Brien", "系统", "", "network"] { #expect(!StopWords.contains(word), "\(word)") }
    }

    @Test func simplifiedChinese() {
        #expect(ChineseScript.simplified("國際會議討論網絡安全") == "国际会议讨论网络安全")
        #expect(ChineseScript.simplified("English stays") == "English stays")
        #expect(ChineseScript.simplified("") == "")
    }

    /// The pools lend an object to one caller at a time.
    @Test func manyCallersAtOnce() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<64 {
                group.addTask {
                    let text = "任务\(task)在并行地切分句子。The sentences of task \(task) differ."
                    let words = WordSegmenter().words(in: text).map(\.text)
                    return words.contains("\(task)") && words.contains("句子")
                        && SentenceSegmenter().sentences(in: text).count == 2
                        && Stemmer.english.stem("tasks") == "task" && Normalizer.fold("ＴＡＳＫ") == "task"
                }
            }
            for await passed in group { #expect(passed) }
        }
    }
}
