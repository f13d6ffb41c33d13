import SkillKit
import SkillKitTesting
import Testing
import Text
import Wire

@testable import KeywordsWorker

@Suite struct KeywordsTests {
    private func run(_ text: String, _ arguments: JSONValue = [:], instruction: String? = nil) async -> SkillRun {
        let input =
            instruction.map { SkillInput(text: $0 + "\n" + text, separatedMaterial: text) } ?? SkillInput(text: text)
        return await SkillRun(Keywords(), input, arguments: arguments)
    }

    private func keywords(_ run: SkillRun) -> [String] {
        run.output?.parts.filter { $0.kind == "keyword" }.compactMap(\.text) ?? []
    }

    // MARK: What a keyword is

    @Test func englishPhrases() async {
        let keywords = keywords(
            await run(
                """
                Graph neural networks learn representations of molecules. A graph neural network passes messages between \
                atoms, and message passing explains its success in drug discovery. We compare message passing with \
                random forests on drug discovery tasks.
                """,
                ["count": 5]
            )
        )
        #expect(keywords.count == 5)
        #expect(keywords.contains("drug discovery"))
        #expect(keywords.contains("message passing"))
        #expect(keywords.contains { $0.lowercased().hasPrefix("graph neural network") })
    }

    @Test func chinesePhrases() async {
        let keywords = keywords(
            await run("本文提出一种基于卷积神经网络的遥感图像分类方法。实验表明，该卷积神经网络在遥感图像分类任务上准确率更高。", ["count": 5])
        )
        #expect(keywords.contains("卷积神经网络"))
        #expect(keywords.contains { $0.hasPrefix("遥感图像") })
        #expect(keywords.allSatisfy { $0.count > 1 && !StopWords.contains($0) })
    }

    @Test func formsOfAWordAreOneKeyword() async {
        let text =
            "Solar panels convert sunlight. A solar panel lasts 25 years. Solar Panels need inverters; the inverter fails first."
        let keywords = keywords(await run(text, ["count": 5]))
        #expect(keywords.first == "solar panel" || keywords.first == "solar panels")
        #expect(keywords.filter { $0.lowercased().hasPrefix("solar") }.count == 1)
        #expect(keywords.filter { $0.lowercased().hasPrefix("inverter") }.count == 1)
    }

    @Test func termsKeepTheirMarks() async {
        let text =
            "We moved the API from C++ to C# and .NET, then to Node.js; the GPT-4o model and the COVID-19 data stayed."
        let keywords = keywords(await run(text, ["count": 10]))
        for term in ["C++", "C#", ".NET", "Node.js"] { #expect(keywords.contains(term), "\(term)") }
        #expect(keywords.contains { $0.hasPrefix("GPT-4o") })
        #expect(keywords.contains { $0.hasPrefix("COVID-19") })
        #expect(!keywords.contains("C"))
    }

    @Test func namesKeepTheirSpelling() async {
        let text = "iPhone sales in Shenzhen rose. The iPhone 15 was built in Shenzhen by Foxconn."
        let keywords = keywords(await run(text, ["count": 6]))
        #expect(keywords.contains("Shenzhen"))
        #expect(keywords.contains("iPhone 15"))
        #expect(keywords.allSatisfy { !$0.contains("was") })
    }

    @Test func englishTermsInChineseTextAreKeywordsToo() async {
        let text = "我们用 Kubernetes 部署推荐系统。Kubernetes 的自动扩容让推荐系统在高峰时保持稳定。"
        let keywords = keywords(await run(text, ["count": 4]))
        #expect(keywords.contains("Kubernetes"))
        #expect(keywords.contains("推荐系统"))
    }

    @Test func markupAndAddressesAreNoKeywords() async {
        let text =
            "<p>The <a href=\"https://t.co/x?utm_source=a\">carbon tax</a> passed. The carbon tax starts in May. Ask tax@example.org or https://example.org/carbon.</p>"
        let run = await run(text, ["count": 5])
        #expect(keywords(run).first == "carbon tax")
        for part in ["href", "utm", "http", "example"] { #expect(run.output?.text.contains(part) == false, "\(part)") }
    }

    // MARK: Events and arguments

    @Test func streamedTextIsTheOutput() async {
        for text in ["Tide mills used the tide. A tide mill had a pond.", "灯塔指引船只。灯塔的透镜很大。", "the of and"] {
            let run = await run(text)
            #expect(run.error == nil)
            #expect(run.streamedText == run.output?.text)
        }
        let output = await run("Tide mills used the tide. A tide mill had a pond.").output
        #expect(output?.text == output?.parts.compactMap(\.text).joined(separator: ", "))
    }

    @Test func scoresFall() async {
        let scores = await run("Tide mills and tide gates and ponds. A tide mill. Tide mills.").output?.parts
            .compactMap(\.score)
        #expect(scores?.first == 1)
        #expect(scores == scores?.sorted(by: >))
    }

    @Test func progressIsInTheUsersLanguage() async {
        let run = await run("A tide mill had a pond.", instruction: "提取关键词")
        guard case .progress(let message, _)? = run.events.dropFirst().first else {
            Issue.record("no progress first")
            return
        }
        #expect(message.hasPrefix("正在"))
    }

    @Test func countIsKept() async {
        let text = (1...60).map { "The tower\($0) stands by lake\($0). " }.joined()
        #expect(keywords(await run(text)).count == 8)
        #expect(keywords(await run(text, ["count": 1])).count == 1)
        #expect(keywords(await run(text, ["top": 50])).count == 50)
        #expect(await run(text, ["count": 0]).error?.code == "invalid_arguments")
        #expect(await run(text, ["count": 51]).error?.message.contains("51") == true)
    }

    // MARK: Edges

    @Test(arguments: ["", "  \n", "extract keywords please", "提取关键词", "Keywords:"])
    func nothingToRead(text: String) async {
        let run = await run(text)
        #expect(run.error?.code == "no_text")
        #expect(run.error?.hint?.isEmpty == false)
    }

    @Test func whatIsMissingIsSaidInTheUsersLanguage() async {
        #expect(await run("提取关键词").error?.message == "没有可以提取关键词的文字，内容是空的")
        #expect(await run("extract keywords please").error?.message.contains("no text") == true)
    }

    @Test(arguments: [
        "the of and to in a is that it was for on are as with his they at be this", "因为，所以，但是。", "!!! ... 😀",
        "12 345 6.7",
    ])
    func functionWordsAloneGiveNone(text: String) async {
        let run = await run(text)
        #expect(run.error == nil)
        #expect(run.output?.parts.isEmpty == true)
        #expect(run.output?.text.isEmpty == false)
    }

    @Test func oneWord() async {
        #expect(keywords(await run("Photosynthesis")) == ["Photosynthesis"])
        #expect(keywords(await run("光合作用")) == ["光合作用"])
    }

    @Test func otherScripts() async {
        let keywords = keywords(await run("الطاقة الشمسية مهمة. تنتج الطاقة الشمسية الكهرباء."))
        #expect(keywords.contains { $0.contains("الطاقة الشمسية") })
    }

    @Test func megabytesAreBounded() async {
        let repeated = String(
            repeating: "Graph databases store nodes and edges while relational engines store rows. ",
            count: 8000
        )
        let keywords = keywords(await run(repeated, ["count": 10]))
        #expect(keywords.contains { $0.lowercased() == "graph databases" })
        #expect(Set(keywords.map { $0.lowercased() }).count == keywords.count)
        let endless = await run(String(repeating: "x", count: 1_000_000))
        #expect(endless.error == nil)
        let han = await run(String(repeating: "分布式数据库", count: 20_000))
        #expect(han.error == nil)
    }

    @Test func theManifestIsValid() throws {
        let manifest = Keywords.completeManifest
        try manifest.validate()
        #expect(manifest.id == "keywords")
        #expect(manifest.inputSchema["properties"]?["count"]?["type"]?.string == "integer")
        #expect(manifest.examples.count >= 10)
    }
}
