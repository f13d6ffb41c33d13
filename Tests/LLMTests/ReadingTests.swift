import TestSupport
import Testing
import Transfers
import Wire

@testable import LLM

@Suite struct ReadingTests {
    private func split(_ content: String, _ size: Int) -> (thinking: String, text: String, waited: Int) {
        var splitter = ThoughtSplitter()
        var thinking = ""
        var text = ""
        var waited = 0
        func take(_ parts: [ThoughtSplitter.Part]) {
            for part in parts {
                switch part {
                case .thinking(let piece): thinking += piece
                case .text(let piece): text += piece
                case .thoughtEnded: thinking += text; text = ""
                }
            }
        }
        var rest = content.unicodeScalars[...]
        while !rest.isEmpty {
            let piece = String(rest.prefix(size))
            rest = rest.dropFirst(size)
            take(splitter.feed(piece))
            waited = max(
                waited,
                content.utf8.count - rest.reduce(0) { $0 + UTF8.width($1) } - thinking.utf8.count - text.utf8.count
            )
        }
        take(splitter.end())
        return (thinking, text, waited)
    }

    @Test(arguments: [
        ("<think>a</think>b", "a", "b"), ("<think>\na\n</think>\n\nb", "\na\n", "b"),
        ("\n <THINK>a</Think> b", "a", "b"),
        ("<thinking>a</thinking>b", "a", "b"), ("<think>never closed", "never closed", ""),
        ("<think></think>b", "", "b"),
        ("plain", "", "plain"), ("  plain", "", "  plain"), ("a < b and <b>bold</b>", "", "a < b and <b>bold</b>"),
        ("The tag <think> opens a thought.", "", "The tag <think> opens a thought."),
        ("<thinker>b", "", "<thinker>b"), ("<think>a <b> c</think>d", "a <b> c", "d"),
        ("<think>a</think>b\n<think>c</think>\nd", "ac", "b\nd"), ("<", "", "<"), ("<thi", "", "<thi"),
        ("<think>a</thi", "a</thi", ""), ("lost opening\n</think>\nanswer", "lost opening\n", "answer"),
        ("<think>思考🙂</think>答案", "思考🙂", "答案"), ("", "", ""),
    ])
    func thoughtsAreToldFromTheAnswerHoweverTheyAreCut(_ content: String, _ thinking: String, _ text: String) {
        for size in [1, 2, 3, 7, 1000] {
            let found = split(content, size)
            #expect(found.thinking == thinking && found.text == text, "in pieces of \(size)")
        }
    }

    @Test func theAnswerDoesNotWait() {
        var splitter = ThoughtSplitter()
        #expect(splitter.feed("Hello") == [.text("Hello")])
        #expect(splitter.feed(" wor") == [.text(" wor")])
        #expect(splitter.feed("ld\n") == [.text("ld\n")])
        #expect(splitter.feed("<") == [])
        #expect(splitter.feed("b>") == [.text("<b>")])
    }

    struct Hint: Sendable {
        var headers: [String: String]
        var seconds: Double?
        init(_ headers: [String: String], _ seconds: Double?) {
            self.headers = headers
            self.seconds = seconds
        }
    }

    static let hints: [Hint] = [
        Hint(["Retry-After": "2"], 2), Hint(["Retry-After": "0.25"], 0.25), Hint(["Retry-After": "-1"], nil),
        Hint(["Retry-After": "soon"], nil), Hint(["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"], 0),
        Hint(["Retry-After": "Sunday, 06-Nov-94 08:49:37 GMT"], 0),
        Hint(["Retry-After": "Sun Nov  6 08:49:37 1994"], 0),
        Hint(["Retry-After-Ms": "1500", "Retry-After": "9"], 1.5), Hint(["Retry-After": "1e400"], nil),
        Hint(["Retry-After": "nan"], nil),
        Hint(["x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m0.5s"], 60.5),
        Hint(["x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "6m0s"], nil),
        Hint(["Retry-After": "99999999999999999999"], 365 * 86_400), Hint([:], nil),
    ]

    @Test(arguments: hints)
    func whatAnEndpointAsksToWait(_ hint: Hint) {
        let head = TransferHead(status: 429, headers: hint.headers.map { ($0.key.lowercased(), $0.value) })
        #expect(RetryHint.seconds(head, nil) == hint.seconds, "\(hint.headers)")
    }

    @Test func aDateToComeIsCounted() throws {
        let head = TransferHead(status: 429, headers: [("retry-after", "Fri, 01 Jan 2100 00:00:00 GMT")])
        #expect(try #require(RetryHint.seconds(head, nil)) > 86_400)
        let gemini: JSONValue = ["error": ["details": [["@type": "x"], ["retryDelay": "17s"]]]]
        #expect(RetryHint.seconds(TransferHead(status: 429), gemini) == 17)
        for text in ["1s", "6m0s", "94ms", "1h0m1s"] { #expect(RetryHint.duration(text) != nil) }
        for text in ["", "s", "1", "1x", "1..2s"] { #expect(RetryHint.duration(text) == nil) }
    }

    private func read(_ body: String) -> Result<ChatAnswer, LLMError> {
        do throws(LLMError) {
            let endpoint = try Endpoint(url: "http://127.0.0.1:1", model: "m")
            var reader = AnswerReader(endpoint, promptEstimate: 1, isShown: true)
            var events: [ChatEvent] = []
            try reader.feed(Array(body.utf8), &events)
            return .success(try reader.end(nil, &events))
        } catch {
            return .failure(error)
        }
    }

    private func error(_ body: String) -> LLMError.Kind? {
        if case .failure(let error) = read(body) { error.kind } else { nil }
    }

    @Test func whatIsNoAnswerIsRefused() {
        let deep = "data: " + String(repeating: "[", count: 5000) + "\n\n"
        for body in [
            "data: []\n\n", "data: 5\n\n", "data: {\n\n", deep, #"{"done":true}"#, "{\"a\":1}\n{\"b\":2}\n", "<html>",
            "data: {\"choices\":5}\n\n",
        ] {
            #expect(error(body) == (body == "<html>" ? .truncated : .badResponse), "\(body.prefix(40))")
        }
        #expect(error("") == .truncated)
        #expect(error(#"data: {"object":"error","message":"no","code":400}"# + "\n\n") == .stream)
        #expect(error(#"{"detail":"no"}"#) == .stream)
    }

    @Test func oddButHarmlessEventsAreRead() throws {
        let odd = [
            "data: null\n\n", "data:\n\n", #"data: {"choices":null}"# + "\n\n",
            #"data: {"choices":[{"index":0}]}"# + "\n\n",
        ]
        let parts =
            #"data: {"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":[{"text":"t"}]}]}}]}"#
        let answer = try read(odd.joined() + parts + "\n\ndata: [DONE]").get()
        #expect(answer.text == "a" && answer.thinking == "t")
    }

    @Test func bytesThatAreNoTextAreAnError() throws {
        let endpoint = try Endpoint(url: "http://127.0.0.1:1", model: "m")
        var reader = AnswerReader(endpoint, promptEstimate: 1, isShown: true)
        var events: [ChatEvent] = []
        var body = Array("data: {\"choices\":[{\"delta\":{\"content\":\"".utf8)
        body += [0xFF, 0xC3] + Array("\"}}]}\n\n".utf8)
        #expect(throws: LLMError.self) { try reader.feed(body, &events) }
    }

    private func calls(_ deltas: String...) throws -> [ToolCall] {
        let events = deltas.map { #"data: {"choices":[{"delta":{"tool_calls":[\#($0)]}}]}"# + "\n\n" }
        return try read(events.joined() + "data: [DONE]\n\n").get().toolCalls
    }

    @Test func callsWithoutNumberOrIdAreToldApart() throws {
        let two = try calls(
            #"{"function":{"name":"a","arguments":"{\"x\":1}"}}"#,
            #"{"function":{"name":"a","arguments":"{\"x\":2}"}}"#
        )
        #expect(two.map(\.arguments) == [#"{"x":1}"#, #"{"x":2}"#] && Set(two.map(\.id)).count == 2)
        let one = try calls(#"{"function":{"name":"a","arguments":"{\"x\""}}"#, #"{"function":{"arguments":":1}"}}"#)
        #expect(one.map(\.arguments) == [#"{"x":1}"#])
        let late = try calls(
            #"{"index":0,"function":{"arguments":"{}"}}"#,
            #"{"index":0,"id":"i","function":{"name":"n"}}"#
        )
        #expect(late == [ToolCall(id: "i", name: "n", arguments: "{}")])
    }
}
