import Intent
import Testing
import Wire

@Suite("Robustness")
struct RobustnessTests {
    private static let megabyte = 1 << 20
    private static let awkward: KeyValuePairs<String, String> = [
        "empty": "", "blank": " \n\t", "a letter": "x", "a mark": "?", "emoji": "😀👩‍👩‍👧‍👦🇨🇳", "nul": "\0\0",
        "right to left": "لخص هذا النص من فضلك", "mixed": "总结 this עברית текст ภาษาไทย",
        "combining": "e\u{301}\u{301}\u{301} summarise", "digits": String(repeating: "9", count: 5000),
        "operators": String(repeating: "1+", count: 5000), "quotes": String(repeating: "“", count: 3000),
        "fences": String(repeating: "```\n", count: 2000), "colons": String(repeating: "a:", count: 5000),
        "no": String(repeating: "不要no ", count: 2000), "lines": String(repeating: "summarise\n", count: 3000),
        "a megabyte": String(repeating: "lorem ipsum ", count: megabyte / 12),
        "a megabyte of one word": String(repeating: "a", count: megabyte),
        "a megabyte of Chinese": String(repeating: "请总结翻译", count: megabyte / 15),
    ]

    @Test("Any text gets a decision", .timeLimit(.minutes(1)), arguments: awkward.map(\.key))
    func anyText(_ name: String) throws {
        let text = try #require(Self.awkward.first { $0.key == name }?.value)
        for manifests in [[], [Manifests.summarize], Manifests.usual] {
            let decision = IntentModel(manifests: manifests).decide(RoutingQuestion(text: text))
            #expect(throws: Never.self) { try decision.plan.validate() }
            #expect(decision.scores.count == manifests.count)
            #expect((decision.plan.mode == .none) == decision.plan.steps.isEmpty)
        }
    }

    @Test(
        "A number that is none is no argument, and ends nothing",
        arguments: ["总结成一万万万万万个要点", "提取九千万万万万个关键词", "一万万万万万加一等于多少", "总结成万万万万万万万点"]
    )
    func oversizedNumerals(_ text: String) {
        let plan = IntentModel(manifests: Manifests.usual).decide(RoutingQuestion(text: text)).plan
        #expect(plan.steps.count == 1)
        #expect(plan.steps.allSatisfy { $0.arguments["points"] == nil && $0.arguments["count"] == nil })
    }

    @Test("A megabyte after an instruction is material")
    func longMaterial() {
        let body = String(repeating: "lorem ipsum dolor. ", count: Self.megabyte / 19)
        let decision = IntentModel(manifests: Manifests.usual).decide(RoutingQuestion(text: "Summarize this: " + body))
        #expect(decision.plan.steps.map(\.skill) == ["summarize"])
        #expect(decision.material?.utf8.count == body.utf8.count - 1)
    }

    @Test("A thousand skills, with one description for all", .timeLimit(.minutes(1)))
    func manySkills() {
        let many = (0..<1000).map { number in
            SkillManifest(
                id: "skill-\(number)",
                description: "Works on topic \(number) of a text. 处理文本。",
                examples: ["do topic \(number)", "处理第\(number)个"]
            )
        }
        let model = IntentModel(manifests: many + Manifests.usual)
        let decision = model.decide(RoutingQuestion(text: "summarise this text and extract its keywords"))
        #expect(decision.scores.count == 1000 + Manifests.usual.count)
        #expect(decision.plan.steps.map(\.skill) == ["summarize", "keywords"])
        let same = (0..<1000).map { SkillManifest(id: "same-\($0)", description: "Summarise a text. 总结文本。") }
        let alike = IntentModel(manifests: same).decide(RoutingQuestion(text: "总结"))
        #expect(alike.plan.steps.map(\.skill) == ["same-0"])
    }

    @Test("Strange manifests do no harm")
    func strangeManifests() {
        let strange = [
            SkillManifest(id: "", description: ""), SkillManifest(id: "-", description: "\u{0}"),
            SkillManifest(id: "s", description: "😀", inputSchema: "no schema", examples: ["", " ", "😀"]),
            SkillManifest(
                id: "deep",
                description: "x",
                version: "none",
                inputSchema: [
                    "properties": ["a": 1, "b": ["type": [], "enum": [1, "", "ab"]], "c": ["type": "integer"]]
                ]
            ),
        ]
        let decision = IntentModel(manifests: strange).decide(RoutingQuestion(text: "hello 5 c"))
        #expect(decision.scores.count == 4)
    }

    @Test("The same question has the same answer, whatever the order of the skills")
    func determinism() {
        let one = IntentModel(manifests: Manifests.usual)
        let other = IntentModel(manifests: Manifests.usual.reversed())
        for item in EverydayUtterances.all {
            let left = one.decide(item.question)
            let right = other.decide(item.question)
            #expect(left.plan == right.plan)
            #expect(left.scores == right.scores)
        }
    }
}
