import Intent
import Testing
import Wire

@Suite("The skills of this repository, as they announce themselves")
struct AnnouncedTests {
    private let model = IntentModel(manifests: Manifests.usual)

    private func arguments(_ text: String, _ model: IntentModel) -> [String: JSONValue] {
        let steps = model.decide(RoutingQuestion(text: text)).plan.steps
        return Dictionary(steps.map { ($0.skill, $0.arguments) }) { first, _ in first }
    }

    @Test(
        "The length of a summary is the number of its points",
        arguments: [
            ("summarise in 3 points", 3), ("summarize in one sentence", 1), ("summarize this in 4 bullets", 4),
            ("a two-sentence summary please", 2), ("boil this down to three sentences", 3), ("用三句话总结", 3), ("一句话总结", 1),
            ("总结成五点", 5), ("概括成4条", 4), ("把这份文件归纳成三点", 3), ("总结成一点", 1),
        ]
    )
    func points(_ text: String, _ count: Int64) {
        #expect(arguments(text, model) == ["summarize": ["points": .integer(count)]])
    }

    @Test(
        "A number that is no number of points is left out",
        arguments: [
            "用100字总结", "summarize this in 50 words", "summarise in 40 points", "总结一下，短一点", "总结第三点",
            "summarize these 5 points",
            "give me one summary in bullet points",
        ]
    )
    func none(_ text: String) {
        #expect(arguments(text, model) == ["summarize": [:]])
    }

    @Test("The length of a point is one only where each point is spoken of")
    func length() {
        #expect(arguments("总结成三点，每点不超过40字", model) == ["summarize": ["points": 3, "max_chars": 40]])
        #expect(
            arguments("summarize in 3 points of 40 characters each", model)
                == ["summarize": ["points": 3, "max_chars": 40]]
        )
        #expect(arguments("总结成三点，每点不超过5字", model) == ["summarize": ["points": 3]])
    }

    @Test("Each number goes to the skill whose noun it counts")
    func several() {
        #expect(
            arguments("summary in 1 bullet and 2 keywords", model)
                == ["summarize": ["points": 1], "keywords": ["count": 2]]
        )
        #expect(
            arguments("总结成三点，再列出十个关键词", model) == ["summarize": ["points": 3], "keywords": ["count": 10]]
        )
        #expect(
            arguments("summarise in 3 points and extract keywords", model)
                == ["summarize": ["points": 3], "keywords": [:]]
        )
    }

    @Test("A schema whose least value is above its greatest gives no argument")
    func reversed() {
        var odd = Manifests.summarize
        odd.inputSchema = ["properties": ["points": ["type": "integer", "minimum": 5, "maximum": 1]]]
        #expect(
            arguments("summarise in 3 points", IntentModel(manifests: [odd, Manifests.chat])) == ["summarize": [:]]
        )
    }
}
