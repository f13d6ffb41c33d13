import Intent
import Testing
import Wire

@Suite("Instruction and material")
struct InstructionTests {
    private let model = IntentModel(manifests: Manifests.usual + [Manifests.translate])
    private static let passage = """
        The council voted on Tuesday to extend the tram line. Please translate every sign, said the mayor, and list the \
        keywords of the plan. Work begins next spring and lasts three years.
        """

    @Test(
        "Only the instruction decides, wherever it stands",
        arguments: [
            "Summarise this: \(passage)", "summarize the text below\n\n\(passage)", "\(passage)\n\nsummarise the above",
            "\(passage) Summarize the text above.", "\(passage) -- in a nutshell please", "总结下面这段：\(passage)",
            "\(passage)\n请总结以上内容", "Please summarise:\n```\n\(passage)\n```", "Summarize “\(passage)”",
        ]
    )
    func instruction(_ text: String) {
        let decision = model.decide(RoutingQuestion(text: text))
        #expect(decision.plan.mode == .single)
        #expect(decision.plan.steps.map(\.skill) == ["summarize"], "\(decision.instruction)")
        #expect(decision.material == Self.passage)
    }

    /// Words of a page, with a measure and a number in its last paragraph, which look like a question to a calculator.
    private static let page = """
        # How a tide mill turned the sea into flour

        A tide mill has no river. The sea comes in through a gate, the gate shuts by itself, and the pond behind it is full.

        Most mills used a wheel between three and six metres across. The power was modest. A typical mill delivered between \
        five and twenty kilowatts to the stones, less than the engine of a small car today. 6 * 7 sacks of grain an hour.
        """

    @Test(
        "A few words above a page are its instruction",
        arguments: [
            ("summarise: \(page)", "summarize"), ("extract keywords: \(page)", "keywords"),
            ("keywords\n\(page)", "keywords"), ("提取关键词\n\(page)", "keywords"), ("总结：\(page)", "summarize"),
            ("tl;dr\n\n\(page)", "summarize"),
        ]
    )
    func headings(_ text: String, skill: String) {
        let decision = model.decide(RoutingQuestion(text: text))
        #expect(decision.plan.steps.map(\.skill) == [skill], "\(decision.instruction)")
        // The mark of its title is not the page's first word.
        #expect(decision.material?.hasSuffix("sacks of grain an hour.") == true)
    }

    @Test("Why the best skill was not chosen is said to whoever asks")
    func refusals() {
        let usual = IntentModel(manifests: Manifests.usual)
        for text in ["book a flight and a summary of hotels", "translate the key points into French", "把摘要翻译成法语"] {
            let decision = usual.decide(RoutingQuestion(text: text))
            #expect(!decision.plan.steps.map(\.skill).contains("summarize"))
            let score = decision.scores.first { $0.skill == "summarize" }
            #expect(score?.reasons.last?.hasPrefix("not chosen: ") == true, "\(text)")
        }
    }

    @Test(
        "A first sentence that speaks to the reader is the instruction, whatever the page ends with",
        arguments: [
            ("Please translate to German.", "Visitors book a table in the old kitchen.", "translate"),
            ("Give me the main points.", "Call the office or send an email to book a tour.", "summarize"),
            ("What are the keywords?", "The log books were translated into French in 1990.", "keywords"),
        ]
    )
    func firstSentence(instruction: String, end: String, skill: String) {
        let page = """
            The lighthouse stood on the rock for two hundred years. Keepers climbed its stairs every evening to light the lamp, \
            and every morning to put it out. In 1842 a storm took the lower gallery, and the families who lived there grew \
            vegetables in boxes. \(end)
            """
        let model = IntentModel(manifests: Manifests.usual + [Manifests.translate, Manifests.citations])
        let decision = model.decide(RoutingQuestion(text: "\(instruction) \(page)"))
        #expect(decision.plan.steps.map(\.skill) == [skill])
        #expect(decision.material == page)
    }

    @Test("A short text is all instruction, also when it has two lines")
    func wholeTexts() {
        for text in [
            "what is 8:30 plus 2", "see http://example.org and summarise it", "Summarize this.\nAlso extract keywords.",
        ] {
            #expect(model.decide(RoutingQuestion(text: text)).material == nil, "\(text)")
        }
        let both = model.decide(RoutingQuestion(text: "Summarize this.\nAlso extract keywords."))
        #expect(both.plan.mode == .parallel)
    }

    @Test("What is quoted is spoken of")
    func quotations() {
        let decision = model.decide(RoutingQuestion(text: "“请总结全文并提取关键词”用英语怎么说"))
        #expect(decision.plan.steps.map(\.skill) == ["translate"])
        #expect(decision.material == "请总结全文并提取关键词")
    }

    @Test("With an attachment the text is the instruction")
    func attachments() {
        let file = JobInput.Attachment(name: "report.pdf", mediaType: "application/pdf", bytes: 1000)
        let decision = model.decide(RoutingQuestion(text: "summarise: briefly", attachments: [file]))
        #expect(decision.plan.steps.map(\.skill) == ["summarize"])
        #expect(decision.instruction == "summarise: briefly")
        #expect(decision.material == nil)
    }

    @Test("A follow-up goes to the skills and the text of the last turn")
    func followUps() {
        let answer =
            "The tram line grows by four kilometres from next spring, and the plan has its keywords listed in full."
        let history = [
            JobInput.Turn(role: "user", text: "Summarise this: \(Self.passage)", skills: ["summarize"]),
            JobInput.Turn(role: "assistant", text: answer),
        ]
        func decide(_ text: String) -> RoutingDecision { model.decide(RoutingQuestion(text: text, history: history)) }
        for text in ["shorter", "again, but shorter", "再短一点", "one more time please"] {
            #expect(decide(text).plan.steps.map(\.skill) == ["summarize"], "\(text)")
            #expect(decide(text).material == Self.passage, "\(text)")
        }
        #expect(decide("那关键词呢？").plan.steps.map(\.skill) == ["keywords"])
        #expect(decide("那关键词呢？").material == Self.passage)
        #expect(decide("translate the summary into French").plan.steps.map(\.skill) == ["translate"])
        #expect(decide("translate the summary into French").material == answer)
        #expect(decide("what is 2+2").plan.steps.map(\.skill) == ["calculator"])
        #expect(decide("book me a flight").plan.mode == .none)
    }
}
