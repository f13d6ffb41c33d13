import ModelAccess
import SkillKit
import SkillKitTesting
import TestSupport
import Testing
import Wire

@testable import CitationsWorker
@testable import SummarizeWorker

@Suite(.timeLimit(.minutes(1))) struct CitationsTests {
    private func cite(
        _ text: String,
        _ request: String = "list the references",
        arguments: JSONValue = [:]
    ) async -> SkillRun {
        await SkillRun(Citations(), SkillInput(text: request, separatedMaterial: text), arguments: arguments)
    }

    private func lines(_ run: SkillRun) -> [String] { run.output?.text.split(separator: "\n").map(String.init) ?? [] }

    // MARK: a text

    @Test func identifiersAreListedWithWhereTheyAreUsed() async {
        let text = """
            The first result (doi:10.1145/3544548.3581388) is known, see https://example.org/a_(b)?x=1.

            It was confirmed by arXiv:2101.00001v2 and at https://doi.org/10.1145/3544548.3581388, and in ISBN 978-7-5063-6543-8 \
            or ISBN 978-0-306-40615-7.
            """
        let run = await cite(text)
        #expect(
            lines(run) == [
                "References", "[1] https://doi.org/10.1145/3544548.3581388 (used in paragraph 1, 2)",
                "[2] https://example.org/a_(b)?x=1 (used in paragraph 1)",
                "[3] arXiv:2101.00001v2 (used in paragraph 2)",
                "[4] ISBN 9780306406157 (used in paragraph 2)",
            ]
        )
        // 978-7-5063-6543-8 has a wrong check digit.
        #expect(run.output?.parts.filter { $0.kind == "reference" }.count == 4 && run.engines == ["offline"])
    }

    @Test func aListKeepsItsNumbersAndSaysWhereEachIsUsed() async {
        let text = """
            Order matters [1, 3].

            Consensus is hard [2-3], as Ongaro showed in 2014, and so on [7].

            ## References

            [1] Lamport, L. (1978). Time, clocks, and the ordering of events in a distributed system. Communications of the ACM, \
            21(7), 558-565.
            [2] Ongaro, D., & Ousterhout, J. (2014). In search of an understandable consensus algorithm. USENIX ATC.
            [3] A note without any form 1999,
                that goes on.
            """
        let run = await cite(text)
        #expect(
            lines(run) == [
                "References",
                "[1] Lamport, L. Time, clocks, and the ordering of events in a distributed system. Communications of the ACM, 21(7), 558-565, 1978. (used in paragraph 1)",
                "[2] Ongaro, D., Ousterhout, J. In search of an understandable consensus algorithm. USENIX ATC, 2014. (used in paragraph 2)",
                "[3] A note without any form 1999, that goes on. (used in paragraph 1, 2)",
            ]
        )
        #expect(run.notes.contains { $0.contains("[7]") } && run.notes.contains { $0.contains("1 kept as written") })
        let part = run.output?.parts.first
        #expect(part?.values?["authors"] == ["Lamport, L."] && part?.values?["year"] == "1978")
    }

    @Test func authorAndYearAreSortedAndTheStyleIsNamed() async {
        let text = """
            Ongaro, D., & Ousterhout, J. (2014). In search of an understandable consensus algorithm. USENIX ATC.
            Lamport, L. (1978). Time, clocks, and the ordering of events. Communications of the ACM, 21(7), 558-565.
            """
        let run = await cite(text, "format these references in APA style")
        #expect(
            lines(run) == [
                "References",
                "Lamport, L. (1978). Time, clocks, and the ordering of events. Communications of the ACM, 21(7), 558-565.",
                "Ongaro, D., Ousterhout, J. (2014). In search of an understandable consensus algorithm. USENIX ATC.",
            ]
        )
        #expect(run.notes.contains { $0.contains("APA") && $0.contains("not applied") })
        let numeric = await cite(text, "convert these citations from Chicago to IEEE")
        #expect(lines(numeric)[1].hasPrefix("[1] Ongaro"))
        let argument = await cite(text, arguments: ["style": "author-year"])
        #expect(lines(argument)[1].hasPrefix("Lamport"))
    }

    @Test func chineseReferencesAreReadInTheirForms() async {
        let text = """
            [1] 张三, 李四. 分布式系统综述[J]. 软件学报, 2020, 31(2): 1-5.
            [2] 余华《活着》，作家出版社，2012
            """
        let run = await cite(text, "按国标格式整理参考文献")
        #expect(lines(run) == ["参考文献", "[1] 张三, 李四. 分布式系统综述. 软件学报, 2020, 31(2): 1-5.", "[2] 余华. 活着. 作家出版社，2012."])
        #expect(run.notes.contains { $0.contains("GB/T 7714") })
        let years = await cite(text, "按著者年份排", arguments: ["style": "author-year"])
        #expect(lines(years).contains("张三, 李四 (2020). 分布式系统综述. 软件学报, 31(2): 1-5."))
    }

    @Test func nothingToCiteIsSaidInTheUsersLanguage() async {
        #expect(await cite("The mill stood still. It rained.").error?.code == "no_references")
        let chinese = await cite("磨坊停了。下雨了。", "给这段话标注出处")
        #expect(chinese.error?.message.contains("没有找到") == true)
        #expect(await SkillRun(Citations(), SkillInput(text: "list the references")).error?.code == "no_text")
    }

    @Test(arguments: [
        ("[1]", ["1"]), ("[1, 3]", ["1", "3"]), ("［２－４］", ["2", "3", "4"]), ("[2024]", []), ("a[1](x)", []),
        ("[x]", []),
    ])
    func numbersInBracketsAreCitations(_ text: String, _ labels: [String]) {
        #expect(CitedText.cited(in: text) == labels)
    }

    // MARK: steps of a plan

    private let passages = [
        OutputPart(
            kind: "passage",
            text: "The river Aller rose by two metres in March.",
            source: "/d/river.md",
            title: "Rivers"
        ),
        OutputPart(
            kind: "passage",
            text: "Solar panels need storage at night.",
            source: "/d/solar.md",
            title: "/d/solar.md"
        ),
        OutputPart(
            kind: "passage",
            text: "The bridge over the Aller was closed at noon.",
            source: "/d/river.md",
            title: "Rivers"
        ),
    ]

    @Test func documentsBehindAnAnswerKeepTheNumbersOfItsPassages() async {
        let found = SkillOutput(text: "[1] Rivers\nThe river rose.", parts: passages)
        let input = SkillInput(
            text: "when did the river rise? cite the source",
            previous: [.init(step: "s1", skill: "knowledge", output: found)]
        )
        let run = await SkillRun(Citations(), input)
        #expect(
            run.output?.text == """
                [1] Rivers
                The river rose.

                References
                [1, 3] Rivers — /d/river.md (passage 1, 3)
                [2] /d/solar.md (passage 2)
                """
        )
    }

    @Test func aSummaryHandsItsPassagesOnAndEachPointGetsItsSource() async throws {
        let text = passages.compactMap(\.text).joined(separator: " ")
        let summarized = await SkillRun(
            Summarize(),
            SkillInput(
                text: "research the river",
                previous: [.init(step: "s1", skill: "knowledge", output: SkillOutput(text: text, parts: passages))]
            )
        )
        let summary = try #require(summarized.output)
        #expect(summary.parts.count { $0.kind == "passage" } == 3)
        let input = SkillInput(
            text: "research the river",
            previous: [.init(step: "s2", skill: "summarize", output: summary)]
        )
        let run = await SkillRun(Citations(), input)
        let output = try #require(run.output)
        #expect(output.text.contains("rose by two metres in March. [1]"))
        #expect(output.text.contains("storage at night. [2]"))
        #expect(output.text.contains("[1] Rivers — /d/river.md (used in paragraph "))
        // What no passage has gets no source.
        let other = SkillOutput(text: "- Elephants are large animals.", parts: [OutputPart(kind: "point")] + passages)
        let unknown = await SkillRun(
            Citations(),
            SkillInput(text: "research", previous: [.init(step: "s2", skill: "summarize", output: other)])
        )
        #expect(unknown.output?.text.hasPrefix("- Elephants are large animals.\n") == true)
    }

    // MARK: with a model

    private let messy =
        "Lamport L. Time, clocks, and the ordering of events in a distributed system, Commun ACM 1978 21(7) 558-565"

    private func answering(_ text: String) throws -> ScriptedServer {
        try ScriptedServer { _, connection in ModelServer.say(text, connection) }
    }

    @Test func aModelTellsTheFieldsApart() async throws {
        let server = try answering(
            """
            Here it is: {"references": [{"number": 1, "authors": ["Lamport L"], "year": "1978",
            "title": "Time, clocks, and the ordering of events in a distributed system",
            "container": "Commun ACM 1978 21(7) 558-565"}]}
            """
        )
        let skill = Citations(access: try ModelServer.access(server))
        let run = await cite(messy, "format this reference in APA", skill)
        #expect(
            lines(run)[1]
                == "Lamport L (1978). Time, clocks, and the ordering of events in a distributed system. Commun ACM 21(7) 558-565."
        )
        #expect(run.engines == ["tester"] && ModelServer.messages(server.requests[0])[1].text.contains("Commun ACM"))
        let body = try JSONBody.decode(JSONValue.self, from: server.requests[0].body)
        #expect(body["response_format"]?["type"] == "json_schema")
    }

    @Test func whatAModelMakesUpIsLeftOut() async throws {
        let server = try answering(
            """
            {"references": [{"number": 1, "authors": ["Lamport L", "Knuth D"], "year": "1979", "title": "Time, clocks, and more",
            "container": "Commun ACM"}, {"number": 9, "authors": [], "year": "", "title": "", "container": ""}]}
            """
        )
        let run = await cite(messy, "整理参考文献", Citations(access: try ModelServer.access(server)))
        #expect(lines(run) == ["参考文献", "[1] \(messy)"])
        #expect(run.notes.contains { $0.contains("3 个字段不在原文中") })
    }

    @Test(arguments: ["no JSON at all", "{\"references\": 7", "{}"])
    func garbageLeavesTheReferencesAsWritten(_ answer: String) async throws {
        let server = try answering(answer)
        let run = await cite(messy, "format the reference", Citations(access: try ModelServer.access(server)))
        #expect(lines(run) == ["References", "[1] \(messy)"])
        #expect(run.engines.last == "offline" && run.progress.contains { $0.contains("going on without a model") })
    }

    @Test func aModelIsNotAskedWhereNothingIsMessy() async throws {
        let server = try answering("{}")
        let run = await cite("See https://example.org/paper.", try skill(server))
        #expect(run.output != nil && server.requests.isEmpty && run.engines == ["offline"])
    }

    private func skill(_ server: ScriptedServer) throws -> Citations {
        Citations(access: try ModelServer.access(server))
    }
    private func cite(_ text: String, _ skill: Citations) async -> SkillRun {
        await cite(text, "list the references", skill)
    }
    private func cite(_ text: String, _ request: String, _ skill: Citations) async -> SkillRun {
        await SkillRun(skill, SkillInput(text: request, separatedMaterial: text))
    }

    @Test func manifestIsValid() throws { try Citations.completeManifest.validate() }
}
