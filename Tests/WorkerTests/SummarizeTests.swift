import SkillKit
import SkillKitTesting
import Testing
import Wire

@testable import SummarizeWorker

@Suite struct SummarizeTests {
    private func run(_ text: String, _ arguments: JSONValue = [:], instruction: String? = nil) async -> SkillRun {
        let input =
            instruction.map { SkillInput(text: $0 + "\n" + text, separatedMaterial: text) } ?? SkillInput(text: text)
        return await SkillRun(Summarize(), input, arguments: arguments)
    }

    private func points(_ run: SkillRun) -> [String] {
        run.output?.parts.filter { $0.kind == "point" }.compactMap(\.text) ?? []
    }

    // MARK: What a summary is

    static let english = """
        The port of Larn was closed for nine days in March. A storm had torn two cranes from their rails on 4 March, and \
        one of them fell across the main quay. Nobody was hurt. Ships waited outside the harbour or were sent to Tessel. \
        The port authority puts the damage at 14 million euros. Crews worked in three shifts to clear the quay. It was \
        cold. The authority reopened the main quay on 13 March with two borrowed cranes. Larn handles about 2 million \
        tonnes of cargo a year. Exporters of fruit lost most, because cold stores in the port had no power for two days. \
        An inquiry will look at the brakes of the cranes. The port authority expects new cranes in September.
        """

    static let chinese = """
        拉恩港因风暴在三月关闭了九天。三月四日的大风把两台起重机从轨道上掀了下来，其中一台横倒在主码头上。没有人员受伤。船只只好在港外等候，或者改去附近的港口。\
        港务局估计损失达到一千四百万欧元。工人们分三班清理码头。天气很冷。三月十三日，主码头用两台借来的起重机恢复作业。拉恩港每年的货物吞吐量约为二百万吨，\
        其中将近一半是水果和蔬菜，它们必须在冷库里保存，因此停电两天给出口商造成了最大的损失，许多货物只能降价处理。调查组将检查起重机的刹车装置。港务局预计新的起重机九月到货。
        """

    @Test func englishPointsAreWholeSentencesInOrder() async {
        let run = await run(Self.english)
        let points = points(run)
        #expect(points.count == 5)
        var rest = Self.english[...]
        for point in points {
            guard let place = rest.firstRange(of: point) else {
                Issue.record("not in the text, or out of order: \(point)")
                return
            }
            rest = rest[place.upperBound...]
            #expect(point.hasSuffix("."))
        }
        #expect(points.contains("The port of Larn was closed for nine days in March."))
        #expect(!points.contains("It was cold."))
        #expect(run.output?.text == points.map { "- " + $0 }.joined(separator: "\n"))
    }

    @Test func chinesePointsHaveAtMostFiftyCharacters() async {
        let points = points(await run(Self.chinese))
        #expect(points.count == 5)
        for point in points {
            #expect(point.count <= 50, "\(point)")
            #expect(Self.chinese.contains(point), "\(point)")
        }
        #expect(points.contains("拉恩港因风暴在三月关闭了九天。"))
        #expect(!points.contains("天气很冷。"))
    }

    @Test func longChineseSentencesKeepWholeClauses() async {
        let sentence = "拉恩港每年的货物吞吐量约为二百万吨，其中将近一半是水果和蔬菜，它们必须在冷库里保存，因此停电两天给出口商造成了最大的损失，许多货物只能降价处理。"
        let point = points(await run(sentence)).first ?? ""
        #expect((10...50).contains(point.count))
        let clauses = sentence.split(separator: "，").map { $0.trimmingSuffix("。") }
        #expect(point.split(separator: "，").allSatisfy { clauses.contains($0.trimmingSuffix("。")) })
    }

    @Test func aClauseThatIsTooLongEndsAtAWord() async {
        let point = points(await run(String(repeating: "国际会议讨论音乐教育", count: 12))).first ?? ""
        #expect(point.count <= 50)
        #expect(point.hasSuffix("…"))
        let kept = String(point.dropLast())
        #expect(["国际", "会议", "讨论", "音乐", "教育"].contains { kept.hasSuffix($0) }, "\(kept)")
    }

    @Test func streamedTextIsTheOutput() async {
        for text in [Self.english, Self.chinese, "One sentence.", "# T\n\n* a b c\n* d e f"] {
            let run = await run(text)
            #expect(run.error == nil)
            #expect(run.streamedText == run.output?.text)
            let deltas = run.events.count { if case .textDelta = $0 { true } else { false } }
            #expect(deltas == points(run).count)
        }
    }

    @Test func progressIsInTheUsersLanguageAndRises() async {
        let chinese = await run(Self.english, instruction: "帮我总结这篇文章")
        let english = await run(Self.chinese, instruction: "summarise this")
        for (run, word) in [(chinese, "正在"), (english, "reading")] {
            var fractions: [Double] = []
            var messages: [String] = []
            for case .progress(let message, let fraction) in run.events {
                messages.append(message)
                fractions.append(fraction ?? 0)
            }
            #expect(messages.first?.hasPrefix(word) == true)
            #expect(fractions.count >= 3)
            #expect(fractions == fractions.sorted())
        }
    }

    @Test func theSameInputGivesTheSameAnswer() async {
        let first = await run(Self.english).output
        for _ in 0..<3 { #expect(await run(Self.english).output == first) }
    }

    // MARK: Arguments

    @Test func pointsAreAsManyAsAsked() async {
        for count in [1, 2, 10] {
            #expect(points(await run(Self.english, ["points": .integer(Int64(count))])).count == count)
        }
        #expect(points(await run(Self.english, ["max_points": 3])).count == 3)
        #expect(await run(Self.english, ["points": 0]).error?.code == "invalid_arguments")
        #expect(await run(Self.english, ["points": 11]).error?.message.contains("11") == true)
        #expect(await run(Self.english, ["points": "many"]).error?.message.contains("points") == true)
    }

    @Test func charactersAreLimitedWhereAsked() async {
        let points = points(await run(Self.english, ["max_chars": 40]))
        #expect(!points.isEmpty)
        #expect(points.allSatisfy { $0.count <= 40 })
        #expect(await run(Self.english, ["max_chars": 3]).error?.code == "invalid_arguments")
    }

    // MARK: Nothing to summarise

    @Test(arguments: ["", " \n\t ", "\u{200B}", "summarize this text for me", "tl;dr", "总结一下这段文字", "Summarise:", "。！？"])
    func nothingToSummarise(text: String) async {
        let run = await run(text)
        #expect(run.error?.code == "no_text")
        #expect(run.error?.hint?.isEmpty == false)
        #expect(run.error?.retryable == false)
    }

    @Test func whatIsMissingIsSaidInTheUsersLanguage() async {
        #expect(await run("帮我写个摘要").error?.message == "没有可以总结的文字，内容是空的")
        #expect(await run("give me the main points").error?.message.contains("no text") == true)
        let empty = SkillInput(text: "帮我总结", separatedMaterial: "  ")
        #expect(await SkillRun(Summarize(), empty).error?.message.contains("没有") == true)
    }

    @Test func anInstructionBeforeTheTextIsNoPartOfIt() async {
        let run = await run("Please summarise this: The reactor was shut down on Tuesday.")
        #expect(points(run) == ["The reactor was shut down on Tuesday."])
    }

    // MARK: Real documents

    @Test func abbreviationsAndDecimalsEndNoSentence() async {
        let text =
            "Dr. Alice Wong joined Acme Inc. in 2019. She leads the e.g. materials and coatings group at St. John's campus. The group grew from 3.5 to 12.25 million dollars."
        #expect(
            points(await run(text, ["points": 3])) == [
                "Dr. Alice Wong joined Acme Inc. in 2019.",
                "She leads the e.g. materials and coatings group at St. John's campus.",
                "The group grew from 3.5 to 12.25 million dollars.",
            ]
        )
    }

    @Test func markdownIsReadAsText() async {
        let text =
            "# Release 2.1\n\n* Adds **TLS 1.3** support\n* Drops Python 2\n\n```sh\nrm -rf build/\n```\n\nSee [the guide](https://example.org/guide) for upgrade steps. Old configuration files keep working."
        let output = await run(text).output?.text ?? ""
        #expect(output.contains("Old configuration files keep working."))
        #expect(output.contains("Adds TLS 1.3 support"))
        for markup in ["```", "](http", "**", "rm -rf", "Release 2.1"] {
            #expect(!output.contains(markup), "\(markup)")
        }
    }

    @Test func htmlIsReadAsText() async {
        let text =
            "<html><head><style>p{color:red}</style><script>alert(\"x\")</script></head><body><h1>Storm report</h1><p>The storm hit <b>Lisbon</b> at noon.</p><p>Two ferries &amp; one train were delayed.</p></body></html>"
        #expect(
            points(await run(text)) == ["The storm hit Lisbon at noon.", "Two ferries & one train were delayed."]
        )
    }

    @Test func repeatedSentencesGiveOnePoint() async {
        let text =
            "The plant closed. The plant closed. THE PLANT CLOSED! The plant closed . Workers got 500 euros each."
        #expect(points(await run(text, ["points": 5])) == ["The plant closed.", "Workers got 500 euros each."])
    }

    @Test func figuresAreWorthMore() async {
        let text =
            "Sales were flat. Profit rose to $4.2bn in Q3 2025. The board met. Debt fell by 1,250 million yen. Weather was mild. Staff numbers reached 31,000."
        let output = await run(text, ["points": 2]).output?.text ?? ""
        #expect(output.contains("$4.2bn") || output.contains("1,250 million yen"))
        #expect(!output.contains("Weather"))
    }

    @Test func invisibleCharactersAreGone() async {
        let text =
            "Solar output rose 12%.\u{200B} The\u{AD} turbine\u{200D} stopped in\u{2060} May. Repairs cost 3 million euros."
        #expect(
            points(await run(text, ["points": 3])) == [
                "Solar output rose 12%.", "The turbine stopped in May.", "Repairs cost 3 million euros.",
            ]
        )
    }

    @Test func emojiAreNeverCut() async {
        let text = "We shipped it 👩‍👩‍👧‍👦 today. The team 🇨🇳 is happy 👍🏽. Café sales rose."
        let points = points(await run(text, ["points": 3, "max_chars": 40]))
        #expect(
            points == ["We shipped it 👩‍👩‍👧‍👦 today.", "The team 🇨🇳 is happy 👍🏽.", "Café sales rose."]
        )
        #expect(await run("👩‍👩‍👧‍👦👍🏽🇨🇳").output?.text == "👩‍👩‍👧‍👦👍🏽🇨🇳")
    }

    @Test func dialogueLosesItsNames() async {
        var text = ""
        let said = [
            "The casing costs 2 euros in rubber .", "The buttons are larger than last time .",
            "A kinetic battery lasts ten years .",
        ]
        for sentence in said { text += "Project Manager: Okay .\nDesigner: \(sentence)\n" }
        let points = points(await run(text, ["points": 2]))
        #expect(points.count == 2)
        #expect(points.allSatisfy { !$0.contains(":") && !$0.contains("Okay") }, "\(points)")
    }

    @Test func aTextOfAnotherScriptKeepsItsSentences() async {
        let text = "أغلقت العاصفة الميناء تسعة أيام. انتظرت السفن خارج المرفأ. بلغت الأضرار 14 مليون يورو."
        let points = points(await run(text))
        #expect(points.count == 3)
        #expect(points.allSatisfy { text.contains($0) })
    }

    // MARK: Sizes

    @Test(arguments: ["one", "没", "no punctuation at all in this short line", "1"])
    func shortTextsComeBackAsTheyAre(text: String) async {
        #expect(await run(text).output?.text == text)
    }

    @Test func aMegabyteWithoutSpacesIsOneShortPoint() async {
        let points = points(await run(String(repeating: "x", count: 1_000_000)))
        #expect(points.count == 1)
        #expect(points[0].count <= 600)
    }

    @Test func aLongTextIsBoundedAndHasNoPointTwice() async {
        let text =
            "The council met on Monday. "
            + String(
                repeating: "The budget of the harbour rose by 4 percent. Ships waited for nine days outside. ",
                count: 5000
            )
            + "The council approved the new quay for 12 million euros."
        let points = points(await run(text))
        #expect(points.count == 4)
        #expect(Set(points).count == 4)
        #expect(points.contains("The council approved the new quay for 12 million euros."))
    }

    @Test func previousOutputsAndFilesAreTheMaterial() async {
        let earlier = JobInput.Previous(step: "s1", skill: "knowledge", output: SkillOutput(text: "The quay reopened."))
        let chained = await SkillRun(Summarize(), SkillInput(text: "summarise what you find", previous: [earlier]))
        #expect(points(chained) == ["The quay reopened."])
        let file = SkillInput.Attachment(name: "a.txt", mediaType: "text/plain", data: Array("码头恢复作业。".utf8))
        let attached = await SkillRun(Summarize(), SkillInput(text: "总结", attachments: [file]))
        #expect(points(attached) == ["码头恢复作业。"])
    }

    @Test func theManifestIsValid() throws {
        let manifest = Summarize.completeManifest
        try manifest.validate()
        #expect(manifest.id == "summarize")
        #expect(manifest.inputSchema["properties"]?["points"]?["type"]?.string == "integer")
        #expect(manifest.examples.count >= 10)
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring {
        hasSuffix(suffix) ? dropLast(suffix.count) : self
    }
}
