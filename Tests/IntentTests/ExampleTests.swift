import Intent
import Testing
import Wire

@Suite("What the skills of this repository say that they serve")
struct ExampleTests {
    private let model = IntentModel(manifests: Manifests.usual)

    @Test("Every example is served by the skill that gives it, with or without a file")
    func examples() {
        let file = JobInput.Attachment(name: "a.txt", mediaType: "text/plain", bytes: 100)
        for manifest in Manifests.usual {
            for example in manifest.examples {
                for attachments in [[], [file]] {
                    let plan = model.decide(RoutingQuestion(text: example, attachments: attachments)).plan
                    #expect(plan.steps.map(\.skill) == [manifest.id], "\(example)")
                }
            }
        }
    }

    @Test(
        "Asking what a text says, shortly, is no wish for a translation",
        arguments: [
            "what does this article say in brief", "what does the report say in a nutshell",
            "what does it say in short",
            "what does this document say in one sentence",
        ]
    )
    func says(_ text: String) {
        #expect(model.decide(RoutingQuestion(text: text)).plan.steps.map(\.skill) == ["summarize"])
        let all = IntentModel(manifests: Manifests.usual + [Manifests.translate])
        #expect(all.decide(RoutingQuestion(text: text)).plan.steps.map(\.skill) == ["summarize"])
        // A translation without examples is a hair's breadth ahead of a summary here: each further skill, whatever it is for,
        // makes the words of the others a little rarer.
        let others = Manifests.usual.filter { $0.id != Manifests.agent.id }
        let translating = IntentModel(manifests: others + [Manifests.translate])
        #expect(translating.decide(RoutingQuestion(text: text)).plan.steps.map(\.skill) == ["summarize"])
        let french = translating.decide(RoutingQuestion(text: "what does this article say in French"))
        #expect(french.plan.steps.map(\.skill) == ["translate"])
    }
}
