import Intent
import Testing
import Wire

@Suite("Two skills that fit")
struct ClarifyTests {
    private static func twin(_ id: String, priority: Int = 50) -> SkillManifest {
        var twin = Manifests.summarize
        twin.id = id
        twin.displayName = "The \(id)"
        twin.priority = priority
        return twin
    }

    private func candidates(_ manifests: [SkillManifest], _ text: String, margin: Double? = nil) -> [String] {
        let model = IntentModel(manifests: manifests).trained(RoutingThresholds(margin: margin))
        let decision = model.decide(RoutingQuestion(text: text))
        // Whoever cannot be asked gets the first.
        #expect(decision.candidates.isEmpty || decision.candidates.first?.skill == decision.plan.steps.first?.skill)
        #expect(decision.candidates.isEmpty || decision.plan.steps.count == 1)
        return decision.candidates.map(\.skill)
    }

    @Test("Both are named, with their scores, whichever registered first", arguments: ["condense this", "总结一下"])
    func both(_ text: String) throws {
        let manifests = [Self.twin("a-twin"), Self.twin("b-twin"), Manifests.calculator, Manifests.chat]
        let both = candidates(manifests, text)
        #expect(both.sorted() == ["a-twin", "b-twin"])
        #expect(candidates(manifests.reversed(), text) == both)
        let named = IntentModel(manifests: manifests).decide(RoutingQuestion(text: text)).candidates
        #expect(named.map(\.displayName) == ["The a-twin", "The b-twin"])
        #expect(named.allSatisfy { $0.score >= 0.38 && $0.score <= 1 })
    }

    @Test("A priority decides, and a margin of zero never asks")
    func decided() {
        let preferred = [Self.twin("a-twin"), Self.twin("b-twin", priority: 60)]
        #expect(candidates(preferred, "condense this") == [])
        #expect(candidates([Self.twin("a-twin"), Self.twin("b-twin")], "condense this", margin: 0) == [])
    }

    @Test(
        "Where the text says what is meant, nobody is asked",
        arguments: [
            "what is 12 * 12", "帮我总结这篇文章并提取关键词", "hello there", "book me a flight to Rome", "", "😀",
            "extract the keywords, don't summarise",
        ]
    )
    func clear(_ text: String) {
        #expect(candidates(Manifests.usual, text) == [])
        // Neither is one of the two, if only these are two of a kind.
        let manifests = [
            Self.twin("a-twin"), Self.twin("b-twin"), Manifests.calculator, Manifests.keywords, Manifests.chat,
        ]
        if !text.contains("总结") { #expect(candidates(manifests, text) == []) }
    }

    @Test("Of everyday requests to the usual skills none is asked back")
    func everyday() {
        let model = IntentModel(manifests: Manifests.usual)
        let asked = EverydayUtterances.all.filter { !model.decide($0.question).candidates.isEmpty }
        #expect(asked.map(\.question.text) == [])
    }

    @Test("What refers to the last turn goes where that went")
    func followUp() {
        let manifests = [Self.twin("a-twin"), Self.twin("b-twin"), Manifests.chat]
        let history = [
            JobInput.Turn(role: "user", text: "summarise this: the lighthouse was built in 1901.", skills: ["b-twin"]),
            JobInput.Turn(role: "assistant", text: "It was built in 1901."),
        ]
        let decision = IntentModel(manifests: manifests).decide(RoutingQuestion(text: "shorter", history: history))
        #expect(decision.plan.steps.map(\.skill) == ["b-twin"])
        #expect(decision.candidates.isEmpty)
    }

    @Test("A plan of several steps says what a failure does")
    func failurePolicy() {
        let model = IntentModel(manifests: Manifests.usual)
        let several = model.decide(RoutingQuestion(text: "帮我总结这篇文章并提取关键词")).plan
        #expect(several.onFailure == .goOn)
        #expect(model.decide(RoutingQuestion(text: "what is 12 * 12")).plan.onFailure == nil)
    }
}
