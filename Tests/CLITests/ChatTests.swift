import Glibc
import TestSupport
import Testing
import Wire

/// `skillbus chat` with lines from a pipe, and at a terminal.
@Suite(.timeLimit(.minutes(1)))
struct ChatTests {
    @Test("Lines from a pipe are requests of one session, one after the other")
    func pipe() async throws {
        let gateway = try FakeGateway(single("chat", ["hi"]))
        let result = try await run(
            skillbus,
            ["chat"],
            environment: ["SKILLBUS_URL": gateway.url],
            input: "hello\n\n@calculator 1 + 1\n/session\n/nonsense\n/quit\nnot read\n"
        )
        #expect(result.output == "hi\nhi\n\(FakeGateway.session)")
        #expect(result.error == "skillbus: no command /nonsense; /help lists them")
        #expect(result.code == 2)
        #expect(gateway.submitted?["skill"] == "calculator")
        #expect(gateway.requests.filter { $0.path == "/v1/sessions" }.count == 1)
    }

    /// `script` of util-linux gives the program a terminal.
    private func terminal(_ gateway: FakeGateway, _ state: String) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/script",
            ["-qefc", "\(skillbus) chat --state \(state)", "/dev/null"],
            environment: ["SKILLBUS_URL": gateway.url, "TERM": "xterm", "LC_ALL": "C.UTF-8"]
        )
    }

    @Test("At a terminal: history is kept, Ctrl-C cancels what runs, a second one leaves")
    func interrupts() async throws {
        let folder = try TemporaryFolder()
        let gateway = try FakeGateway([plan([("a", [])])] + started("s1", "a", ["begun\n"]) + [.untilCancelled])
        let chat = try terminal(gateway, folder.path)
        #expect(await chat.line { $0.contains("Ctrl-D leaves") } != nil)
        chat.write("你好\n")
        #expect(await chat.line { $0.contains("begun") } != nil)
        chat.write("\u{3}")
        #expect(await eventually { gateway.cancelled == ["r1"] })
        #expect(await chat.line { $0.contains("cancelled") } != nil)
        #expect(try readFile(folder.file("chat-history")).contains("你好"))
        // The prompt is back: the next Ctrl-C warns, the one after it leaves.
        chat.write("/session\n")
        #expect(await chat.line { $0 == FakeGateway.session || $0 == FakeGateway.session + "\r" } != nil)
        chat.write("\u{3}")
        #expect(await chat.line { $0.contains("Ctrl-C again, or Ctrl-D, leaves.") } != nil)
        chat.write("\u{3}")
        #expect(await chat.exitCode() == 130)
    }

    @Test("At a terminal: Ctrl-D after a Ctrl-C leaves, and what was typed before it stays")
    func endsAfterInterrupt() async throws {
        let folder = try TemporaryFolder()
        let gateway = try FakeGateway(single("chat", ["hi\n"]))
        let chat = try terminal(gateway, folder.path)
        #expect(await chat.line { $0.contains("Ctrl-D leaves") } != nil)
        chat.write("/sess")
        #expect(await eventually { chat.pending.contains("/sess") })
        chat.write("\u{3}")
        #expect(await chat.line { $0.contains("Ctrl-C again, or Ctrl-D, leaves.") } != nil)
        chat.write("ion\n")
        #expect(await chat.line { $0.hasPrefix(FakeGateway.session) } != nil)
        chat.write("\u{3}")
        #expect(await eventually { chat.lines.count { $0.contains("Ctrl-C again, or Ctrl-D, leaves.") } == 2 })
        chat.write("\u{4}")
        #expect(await chat.exitCode() == 0)
    }
}
