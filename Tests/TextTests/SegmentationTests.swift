import Testing
import Text

@Suite struct SegmentationTests {
    let segmenter = WordSegmenter()
    let sentenceSegmenter = SentenceSegmenter()

    @Test func chineseWordsNeedNoSpaces() {
        let words = segmenter.words(in: "我们今天学习音乐的基本原理。")
        #expect(words.map(\.text) == ["我们", "今天", "学习", "音乐", "的", "基本", "原理"])
        #expect(words.allSatisfy { $0.isHan })
    }

    @Test func rangesAreOffsetsInUTF8() {
        let text = "价格是 3.5 元, isn't it?"
        let bytes = Array(text.utf8)
        for word in segmenter.words(in: text) {
            #expect(String(decoding: bytes[word.range], as: UTF8.self) == word.text)
        }
        let kinds = segmenter.words(in: text).map(\.kind)
        #expect(kinds == [.han, .han, .number, .han, .letters, .letters])
    }

    @Test func piecesJoinToTheText() {
        for text in ["", " ", "a b", "他说：“好。” OK!", "👩‍👩‍👧‍👦 family", "مرحبا بالعالم", "e\u{301}a\u{0}b"] {
            #expect(segmenter.pieces(in: text).map(\.text).joined() == text)
        }
    }

    @Test func emojiAndRightToLeftText() {
        #expect(segmenter.words(in: "👍🏽🇨🇳").isEmpty)
        #expect(segmenter.words(in: "مرحبا بالعالم").map(\.text) == ["مرحبا", "بالعالم"])
    }

    @Test func longTextWithoutSpacesIsCutButWhole() {
        let latin = String(repeating: "abcdefghij", count: 100_000)
        #expect(segmenter.pieces(in: latin).map(\.text).joined() == latin)
        let han = String(repeating: "分布式系统的基本原理", count: 20_000)
        let words = segmenter.words(in: han)
        #expect(words.count > 80_000)
        #expect(words.map(\.text).joined() == han)
    }

    @Test(arguments: [
        (
            "Dr. Alice Wong joined Acme Inc. in 2019. She leads the e.g. materials group at St. John's campus. It grew 3.5 times.",
            [
                "Dr. Alice Wong joined Acme Inc. in 2019.",
                "She leads the e.g. materials group at St. John's campus.", "It grew 3.5 times.",
            ]
        ),
        (
            "The U.S. Senate met. He works for Acme Inc. The firm is old. J. R. R. Tolkien wrote it.",
            ["The U.S. Senate met.", "He works for Acme Inc.", "The firm is old.", "J. R. R. Tolkien wrote it."]
        ),
        (
            "Visit example.com for details. Version 2.0.1 fixes the bug... or does it? \"Yes!\" said Kim. Ask help@acme.co.uk.",
            [
                "Visit example.com for details.", "Version 2.0.1 fixes the bug... or does it?", "\"Yes!\" said Kim.",
                "Ask help@acme.co.uk.",
            ]
        ),
        ("See No. 5 and Fig. 3. He said no. Then he left.", ["See No. 5 and Fig. 3.", "He said no.", "Then he left."]),
        ("Wait... What? Really!? Yes (really.) Done.", ["Wait...", "What?", "Really!?", "Yes (really.)", "Done."]),
        ("From C++ to C# and .NET, then on. Done.", ["From C++ to C# and .NET, then on.", "Done."]),
        ("1. First point. 2. Second point.", ["1. First point.", "2. Second point."]),
        (
            "他问：“你会来吗？”她说：“会。”会议于3.5小时后结束。大家都同意了；方案通过！",
            ["他问：“你会来吗？”她说：“会。”", "会议于3.5小时后结束。", "大家都同意了；", "方案通过！"]
        ),
        ("第一行没有标点\n第二行也没有", ["第一行没有标点", "第二行也没有"]),
        (
            "A line that is wrapped\nat some column. Next one.",
            ["A line that is wrapped\nat some column.", "Next one."]
        ),
        ("A title\n\nand a paragraph.", ["A title", "and a paragraph."]),
        ("no punctuation at all", ["no punctuation at all"]),
        (
            "He came at 5 p.m. on Monday. She left at 6 p.m. They met.",
            ["He came at 5 p.m. on Monday.", "She left at 6 p.m.", "They met."]
        ),
        (
            "It works well in vitro (Smith et al. 2019). Others agree.",
            ["It works well in vitro (Smith et al. 2019).", "Others agree."]
        ),
        ("", []), (" \n\t", []), ("。", ["。"]), ("!", ["!"]),
    ])
    func sentences(text: String, expected: [String]) {
        #expect(sentenceSegmenter.sentences(in: text) == expected)
    }

    @Test func sentencesCoverALongText() {
        let text = String(repeating: "The harbour was closed. Ships waited for 9.5 days outside. ", count: 20_000)
        let sentences = sentenceSegmenter.sentences(in: text)
        #expect(sentences.count == 40_000)
        #expect(Set(sentences) == ["The harbour was closed.", "Ships waited for 9.5 days outside."])
        let endless = String(repeating: "x", count: 1_000_000)
        #expect(sentenceSegmenter.sentences(in: endless) == [endless])
    }

    @Test func paragraphsAreBetweenEmptyLines() {
        #expect(Paragraphs.split("One\ntwo\n\n \nThree\r\n\r\nFour") == ["One\ntwo", "Three", "Four"])
        #expect(Paragraphs.split("\n\n") == [])
    }
}
