import Intent
import Testing
import Wire

@Suite("Everyday utterances")
struct EverydayTests {
    @Test("At least 95 of 100 come out right, in each language")
    func everyday() {
        let result = IntentEvaluation(IntentModel(manifests: Manifests.usual), cases: EverydayUtterances.all)
        let mistakes = result.mistakes.map { mistake in
            "\(mistake.case.utterance): \(mistake.plan.mode) \(mistake.plan.steps.map(\.skill)), \(mistake.scores)"
        }
        #expect(result.exact.of >= 60)
        #expect(result.exact.value >= 0.95, "\(mistakes.joined(separator: "\n"))")
        for language in ["en", "zh"] {
            #expect((result.byLanguage[language]?.value ?? 0) >= 0.95, "\(mistakes.joined(separator: "\n"))")
        }
    }

    @Test(
        "Commands that must never fail",
        arguments: [
            ("summarize this", "summarize"), ("summarise the text below", "summarize"), ("tl;dr", "summarize"),
            ("总结", "summarize"), ("帮我总结一下", "summarize"), ("概括这段话", "summarize"), ("寫個摘要", "summarize"),
            ("extract keywords", "keywords"), ("list the key terms", "keywords"), ("keywords please", "keywords"),
            ("提取关键词", "keywords"), ("给出五个标签", "keywords"), ("這篇文章的關鍵字", "keywords"),
            ("what is a neural network?", "knowledge"), ("look up the refund policy", "knowledge"),
            ("why is the sky blue", "knowledge"), ("什么是区块链", "knowledge"), ("查一下请假制度", "knowledge"),
            ("1+1", "calculator"), ("what is 25 times 4", "calculator"), ("15% of 300", "calculator"),
            ("25乘以4等于多少", "calculator"), ("１２＋３４", "calculator"), ("三加四等于几", "calculator"),
            ("hi", "chat"), ("hello!", "chat"), ("thanks", "chat"), ("你好", "chat"), ("讲个笑话", "chat"),
        ]
    )
    func commands(_ text: String, _ skill: String) {
        let decision = IntentModel(manifests: Manifests.usual).decide(RoutingQuestion(text: text))
        #expect(decision.plan.mode == .single)
        #expect(decision.plan.steps.map(\.skill) == [skill], "\(decision.scores)")
    }

    @Test("A description is enough")
    func withoutExamples() {
        var manifests = Manifests.usual
        for index in manifests.indices { manifests[index].examples = [] }
        let result = IntentEvaluation(IntentModel(manifests: manifests), cases: EverydayUtterances.all)
        #expect(result.exact.value >= 0.9)
    }

    @Test("A skill that the lexicon knows nothing of is found by its own words")
    func unknownSkill() {
        let haiku = SkillManifest(
            id: "sudoku",
            description: "Solves a Sudoku grid and explains each step. 解数独。",
            examples: ["solve this sudoku", "check my sudoku grid"]
        )
        let model = IntentModel(manifests: Manifests.usual + [haiku])
        #expect(model.decide(RoutingQuestion(text: "solve the sudoku")).plan.steps.map(\.skill) == ["sudoku"])
        #expect(model.decide(RoutingQuestion(text: "帮我解这个数独")).plan.steps.map(\.skill) == ["sudoku"])
    }

    @Test("A deed is served once a skill for it is there")
    func deeds() {
        let text = "what's the weather tomorrow"
        let without = IntentModel(manifests: Manifests.usual).decide(RoutingQuestion(text: text))
        #expect(without.plan.mode == .none)
        #expect(without.nearest.count == 3)
        let weather = SkillManifest(id: "weather", description: "Weather forecast for a place. 天气预报。")
        let with = IntentModel(manifests: Manifests.usual + [weather]).decide(RoutingQuestion(text: text))
        #expect(with.plan.steps.map(\.skill) == ["weather"])
    }

    @Test("Text work that no skill does goes to the fallback, or nowhere")
    func fallback() {
        let question = RoutingQuestion(text: "translate this into French: summarise everything")
        #expect(IntentModel(manifests: Manifests.usual).decide(question).plan.steps.map(\.skill) == ["chat"])
        let without = IntentModel(manifests: [Manifests.summarize, Manifests.keywords]).decide(question)
        #expect(without.plan.mode == .none)
        #expect(Set(without.nearest) == ["summarize", "keywords"])
    }

    @Test("Every score says why")
    func reasons() throws {
        let decision = IntentModel(manifests: Manifests.usual).decide(RoutingQuestion(text: "概括一下这份报告"))
        #expect(decision.scores.count == Manifests.usual.count)
        let best = try #require(decision.scores.first)
        #expect(best.skill == "summarize")
        #expect(best.reasons.contains { $0.contains("概括") })
        #expect(decision.scores.allSatisfy { 0...1 ~= $0.score })
        let sum = IntentModel(manifests: Manifests.usual).decide(RoutingQuestion(text: "12*7"))
        #expect(sum.scores.first?.reasons.first?.contains("looks like arithmetic") == true)
    }
}
