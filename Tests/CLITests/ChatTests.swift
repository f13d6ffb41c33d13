import Glibc
import TestSupport
import Testing
import Wire

@testable import CLI

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

    private func terminal(_ gateway: FakeGateway, _ state: String) throws -> ChildProcess {
        try ChildProcess(
            skillbus,
            ["chat", "--state", state],
            environment: ["SKILLBUS_URL": gateway.url, "TERM": "xterm", "LC_ALL": "C.UTF-8"],
            onTerminal: true
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
        // What is typed before the prompt is the kernel's, and Ctrl-C takes it away.
        #expect(await eventually { chat.pending.hasSuffix("› ") })
        chat.write("/sess")
        #expect(await eventually { chat.pending.hasSuffix("/sess") })
        chat.write("\u{3}")
        #expect(await chat.line { $0.contains("Ctrl-C again, or Ctrl-D, leaves.") } != nil)
        chat.write("ion\n")
        #expect(await chat.line { $0.hasPrefix(FakeGateway.session) } != nil)
        chat.write("\u{3}")
        #expect(await eventually { chat.lines.count { $0.contains("Ctrl-C again, or Ctrl-D, leaves.") } == 2 })
        #expect(await eventually { chat.pending.hasSuffix("› ") })
        chat.write("\u{4}")
        #expect(await chat.exitCode() == 0)
    }

    @Test("At a terminal: a long paste is refused as a whole, says the way out, and the prompt goes on")
    func longPaste() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "chat-history",
            "_HiStOrY_V2_\nshort\\040one\n\(String(repeating: "y", count: 6000))\n\(String(repeating: "灯", count: 5000))\n"
        )
        let gateway = try FakeGateway(single("chat", ["hi\n"]))
        let chat = try terminal(gateway, folder.path)
        #expect(await chat.line { $0.contains("Ctrl-D leaves") } != nil)
        for (index, character) in ["x", "灯", "é", "x"].enumerated() {
            // A line of the history comes first: none that is as long is there any more.
            chat.write("\u{10}\u{10}\u{10}\u{5}\u{15}")
            chat.write(String(repeating: character, count: 20_000) + "\n")
            let words = "the line had more than 1000 bytes: nothing was sent"
            #expect(await eventually { chat.lines.count { $0.contains(words) } == index + 1 })
            chat.write("/session\n")
            #expect(await eventually { chat.lines.count { $0.hasPrefix(FakeGateway.session) } == index + 1 })
        }
        #expect(gateway.submitted == nil)
        let history = try readFile(folder.file("chat-history"))
        #expect(history.contains("short\\040one\n/session\n"))
        #expect(history.split(separator: "\n").allSatisfy { $0.count <= 1000 })
        chat.write("hello\n")
        #expect(await eventually { gateway.submitted?["text"] == "hello" })
        // Also while the answer comes, when Ctrl-D would be lost.
        chat.write("/quit\n")
        #expect(await chat.exitCode() == 0)
    }

    @Test("A full line takes the keys that move and delete, and no more text")
    func gate() {
        var gate = LineGate()
        #expect(gate.judge(0x78, length: 999) == .pass)
        #expect(gate.judge(0x78, length: 1000) == .refuse(isFirst: true))
        #expect(gate.judge(0x706f, length: 1000) == .refuse(isFirst: false))
        #expect(gate.refused == 2)
        for key: UInt32 in [0x1b, 0x5b, 0x33, 0x7e, 0x1b, 0x62, 0x0d, 0x01] {
            #expect(gate.judge(key, length: 1000) == .pass)
        }
        // What Ctrl-Y brings back may be as long as the longest line.
        #expect(gate.judge(0x19, length: 1) == .ignore)
        #expect(gate.judge(0x19, length: 0) == .pass)
        #expect(gate.judge(0x09, length: 1000) == .refuse(isFirst: false))
        #expect(gate.judge(0x7f, length: 1000) == .pass)
        #expect(gate.refused == 0)
        #expect(LineGate.length(ofKept: Array("a\\040灯".utf8)) == 5)
    }
}
