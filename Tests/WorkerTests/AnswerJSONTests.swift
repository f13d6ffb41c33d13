import ModelAccess
import Testing
import Wire

/// JSON among the words of a model.
struct AnswerJSONTests {
    private func list(_ answer: String) -> [String]? {
        AnswerJSON.first(in: answer) { $0["a"]?.array?.compactMap(\.string) }
    }

    @Test(arguments: [
        #"{"a": ["x"]}"#, "```json\n{\"a\": [\"x\"]}\n```", #"Of [3] texts {these}: {"a": ["x"]}, see [1]."#,
        #"{"b": 1} and {"a": ["x"], "c": "}]"} {"a": ["y"]}"#, #"[{"a": 1}] {"a": ["x"]}"#,
        #"{as said: {"a": ["x"]}}"#, "\u{FEFF}说明：{\"a\": [\"x\"]}",
    ])
    func itIsFound(_ answer: String) {
        #expect(list(answer) == ["x"])
    }

    @Test(arguments: [
        "", "none", "{", "}{", #"{"a": ["x"]"#, #"{"a": ["x", "y}]"#, #"{"a": 7}"#, #"{"a": ["\"]}"#,
        String(repeating: "[", count: 100_000), String(repeating: "[]", count: 100_000) + #"{"a": ["x"]}"#,
    ])
    func whatIsCutOrSomethingElseIsNone(_ answer: String) {
        #expect(list(answer) == nil)
    }

    @Test func textMayHaveBracketsAndQuotes() {
        #expect(list(#"{"a": ["say \"}\" {[", "é\\"]}"#) == [#"say "}" {["#, #"é\"#])
    }
}
