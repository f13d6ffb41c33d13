import TestSupport
import Testing
import Wire

@testable import CLI

/// `skillbus resume`.
@Suite(.timeLimit(.minutes(1)))
struct ResumeTests {
    private let summary = #"{"text":"- tide mills\n- \u001b[31mred","requests":7,"time":"2026-11-30T08:00:00.000Z"}"#

    private func resume(_ gateway: FakeGateway, _ words: [String] = []) async throws -> (output: String, error: String)
    {
        let environment = ["SKILLBUS_URL": gateway.url]
        let asked = try await run(
            skillbus,
            ["ask", "hello", "--session", FakeGateway.session],
            environment: environment
        )
        #expect(asked.code == 0)
        let result = try await run(skillbus, ["resume", FakeGateway.session] + words, environment: environment)
        #expect(result.code == 0)
        return (result.output, result.error)
    }

    @Test("A session with a summary says so, and what is in it")
    func summarised() async throws {
        let shown = try await resume(try FakeGateway(single("chat", ["hi"]), summary: summary))
        #expect(shown.output.contains("> hello") && shown.output.contains("hi"))
        #expect(shown.error.contains("its first 7 requests go along with new ones in short (2026-11-30 08:00:00):"))
        #expect(shown.error.contains("- tide mills"))
        // What a skill wrote does nothing to the terminal.
        #expect(!shown.error.contains("\u{1B}[31m"))
    }

    @Test("Where there is none, where events are wanted, and in the middle, nothing is said of it")
    func notSummarised() async throws {
        #expect(try await resume(try FakeGateway(single("chat", ["hi"]))).error == "")
        let gateway = try FakeGateway(single("chat", ["hi"]), summary: summary)
        #expect(try await resume(gateway, ["--json"]).error == "")
        #expect(try await resume(gateway, ["--after", "2"]).error == "")
    }
}
