import Glibc
import SessionClient
import TestSupport
import Testing
import Wire

@testable import CLI

/// What happens where two skills fit: a person is asked, everybody else gets the better one.
@Suite(.timeLimit(.minutes(1)))
struct ClarifyTests {
    private func gateway() throws -> FakeGateway {
        try FakeGateway(
            [
                .event(
                    "clarify",
                    [
                        "candidates": [
                            ["skill": "digest", "displayName": "Digest", "score": 0.812],
                            ["skill": "summarize", "displayName": "Summary", "score": 0.79],
                        ]
                    ]
                ),
                .event(
                    "request.failed",
                    ["error": ["code": "ambiguous", "message": "More than one skill fits: Digest or Summary?"]]
                ),
            ],
            named: single("digest", ["short\n"])
        )
    }

    private func terminal(_ gateway: FakeGateway, _ arguments: [String]) throws -> ChildProcess {
        let folder = try TemporaryFolder()
        return try ChildProcess(
            skillbus,
            arguments,
            environment: [
                "SKILLBUS_URL": gateway.url, "TERM": "xterm", "LC_ALL": "C.UTF-8", "SKILLBUS_STATE": folder.path,
            ],
            onTerminal: true
        )
    }

    private func requests(_ gateway: FakeGateway) -> [JSONValue] {
        gateway.requests.filter { $0.method == "POST" && $0.path.hasSuffix("/requests") }
            .compactMap { try? JSONBody.decode(JSONValue.self, from: $0.body) }
    }

    @Test("At a terminal the choice is made by number or by name", arguments: ["1", "digest", "Dig", "9\nx\nDIGEST"])
    func chosen(_ answer: String) async throws {
        let gateway = try gateway()
        let ask = try terminal(gateway, ["ask", "shorten it"])
        #expect(await ask.line { $0.contains("1  Digest, digest  (0.812)") } != nil)
        #expect(await ask.line { $0.contains("2  Summary, summarize  (0.790)") } != nil)
        ask.write(answer + "\n")
        // What was typed ahead is shown before the question, which then stands on the answer's line.
        #expect(await ask.line { $0.contains("short") && !$0.contains("shorten") } != nil)
        #expect(await ask.exitCode() == 0)
        let made = requests(gateway)
        #expect(made.map { $0["text"] } == ["shorten it", "shorten it"])
        #expect(made.map { $0["skill"] } == [nil, "digest"])
        #expect(made.map { $0["can_clarify"] } == [true, nil])
        #expect(Set(gateway.requests.compactMap { $0.headers["idempotency-key"] }).count == 2)
    }

    @Test("Nothing chosen is no answer")
    func none() async throws {
        let gateway = try gateway()
        let ask = try terminal(gateway, ["ask", "shorten it"])
        #expect(await eventually { ask.pending.contains("nothing for neither") })
        ask.write("\n")
        #expect(await ask.line { $0.contains("More than one skill fits: Digest or Summary? (ambiguous)") } != nil)
        #expect(await ask.exitCode() == 1)
        #expect(requests(gateway).count == 1)
    }

    @Test("In a chat the prompt takes the choice and goes on")
    func chat() async throws {
        let gateway = try gateway()
        let chat = try terminal(gateway, ["chat"])
        #expect(await eventually { chat.pending.hasSuffix("› ") })
        chat.write("shorten it\n")
        #expect(await eventually { chat.pending.contains("nothing for neither") })
        chat.write("1\n")
        #expect(await chat.line { $0.contains("short") && !$0.contains("shorten") } != nil)
        #expect(await eventually { chat.pending.hasSuffix("› ") })
        // A line that names its skill is not asked back.
        chat.write("@digest again\n")
        #expect(await eventually { requests(gateway).count == 3 })
        #expect(requests(gateway).map { $0["can_clarify"] } == [true, nil, nil])
        #expect(await eventually { chat.pending.hasSuffix("› ") })
        chat.write("/quit\n")
        #expect(await chat.exitCode() == 0)
    }

    @Test("Nobody is asked through a pipe, with --json or with --skill")
    func pipes() async throws {
        let gateway = try gateway()
        let piped = try await ask(gateway, ["shorten it"])
        #expect(piped.code == 1)
        #expect(piped.error.contains("(ambiguous)"))
        #expect(try await ask(gateway, ["--json", "shorten it"]).code == 1)
        for arguments in [["--json", "shorten it"], ["--skill", "digest", "shorten it"]] {
            #expect(await [0, 1].contains(try terminal(gateway, ["ask"] + arguments).exitCode()))
        }
        #expect(requests(gateway).count == 4)
        #expect(requests(gateway).allSatisfy { $0["can_clarify"] == nil })
    }

    @Test(
        "What may be typed",
        arguments: [
            ("1", .skill("digest")), (" 2 ", .skill("summarize")), ("２", .skill("summarize")), ("0", .unknown),
            ("3", .unknown), ("99999999999999999999", .unknown), ("SUMMARY", .skill("summarize")),
            ("sum", .skill("summarize")), ("", .none), ("   ", .none), ("other", .unknown), ("s", .skill("summarize")),
            ("\u{1b}[A", .unknown),
        ] as [(String, SkillChoice.Answer)]
    )
    func typed(_ line: String, _ expected: SkillChoice.Answer) {
        let candidates = [
            RequestView.Candidate(skill: "digest", displayName: "Digest", score: 0.8),
            RequestView.Candidate(skill: "summarize", displayName: "Summary", score: nil),
        ]
        #expect(SkillChoice.read(line, candidates) == expected)
    }

    @Test("What a skill calls itself moves no cursor")
    func harmless() {
        let lines = SkillChoice.lines([
            RequestView.Candidate(skill: "a\u{1b}[2J", displayName: "b\u{9b}2J\n\u{202e}", score: .nan)
        ])
        #expect(lines.count == 1)
        #expect(lines.allSatisfy { !$0.unicodeScalars.contains { Terminal.isUnsafe($0) || $0 == "\n" } })
    }

    @Test("What a failed request had made is shown, once")
    func partial() async throws {
        let output: JSONValue = ["text": "found\n", "parts": []]
        let gateway = try FakeGateway(
            [plan([("find", []), ("sum", ["s1"])])] + job("s1", "find", ["found\n"]) + [
                .event("request.failed", ["error": ["code": "timeout", "message": "too long"], "output": output])
            ]
        )
        let result = try await ask(gateway, ["x"])
        #expect(result.code == 1)
        #expect(result.output == "found")
        #expect(result.error.contains("too long (timeout)"))
        #expect(result.error.contains("this is what there is"))
    }
}
