import Intent
import Testing
import Wire

@Suite("Evaluation")
struct EvaluationTests {
    @Test("Counts what is right by mode, language, mark and skill")
    func figures() throws {
        let lines = """
            {"utterance": "summarise this", "expected": {"mode": "single", "skills": ["summarize"]}, "lang": "en"}

            {"utterance": "总结", "expected": {"mode": "single", "skills": ["keywords"]}, "lang": "zh", "tags": ["hard"]}
            {"utterance": "book a flight", "expected": {"mode": "none", "skills": []}, "lang": "en"}
            {"utterance": "shorter", "expected": {"mode": "single", "skills": ["summarize"]}, "prev": ["summarize"]}
            """
        let cases = try IntentEvaluation.cases(jsonLines: lines.utf8)
        var now: UInt64 = 0
        let result = IntentEvaluation(IntentModel(manifests: Manifests.usual), cases: cases) {
            now += 5000
            return now
        }
        #expect(result.exact.right == 3 && result.exact.of == 4)
        #expect(result.byMode["none"]?.value == 1)
        #expect(result.byLanguage["zh"]?.value == 0)
        #expect(result.byTag["hard"]?.of == 1)
        #expect(result.perSkill["keywords"] == 0)
        #expect(result.perSkill["summarize"] == 0.8)
        #expect(result.noneRecall.value == 1 && result.nonePrecision.value == 1)
        #expect(result.p50Microseconds == 5 && result.p99Microseconds == 5)
        #expect(result.mistakes.map(\.case.utterance) == ["总结"])
    }

    @Test("A chain's order counts, a parallel plan's does not")
    func order() {
        let model = IntentModel(manifests: Manifests.usual)
        func isRight(_ text: String, _ mode: Plan.Mode, _ skills: [String]) -> Bool {
            let item = IntentEvaluation.Case(utterance: text, expected: .init(mode: mode, skills: skills))
            return IntentEvaluation(model, cases: [item]).exact.value == 1
        }
        #expect(isRight("summarise this and extract keywords", .parallel, ["keywords", "summarize"]))
        #expect(isRight("look up the policy, then summarise it", .chain, ["knowledge", "summarize"]))
        #expect(!isRight("look up the policy, then summarise it", .chain, ["summarize", "knowledge"]))
    }

    @Test("A bad line is named")
    func badLine() {
        let lines = "\n{\"utterance\": \"x\", \"expected\": {\"mode\": \"maybe\", \"skills\": []}}"
        let error = #expect(throws: WireError.self) { try IntentEvaluation.cases(jsonLines: lines.utf8) }
        #expect("\(String(describing: error))".contains("line 2"))
    }
}
