import TestSupport
import Testing

/// Standard streams that are closed.
@Suite(.timeLimit(.minutes(1)))
struct StandardStreamTests {
    private func shell(_ script: String, _ gateway: FakeGateway) async throws -> (
        code: Int32, output: String, error: String
    ) {
        try await run("/bin/sh", ["-c", script, skillbus], environment: ["SKILLBUS_URL": gateway.url])
    }

    @Test("Closed streams are empty, or cannot be written to; nothing hangs")
    func closed() async throws {
        let gateway = try FakeGateway(single("a", ["ok"]))
        let noInput = try await shell("\"$0\" ask <&-", gateway)
        #expect(noInput.code == 2)
        #expect(noInput.error == "skillbus: the text is empty: say what you want")
        #expect(try await shell("\"$0\" ask x <&-", gateway) == (0, "ok", ""))
        #expect(try await shell("\"$0\" ask x 2>&-", gateway) == (0, "ok", ""))
        let noOutput = try await shell("\"$0\" ask x >&-", gateway)
        #expect(noOutput.code == 1)
        #expect(noOutput.error.contains("cannot write to standard output"))
        #expect(try await shell("\"$0\" ask <&- >&- 2>&-", gateway).code == 2)
    }
}
