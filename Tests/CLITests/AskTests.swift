import Glibc
import TestSupport
import Testing
import Wire

let skillbus = "\(products)/skillbus"

func ask(
    _ gateway: FakeGateway,
    _ arguments: [String],
    input: String? = nil,
    environment: [String: String?] = [:]
) async throws -> (code: Int32, output: String, error: String) {
    var variables: [String: String?] = ["SKILLBUS_URL": gateway.url, "SKILLBUS_TOKEN": nil]
    variables.merge(environment) { $1 }
    return try await run(skillbus, ["ask"] + arguments, environment: variables, input: input)
}

/// `skillbus ask`, as a process, against a gateway with a script.
@Suite(.timeLimit(.minutes(1)))
struct AskTests {
    @Test("The answer alone goes into a pipe")
    func answer() async throws {
        let gateway = try FakeGateway(single("calculator", ["0.", "3"]))
        let result = try await ask(gateway, ["what is", "0.1 + 0.2"])
        #expect(result == (0, "0.3", ""))
        #expect(gateway.submitted?["text"] == "what is 0.1 + 0.2")
    }

    @Test("The text comes from standard input without operands, or with -", arguments: [[], ["-"]])
    func standardInput(_ arguments: [String]) async throws {
        let gateway = try FakeGateway(single("chat", ["ok"]))
        #expect(try await ask(gateway, arguments, input: "你好\n").code == 0)
        #expect(gateway.submitted?["text"] == "你好\n")
    }

    @Test("JSON lines are the events of the request, each once, over a broken connection")
    func jsonLines() async throws {
        let gateway = try FakeGateway(
            [plan([("a", [])])] + started("s1", "a", ["one"]) + [.breakConnection]
                + [.event("job.delta", step: "s1", skill: "a", attempt: 1, ["text": "two\u{9b}"]), .breakConnection]
                + [.event("request.finished", ["output": ["text": "onetwo", "parts": []]])]
        )
        let result = try await ask(gateway, ["--json", "x"])
        #expect(result.code == 0)
        let events = try result.output.split(separator: "\n").map {
            try JSONBody.decode(SessionEvent.self, from: $0.utf8)
        }
        #expect(
            events.map(\.type) == [
                "request.accepted", "request.plan", "job.started", "job.delta", "job.delta", "request.finished",
            ]
        )
        #expect(events.map(\.seq) == [1, 2, 3, 4, 5, 6])
        #expect(events[4].data["text"] == "two\u{9b}")
        #expect(!result.output.unicodeScalars.contains("\u{9b}"))
    }

    @Test("Two skills at the same time are written one after the other, in plan order")
    func parallel() async throws {
        let gateway = try FakeGateway(
            [plan([("summarize", []), ("keywords", [])])] + started("s1", "summarize", ["sum"])
                + job("s2", "keywords", ["key"])
                + [.event("job.delta", step: "s1", skill: "summarize", attempt: 1, ["text": "mary"])]
                + [
                    .event(
                        "job.finished",
                        step: "s1",
                        skill: "summarize",
                        attempt: 1,
                        ["output": ["text": "summary", "parts": []], "engine": "offline", "milliseconds": 3]
                    ), .event("request.finished", ["output": ["text": "summary\n\nkey", "parts": []]]),
                ]
        )
        let result = try await ask(gateway, ["x"])
        #expect(result == (0, "summary\n\nkey", ""))
    }

    @Test("A lost attempt's text is not written twice")
    func retrying() async throws {
        let gateway = try FakeGateway(
            [plan([("a", [])])] + started("s1", "a", ["The ans"])
                + [.event("job.retrying", step: "s1", skill: "a", attempt: 1, ["reason": "worker lost", "attempt": 2])]
                + job("s1", "a", ["The ", "answer"], attempt: 2)
                + [.event("request.finished", ["output": ["text": "The answer", "parts": []]])]
        )
        let result = try await ask(gateway, ["x"])
        #expect(result.code == 0)
        #expect(result.output == "The answer")
        #expect(result.error.contains("a: worker lost; trying again"))
    }

    @Test("A router that takes a job over counts attempts from 1 again: the whole answer is there")
    func takenOver() async throws {
        let gateway = try FakeGateway(
            [plan([("a", [])])] + started("s1", "a", ["The ans"], attempt: 2) + job("s1", "a", ["The answer"])
                + [.event("request.finished", ["output": ["text": "The answer", "parts": []]])]
        )
        #expect(try await ask(gateway, ["x"]) == (0, "The answer", ""))
    }

    @Test("An answer that cannot be read is no success")
    func unreadable() async throws {
        let gateway = try FakeGateway(
            [plan([("a", [])])] + started("s1", "a", ["begun"]) + [.event("request.finished", ["output": 1])]
        )
        let result = try await ask(gateway, ["x"])
        #expect(result.code == 1)
        #expect(result.error.contains("cannot read it"))
    }

    @Test("A failed request: its words on standard error, code 1")
    func failed() async throws {
        let error: JSONValue = [
            "error": ["code": "unknown_skill", "message": "No skill \"frob\".", "hint": "See skillbus skills."]
        ]
        let gateway = try FakeGateway([.event("request.failed", error)])
        let result = try await ask(gateway, ["--skill", "frob", "x"])
        #expect(result.code == 1)
        #expect(result.output == "")
        #expect(result.error == "skillbus: No skill \"frob\". (unknown_skill)\nSee skillbus skills.")
        #expect(gateway.submitted?["skill"] == "frob")
    }

    @Test("After --timeout the request is cancelled, and the code is 124")
    func timeout() async throws {
        let gateway = try FakeGateway([plan([("a", [])])] + started("s1", "a", ["begun"]) + [.untilCancelled])
        let result = try await ask(gateway, ["--timeout", "2", "x"])
        #expect(result.code == 124)
        #expect(result.output == "begun")
        #expect(result.error.contains("no answer within 2.0 s: the request has been cancelled"))
        #expect(gateway.cancelled == ["r1"])
    }

    @Test("--timeout counts from the start: also while no session is made, and no request taken", arguments: [2, 4])
    func timeoutFromTheStart(_ parts: Int) async throws {
        // Answers nothing to a path of so many parts.
        let server = try ScriptedServer { request, connection in
            if request.method == "POST", request.path.split(separator: "/").count != parts {
                connection.answer(201, #"{"id":"\#(FakeGateway.session)"}"#)
            } else {
                connection.waitForClose()
            }
        }
        let result = try await run(
            skillbus,
            ["ask", "--timeout", "0.3", "x"],
            environment: ["SKILLBUS_URL": server.url, "SKILLBUS_TOKEN": nil]
        )
        #expect(result.code == 124)
        #expect(result.error.contains("no answer within 0.3 s"), "\(result.error)")
    }

    @Test("Output that cannot be written is a failure, with the reason")
    func fullDisk() async throws {
        let gateway = try FakeGateway(single("a", ["ok"]))
        for command in ["ask x", "skills --help", "version"] {
            let result = try await run(
                "/bin/sh",
                ["-c", "\"$0\" \(command) > /dev/full", skillbus],
                environment: ["SKILLBUS_URL": gateway.url]
            )
            #expect(result.code == 1)
            #expect(result.error == "skillbus: cannot write to standard output: No space left on device")
        }
    }

    @Test("Wrong arguments are told with the names of the skill's manifest")
    func argumentNames() async throws {
        let server = try ScriptedServer { _, connection in
            let schema = #"{"type":"object","properties":{"points":{},"language":{}}}"#
            connection.answer(
                200,
                #"{"skills":[{"id":"summarize","description":"d","inputSchema":\#(schema),"workers":[],"queued":0}]}"#
            )
        }
        let result = try await run(
            skillbus,
            ["ask", "--skill", "summarize", "--arguments", "{", "x"],
            environment: ["SKILLBUS_URL": server.url]
        )
        #expect(result.code == 2)
        #expect(result.error.contains("it must be like '{\"language\": ...}'; summarize takes language, points"))
    }

    @Test("skills -v lists the examples of each skill")
    func examples() async throws {
        let server = try ScriptedServer { _, connection in
            connection.answer(
                200,
                #"{"skills":[{"id":"shout","description":"d","examples":["shout this","大声\u001b"],"workers":[],"queued":0}]}"#
            )
        }
        let result = try await run(skillbus, ["skills", "-v"], environment: ["SKILLBUS_URL": server.url])
        #expect(result.code == 0)
        #expect(result.output.contains("\nshout, for example:\n  shout this\n  大声"), "\(result.output)")
        #expect(!result.output.contains("\u{1B}"))
    }

    @Test("Ctrl-C cancels the request, and the code is 130", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        let gateway = try FakeGateway([plan([("a", [])])] + started("s1", "a", ["begun\n"]) + [.untilCancelled])
        let child = try ChildProcess(skillbus, ["ask", "x"], environment: ["SKILLBUS_URL": gateway.url])
        child.closeInput()
        #expect(await child.line { $0 == "begun" } != nil)
        child.send(signal)
        #expect(await child.exitCode() == 130)
        #expect(gateway.cancelled == ["r1"])
    }

    @Test("Somebody else's cancel is a failure")
    func cancelled() async throws {
        let gateway = try FakeGateway([.event("request.cancelled", ["reason": "interrupted by another request"])])
        let result = try await ask(gateway, ["x"])
        #expect(result.code == 1)
        #expect(result.error.contains("interrupted by another request"))
    }

    @Test("A reader that goes away ends it quietly")
    func brokenPipe() async throws {
        let lines = (0..<2000).map { "line \($0)\n" }
        let gateway = try FakeGateway(single("a", lines))
        let result = try await run(
            "/bin/bash",
            ["-c", "\"$0\" ask x | head -1; echo ${PIPESTATUS[0]}", skillbus],
            environment: ["SKILLBUS_URL": gateway.url]
        )
        #expect(result.output == "line 0\n0")
        #expect(result.error == "")
    }

    @Test("An existing session goes on after its last event")
    func session() async throws {
        let gateway = try FakeGateway(single("chat", ["hi"]))
        #expect(try await ask(gateway, ["one"]).output == "hi")
        let second = try await ask(gateway, ["--session", FakeGateway.session, "--json", "two"])
        #expect(second.code == 0)
        #expect(second.output.contains("\"request\":\"r2\""))
        #expect(!second.output.contains("\"request\":\"r1\""))
        let unknown = try await ask(gateway, ["--session", "nope", "x"])
        #expect(unknown.code == 1)
        #expect(unknown.error == "skillbus: there is no such session: `skillbus sessions` lists those that there are")
    }

    @Test("Files become attachments with their media type")
    func files() async throws {
        let folder = try TemporaryFolder()
        try folder.write("a.md", "# 你好")
        try folder.write("noextension", "plain")
        let gateway = try FakeGateway(single("a", ["ok"]))
        let result = try await ask(
            gateway,
            ["--file", folder.file("a.md"), "-f", folder.file("noextension"), "--arguments", #"{"n": 3}"#, "x"]
        )
        #expect(result.code == 0)
        let attachments = gateway.submitted?["attachments"]?.array ?? []
        #expect(attachments.map { $0["name"] } == ["a.md", "noextension"])
        #expect(attachments.map { $0["mediaType"] } == ["text/markdown", "text/plain"])
        #expect(attachments.first?["data"] == "IyDkvaDlpb0=")
        #expect(gateway.submitted?["arguments"] == ["n": 3])
    }

    @Test("--no-wait prints the ids and leaves")
    func noWait() async throws {
        let gateway = try FakeGateway([.untilCancelled])
        let result = try await ask(gateway, ["--no-wait", "x"])
        #expect(result == (0, "\(FakeGateway.session) r1", ""))
        #expect(gateway.cancelled == [])
    }

    @Test("A proxy of the environment is not asked for what is on this host")
    func proxy() async throws {
        let gateway = try FakeGateway(single("a", ["ok"]))
        let proxy = "http://127.0.0.1:1"
        let result = try await ask(gateway, ["x"], environment: ["http_proxy": proxy, "ALL_PROXY": proxy])
        #expect(result == (0, "ok", ""))
    }
}
