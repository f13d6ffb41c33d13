import Intent
import Testing
import Wire

@Suite("Plans")
struct PlanTests {
    private let model = IntentModel(manifests: Manifests.usual + [Manifests.translate, Manifests.citations])

    private func shape(_ text: String) -> String {
        let plan = model.decide(RoutingQuestion(text: text)).plan
        #expect(throws: Never.self) { try plan.validate() }
        let steps = plan.steps.map { $0.skill + ($0.after.isEmpty ? "" : "(\($0.after.joined(separator: ",")))") }
        return "\(plan.mode) " + steps.joined(separator: " ")
    }

    @Test(
        "Independent wishes run side by side",
        arguments: [
            "帮我总结这篇文章并提取关键词", "summarize this and extract keywords", "写个摘要，再列五个关键词", "摘要和关键词都要",
            "tl;dr + tags", "condense the article; also list its main keywords",
        ]
    )
    func parallel(_ text: String) {
        #expect(shape(text) == "parallel summarize keywords")
    }

    @Test(
        "Dependent wishes run one after another",
        arguments: [
            ("查一下差旅制度，然后总结", "chain knowledge summarize(s1)"),
            ("look up the leave policy and summarise it", "chain knowledge summarize(s1)"),
            ("先总结再翻译成英文", "chain summarize translate(s1)"),
            ("summarize the text and then translate the summary into Chinese", "chain summarize translate(s1)"),
            ("先把这篇英文报道译成中文，然后写个摘要", "chain translate summarize(s1)"),
            ("summarize this, then extract the keywords", "chain summarize keywords(s1)"),
            ("who proposed the CAP theorem? cite the source", "chain knowledge citations(s1)"),
        ]
    )
    func chains(_ text: String, _ expected: String) {
        #expect(shape(text) == expected)
    }

    @Test(
        "Research is finding, condensing and citing, as far as there are skills for it",
        arguments: ["调研一下分布式存储的发展趋势", "research the trends in distributed storage", "写一份碳中和政策的文献综述"]
    )
    func research(_ text: String) {
        #expect(shape(text) == "chain knowledge summarize(s1) citations(s2)")
        let few = IntentModel(manifests: [Manifests.summarize, Manifests.knowledge, Manifests.chat])
        let plan = few.decide(RoutingQuestion(text: text)).plan
        #expect(plan.steps.map(\.skill) == ["knowledge", "summarize"])
    }

    @Test(
        "What is denied does not run",
        arguments: [
            ("don't translate, just summarise", "single summarize"), ("不用翻译，总结一下就行", "single summarize"),
            ("关键词不要了，只要一段摘要", "single summarize"), ("no summary, a full translation please", "single translate"),
            ("别总结，把里面的核心术语挑出来", "single keywords"), ("translate it instead of summarising it", "single translate"),
        ]
    )
    func denials(_ text: String, _ expected: String) {
        #expect(shape(text) == expected)
    }

    @Test(
        "What a text is about is not what is asked for",
        arguments: [
            ("translate the summary into German", "single translate"), ("把这段摘要翻译成英文", "single translate"),
            ("extract keywords from the abstract", "single keywords"), ("总结这篇关于翻译的文章", "single summarize"),
            ("什么是摘要", "single knowledge"), ("这个区别是级别的问题吗", "single knowledge"),
            ("对摘要做翻译", "single translate"), ("把这段摘要译做英文", "single translate"),
            ("从摘要里挑关键词", "single keywords"), ("put this notice into Polish", "single translate"),
        ]
    )
    func objects(_ text: String, _ expected: String) {
        #expect(shape(text) == expected)
    }

    @Test(
        "A verb stays a wish, whatever stands behind it",
        arguments: [
            ("总结中小企业的融资难题，并提取关键词", "parallel summarize keywords"),
            ("总结里约奥运会的报道", "single summarize"),
            ("Tom has to summarise Spanish articles", "single summarize"),
        ]
    )
    func verbs(_ text: String, _ expected: String) {
        #expect(shape(text) == expected)
    }

    @Test("Priority breaks ties; the order of registration never does")
    func ties() {
        var twin = Manifests.summarize
        twin.id = "a-twin"
        twin.displayName = Manifests.summarize.displayName
        var preferred = Manifests.summarize
        preferred.id = "z-twin"
        preferred.priority = 60
        let question = RoutingQuestion(text: "condense this")
        for manifests in [[twin, preferred], [preferred, twin]] {
            #expect(IntentModel(manifests: manifests).decide(question).plan.steps.map(\.skill) == ["z-twin"])
        }
        var other = twin
        other.id = "b-twin"
        for manifests in [[twin, other], [other, twin]] {
            #expect(IntentModel(manifests: manifests).decide(question).plan.steps.map(\.skill) == ["a-twin"])
        }
    }

    @Test("Of two versions of a skill the newer one counts, whichever is named first")
    func versions() {
        var newer = Manifests.summarize
        newer.version = "1.10.0"
        newer.inputSchema = ["type": "object"]
        for manifests in [[newer, Manifests.summarize], [Manifests.summarize, newer]] {
            let decision = IntentModel(manifests: manifests).decide(RoutingQuestion(text: "summarise in 3 points"))
            #expect(decision.scores.count == 1)
            #expect(decision.plan.steps.first?.arguments == [:])
        }
    }

    @Test(
        "Arguments come from the text, by the schema, and are never made up",
        arguments: [
            ("give me 5 keywords", "keywords", ["count": 5]), ("列出十个关键词", "keywords", ["count": 10]),
            ("extract the top twelve keywords", "keywords", ["count": 12]), ("extract keywords", "keywords", [:]),
            ("summarize this in three sentences", "summarize", ["points": 3]), ("总结成三点", "summarize", ["points": 3]),
            ("a two-sentence summary please", "summarize", ["points": 2]), ("summarise in 40 points", "summarize", [:]),
            ("把2024年的报告概括一下", "summarize", [:]), ("sqrt(2) to 5 decimal places", "calculator", ["places": 5]),
        ] as [(String, String, JSONValue)]
    )
    func values(_ text: String, _ skill: String, _ expected: JSONValue) {
        let plan = model.decide(RoutingQuestion(text: text)).plan
        #expect(plan.steps.map(\.skill) == [skill])
        #expect(plan.steps.first?.arguments == expected)
    }
}
