import TestSupport
import Testing
import Wire

@testable import CLI

/// What `skillbus ask` says about what may leave, about earlier outputs, and about why a skill is called.
@Suite(.timeLimit(.minutes(1)))
struct PrivacyCommandTests {
    private func made(_ gateway: FakeGateway) -> JSONValue? {
        let first = gateway.requests.first { $0.method == "POST" && $0.path == "/v1/sessions" }
        return first.flatMap { try? JSONBody.decode(JSONValue.self, from: $0.body) }
    }

    @Test("Where nobody can be asked the session is what the gateway says")
    func unwatched() async throws {
        let gateway = try FakeGateway(single("chat", ["ok"]))
        #expect(try await ask(gateway, ["x"]).code == 0)
        #expect(made(gateway)?["privacy"] == nil)
        #expect(gateway.submitted?["privacy"] == nil && gateway.submitted?["cache"] == nil)
    }

    @Test("--privacy makes the session so; of one that is there it is the request's")
    func policy() async throws {
        let gateway = try FakeGateway(single("chat", ["ok"]))
        #expect(try await ask(gateway, ["--privacy", "allow", "--no-cache", "x"]).code == 0)
        #expect(made(gateway)?["privacy"] == "allow")
        #expect(gateway.submitted?["privacy"] == nil && gateway.submitted?["cache"] == false)
        let session = ["--session", FakeGateway.session]
        #expect(try await ask(gateway, session + ["x"], environment: ["SKILLBUS_PRIVACY": "local-only"]).code == 0)
        #expect(gateway.submitted?["privacy"] == "local-only")
        let wrong = try await ask(gateway, ["--privacy", "maybe", "x"])
        #expect(wrong.code == 2 && wrong.error.contains("local-only, ask or allow, not \"maybe\""))
    }

    @Test("A question that nobody can answer here is told, with how to")
    func question() async throws {
        let data: JSONValue = [
            "question": "May chat send 9 bytes to a.example.org?", "choices": ["allow", "always", "deny"],
            "party": "a.example.org", "bytes": 9, "purpose": "p",
        ]
        let asked = FakeGateway.Step.event("approval", step: "s1", skill: "chat", attempt: 1, data)
        let gateway = try FakeGateway([plan([("chat", [])]), asked] + single("chat", ["ok"]).dropFirst())
        let result = try await ask(gateway, ["x"])
        #expect(result.code == 0 && result.output == "ok")
        #expect(result.error.contains("May chat send 9 bytes to a.example.org?"))
        #expect(result.error.contains("/v1/sessions/\(FakeGateway.session)/requests/r1/approval"))
    }

    @Test("--debug asks for scores, and shows them with the arguments on standard error alone")
    func debug() async throws {
        let data: JSONValue = [
            "mode": "chain",
            "steps": [
                ["id": "s1", "skill": "knowledge", "after": [], "arguments": [:]],
                ["id": "s2", "skill": "summarize", "after": ["s1"], "arguments": ["points": 3]],
            ],
            "scores": [
                ["skill": "summarize", "score": 0.91349, "reasons": ["name", "example \u{1b}[2J"]],
                ["skill": "chat", "score": 0.1, "reasons": []],
            ],
        ]
        let steps: [FakeGateway.Step] = [
            .event("request.plan", data),
            .event("job.started", step: "s2", skill: "summarize", attempt: 1, ["worker": "w", "engine": "offline"]),
            .event("job.thinking", step: "s2", skill: "summarize", attempt: 1, ["text": "hm"]),
            .event("job.started", step: "s100", skill: "chat", attempt: 1, ["worker": "w", "engine": "offline"]),
            .event("request.finished", ["output": ["text": "ok", "parts": []]]),
        ]
        let gateway = try FakeGateway(steps)
        let result = try await ask(gateway, ["x"], environment: ["SKILLBUS_DEBUG": "1"])
        #expect(result.code == 0 && !result.output.contains("debug"))
        #expect(gateway.submitted?["explain"] == true)
        let lines = result.error.split(separator: "\n").filter { $0.hasPrefix("skillbus: debug: ") }.map {
            String($0.dropFirst("skillbus: debug: ".count))
        }
        #expect(
            lines == [
                "plan: chain, 2 steps", "score 0.913 summarize: name; example \u{241b}[2J", "score 0.1 chat",
                "s1 knowledge, arguments {}", "s2 summarize after s1, arguments {\"points\":3}",
                "s2 summarize starts on w (offline)", "s2 summarize thinks: hm",
                "s100 chat, called by another skill, starts on w (offline)",
            ]
        )
        #expect(try await ask(gateway, ["x"]).error.isEmpty)
    }

    @Test("--routing asks for a model's choice; --debug says who chose and why, and who was asked")
    func routing() async throws {
        let data: JSONValue = [
            "mode": "single", "steps": [["id": "s1", "skill": "chat", "after": [], "arguments": [:]]],
            "decision": ["by": "local", "reason": "no model"],
        ]
        let steps: [FakeGateway.Step] = [
            .event("job.started", step: "s100", skill: "agent", attempt: 1, ["worker": "w", "engine": "offline"]),
            .event("request.plan", data),
            .event("request.finished", ["output": ["text": "ok", "parts": []]]),
        ]
        let gateway = try FakeGateway(steps)
        let result = try await ask(gateway, ["--routing", "model", "--debug", "x"])
        #expect(result.code == 0 && gateway.submitted?["routing"] == "model")
        #expect(result.error.contains("s100 agent, asked which skill is meant, starts on w (offline)"))
        #expect(result.error.contains("chosen by local: no model"))
        #expect(try await ask(gateway, ["x"], environment: ["SKILLBUS_ROUTING": "model"]).code == 0)
        #expect(gateway.submitted?["routing"] == "model")
        #expect(try await ask(gateway, ["x"]).code == 0 && gateway.submitted?["routing"] == nil)
        let wrong = try await ask(gateway, ["--routing", "magic", "x"])
        #expect(wrong.code == 2 && wrong.error.contains("--routing must be local or model, not \"magic\""))
    }

    @Test(
        "What a person types",
        arguments: [
            ("a", "allow"), (" Yes ", "allow"), ("允许", "allow"), ("w", "always"), ("ALWAYS", "always"), ("d", "deny"),
            ("no", "deny"),
        ]
    )
    func choice(words: String, choice: String) {
        #expect(ApprovalPrompt.choice(words) == choice)
    }

    @Test("What means nothing is no answer", arguments: ["", "perhaps", "allow everything"])
    func noChoice(words: String) {
        #expect(ApprovalPrompt.choice(words) == nil)
    }
}
