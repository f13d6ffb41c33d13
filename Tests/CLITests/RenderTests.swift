import Lifecycle
import SessionClient
import Testing
import Wire

@testable import CLI

struct TerminalTests {
    @Test(
        "Nothing in a text obeys to the terminal",
        arguments: [
            ("plain\n\ttext 你好", "plain\n\ttext 你好"), ("\u{1b}[2Jgone", "␛[2Jgone"), ("a\rb", "ab"),
            ("a\r\nb", "a\nb"), ("\u{9b}31m", "\u{fffd}31m"), ("\u{7}\u{8}\u{0}", "␇␈␀"), ("\u{7f}", "␡"),
            ("\u{202e}evil\u{2066}", "\u{fffd}evil\u{fffd}"), ("👩‍👩‍👧 é", "👩‍👩‍👧 é"),
        ]
    )
    func safe(_ text: String, _ expected: String) {
        #expect(Terminal.safe(text) == expected)
    }

    @Test("On one line", arguments: [("a\nb\tc", "a b c"), ("a\r\nb", "a b"), ("\u{2028}", " ")])
    func line(_ text: String, _ expected: String) {
        #expect(Terminal.line(text) == expected)
    }

    @Test(
        "Columns of a text",
        arguments: [("abc", 3), ("你好", 4), ("é", 1), ("👩‍👩‍👧", 2), ("ｶ", 1), ("한글", 4), ("", 0)]
    )
    func width(_ text: String, _ expected: Int) {
        #expect(Terminal.width(text) == expected)
    }

    @Test("A text is cut to columns, never within a character")
    func fitted() {
        #expect(Terminal.fitted("你好世界", to: 8) == "你好世界")
        #expect(Terminal.fitted("你好世界", to: 6) == "你好…")
        #expect(Terminal.fitted("abcdef", to: 4) == "abc…")
    }

    @Test("NO_COLOR means none; a pipe has none anyway")
    func noColor() {
        #expect(!Style(for: 1, ["NO_COLOR": "1"]).isOn)
        #expect(Style(isOn: false).bold("x") == "x")
        #expect(Style(isOn: true).bold("x") == "\u{1b}[1mx\u{1b}[0m")
    }

    @Test("Columns line up, also with wide characters")
    func table() {
        var table = Table(["A", "B"])
        table.add(["你好", "x"])
        table.add(["abc", "y\u{1b}"])
        #expect(table.lines(Style(isOn: false)) == ["A     B", "你好  x", "abc   y␛"])
    }
}

struct SkillListTests {
    private func list(_ parties: [String: [String]]) -> SkillList {
        SkillList(
            skills: parties.keys.sorted().map { id in
                let manifest = SkillManifest(id: id, description: "d", sendsDataTo: parties[id] ?? [])
                return .init(manifest: manifest, workers: [], queued: 0)
            }
        )
    }

    @Test("Whoever lists the skills sees to whom text may go, and nothing where it goes nowhere")
    func parties() {
        let some = list([
            "chat": ["https://a.example"], "agent": ["https://b.example", "https://a.example"], "summarize": [],
        ])
        #expect(
            SkillsCommand.parties(some) == [
                "", "In sessions that allow it, text goes to https://a.example: agent, chat",
                "In sessions that allow it, text goes to https://b.example: agent",
            ]
        )
        #expect(SkillsCommand.parties(list(["chat": []])).isEmpty)
    }
}

struct AnswerTextTests {
    /// Applies events one after the other and returns what was written.
    private func written(_ steps: [FakeGateway.Step]) -> (text: String, notes: [String]) {
        var view = SessionView()
        var answer = AnswerText()
        var text = ""
        var notes: [String] = []
        for (index, entry) in ([.event("request.accepted", ["text": "x"])] + steps).enumerated() {
            guard case .event(let type, let step, let skill, let attempt, let data) = entry else { continue }
            view.apply(
                SessionEvent(
                    seq: UInt64(index + 1),
                    time: "",
                    session: "s",
                    request: "r",
                    job: step,
                    step: step,
                    skill: skill,
                    attempt: attempt,
                    type: type,
                    data: data
                )
            )
            guard let request = view[request: "r"] else { continue }
            for piece in answer.pieces(for: request) {
                switch piece {
                case .text(let piece): text += piece
                case .note(let note): notes.append(note)
                case .heading(let name): text += "[\(name)]\n"
                }
            }
        }
        return (text, notes)
    }

    private func retrying(_ attempt: Int64) -> FakeGateway.Step {
        .event("job.retrying", step: "s1", skill: "a", attempt: 1, ["reason": "lost", "attempt": .integer(attempt)])
    }

    @Test("A single skill flows, and ends with a line feed once")
    func flows() {
        #expect(written(single("a", ["x", "y"])) == ("xy\n", []))
        #expect(written(single("a", ["x\n"])) == ("x\n", []))
        #expect(written([plan([("a", [])])] + started("s1", "a", ["x", "y"])).text == "xy")
    }

    @Test("Output that was not streamed is written whole")
    func notStreamed() {
        let finished: FakeGateway.Step = .event(
            "job.finished",
            step: "s1",
            skill: "a",
            attempt: 1,
            ["output": ["text": "whole", "parts": []]]
        )
        #expect(written([plan([("a", [])]), finished]).text == "whole\n")
        #expect(written([plan([("a", [])])] + started("s1", "a", ["wh"]) + [finished]).text == "whole\n")
        let output: JSONValue = ["output": ["text": "merged", "parts": []]]
        #expect(written([.event("request.finished", output)]).text == "merged\n")
    }

    @Test("A new attempt goes on where the text was, if it says the same")
    func sameAgain() {
        let steps =
            [plan([("a", [])])] + started("s1", "a", ["one ", "two"]) + [retrying(2)]
            + job("s1", "a", ["o", "ne two th", "ree"], attempt: 2)
        #expect(written(steps) == ("one two three\n", []))
    }

    @Test("A new attempt that says something else is written whole, with a note")
    func otherwise() {
        let steps =
            [plan([("a", [])])] + started("s1", "a", ["one two"]) + [retrying(2)]
            + job("s1", "a", ["one ", "or three"], attempt: 2)
        #expect(written(steps).text == "one two\none or three\n")
        #expect(written(steps).notes.count == 1)
    }

    @Test("A new attempt that says less is written whole, with a note")
    func less() {
        let steps =
            [plan([("a", [])])] + started("s1", "a", ["one two"]) + [retrying(2)] + job("s1", "a", ["one"], attempt: 2)
        #expect(written(steps).text == "one two\none\n")
    }

    private func end(_ text: String) -> FakeGateway.Step {
        .event("request.finished", ["output": ["text": .string(text), "parts": []]])
    }

    @Test("In the end the request's whole output is there, whatever the steps said")
    func wholeInTheEnd() {
        let half = [plan([("a", [])])] + started("s1", "a", ["one "], attempt: 3)
        #expect(written(half + [end("one two")]) == ("one two\n", []))
        #expect(written(half + [end("one ")]) == ("one \n", []))
        #expect(written(half + [end("")]).notes.count == 1)
        let other = written(half + [end("three")])
        #expect(other.text == "one \nthree\n")
        #expect(other.notes == ["what was written so far is void; the whole answer follows"])
        let both = [plan([("a", []), ("b", [])])] + job("s1", "a", ["A"])
        #expect(written(both + [end("A\n\nB")]) == ("[a]\nA\n\nB\n", []))
        #expect(written(both + job("s2", "b", ["B\n"]) + [end("A\n\nB")]) == ("[a]\nA\n\n[b]\nB\n", []))
    }

    @Test("A step that begins anew with the same number is not joined to what it said before")
    func beginsAnew() {
        let steps =
            [plan([("a", [])])] + started("s1", "a", ["one two"]) + started("s1", "a", ["three four"])
            + [end("three four five")]
        #expect(written(steps).text == "one two\nthree four five\n")
        let same = [plan([("a", [])])] + started("s1", "a", ["one two"], attempt: 2) + job("s1", "a", ["one two three"])
        #expect(written(same + [end("one two three")]) == ("one two three\n", []))
    }

    @Test("Of a chain only the last step is the answer")
    func chain() {
        let steps =
            [plan([("knowledge", []), ("summarize", ["s1"])])] + job("s1", "knowledge", ["passages"])
            + job("s2", "summarize", ["short"])
        #expect(written(steps).text == "short\n")
    }

    @Test("Of skills at the same time each is written when it and those before it have finished")
    func parallel() {
        let steps = [plan([("a", []), ("b", []), ("c", [])])] + started("s1", "a", ["A"]) + job("s2", "b", ["B"])
        #expect(written(steps).text == "")
        #expect(written(steps + job("s1", "a", ["A"])).text == "[a]\nA\n\n[b]\nB\n")
        let failed: FakeGateway.Step = .event(
            "job.failed",
            step: "s1",
            skill: "a",
            attempt: 1,
            ["error": ["code": "x", "message": "broke"]]
        )
        #expect(written(steps + [failed]) == ("[b]\nB\n", ["a failed: broke"]))
    }
}

struct OtherRenderTests {
    @Test("A plan with its scores")
    func route() {
        let plan = Plan(
            mode: .chain,
            steps: [
                .init(number: 1, skill: "knowledge"),
                .init(number: 2, skill: "summarize", after: ["s1"], arguments: ["n": 3]),
            ],
            scores: [
                .init(skill: "knowledge", score: 0.9123, reasons: ["keyword \"find\"", "example"]),
                .init(skill: "chat", score: 0.0005),
            ]
        )
        #expect(
            RouteCommand.lines(plan, explains: true, Style(isOn: false)) == [
                "mode: chain", "  s1  knowledge", "  s2  summarize  after s1  {\"n\":3}", "",
                "   SKILL      SCORE  REASONS", "*  knowledge  0.912  keyword \"find\"; example",
                "   chat       0.001  ",
            ]
        )
        #expect(
            RouteCommand.lines(Plan(mode: .none, steps: []), explains: false, Style(isOn: false)) == [
                "mode: none (no skill serves this)"
            ]
        )
    }

    @Test("Media types by extension, and by looks without one")
    func mediaTypes() {
        #expect(Attachments.mediaType("a.PDF", looksLikeText: false) == "application/pdf")
        #expect(Attachments.mediaType("a.unknown", looksLikeText: true) == "text/plain")
        #expect(Attachments.mediaType("a", looksLikeText: false) == "application/octet-stream")
        #expect(Attachments.mediaType(".txt", looksLikeText: false) == "application/octet-stream")
    }

    @Test("Lines of a chat")
    func chatLines() {
        func request(_ line: String) -> NewRequest? {
            if case .request(let request) = ChatLine(line, skill: "chat") { request } else { nil }
        }
        #expect(request(" hello ")?.text == "hello")
        #expect(request("hello")?.skill == "chat")
        #expect(request("@calculator 1 + 1")?.skill == "calculator")
        #expect(request("@calculator 1 + 1")?.text == "1 + 1")
        if case .quit = ChatLine("/quit", skill: nil) {} else { Issue.record() }
        if case .empty = ChatLine("  ", skill: nil) {} else { Issue.record() }
        if case .wrong(let words) = ChatLine("/qiut", skill: nil) {
            #expect(words.contains("/quit"))
        } else {
            Issue.record()
        }
        if case .routing(.model?) = ChatLine("/routing model", skill: nil) {} else { Issue.record() }
        if case .routing(nil) = ChatLine("/routing", skill: nil) {} else { Issue.record() }
        if case .wrong = ChatLine("/routing magic", skill: nil) {} else { Issue.record() }
        if case .wrong = ChatLine("@calculator", skill: nil) {} else { Issue.record() }
        if case .wrong = ChatLine("@ x y", skill: nil) {} else { Issue.record() }
    }

    @Test("JSON for a terminal is the same JSON")
    func json() throws {
        let json = Output.escaped("{\"a\":\"\u{9b}x\u{7f}é\"}")
        #expect(json == "{\"a\":\"\\u009bx\\u007fé\"}")
        #expect(try JSONBody.decode(JSONValue.self, from: json.utf8)["a"] == "\u{9b}x\u{7f}é")
        #expect(Output.escaped("{\"a\":\"\u{202e}中\"}") == "{\"a\":\"\\u202e中\"}")
    }

    @Test(
        "The nearest name",
        arguments: [
            ("aks", "ask"), ("skils", "skills"), ("sesions", "sessions"), ("comp", "completion"), ("xyzzy", nil),
            ("", nil),
        ]
    )
    func nearest(_ word: String, _ expected: String?) {
        #expect(nearestName(to: word, in: ["ask", "skills", "sessions", "completion", "up"]) == expected)
    }

    @Test("Addresses")
    func addresses() throws {
        #expect(try UpSettings.split("127.0.0.1:0") == ("127.0.0.1", 0))
        #expect(try UpSettings.split("[::1]:8080") == ("::1", 8080))
        for wrong in ["8080", "host:", "host:99999", ":80", "::1:80"] {
            #expect(throws: UsageError.self) { _ = try UpSettings.split(wrong) }
        }
    }

    @Test("Lines out of pieces")
    func lines() {
        var buffer = LineBuffer()
        #expect(buffer.take(Array("a\nb".utf8)[...]) == ["a"])
        #expect(buffer.take(Array("c\n\nd".utf8)[...]) == ["bc", ""])
        #expect(buffer.rest == "d")
    }
}

struct StatusLinesTests {
    @Test("One line for each skill at work, fitting the width")
    func lines() throws {
        var view = SessionView()
        let steps: JSONValue = [
            ["id": "s1", "skill": "summarize", "after": [], "arguments": [:]],
            ["id": "s2", "skill": "keywords", "after": ["s1"], "arguments": [:]],
        ]
        func apply(_ seq: UInt64, _ type: String, _ data: JSONValue, step: String? = nil) {
            view.apply(
                SessionEvent(
                    seq: seq,
                    time: "",
                    session: "s",
                    request: "r",
                    job: step,
                    step: step,
                    skill: nil,
                    attempt: step == nil ? nil : 1,
                    type: type,
                    data: data
                )
            )
        }
        func lines() -> [String] {
            StatusLines.lines(view[request: "r"], started: ["s1": 1], now: 3, columns: 60, style: Style(isOn: false))
        }
        apply(1, "request.accepted", ["text": "x"])
        #expect(lines() == ["⠋ choosing skills"])
        apply(2, "request.plan", ["mode": "chain", "steps": steps])
        apply(3, "job.progress", ["message": "读取\u{1b}[2J 文件", "fraction": 0.456], step: "s1")
        let shown = lines()
        #expect(shown.count == 2)
        #expect(shown[0].hasPrefix("⠋ summarize 读取␛[2J 文件"))
        #expect(shown[0].hasSuffix(" 45 %  2.0 s"))
        #expect(shown[1].hasPrefix("· keywords  waiting for s1"))
        for line in shown { #expect(Terminal.width(line) <= 60) }
        #expect(StatusLines.seconds(0.04) == "0.0 s")
        #expect(StatusLines.seconds(75.26) == "75 s")
        #expect(TimeLimit(0.3).words == "no answer within 0.3 s")
        #expect(TimeLimit(0.001).words == "no answer within 0.001 s")
    }
}
