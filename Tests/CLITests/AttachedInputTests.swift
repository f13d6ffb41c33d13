import TestSupport
import Testing
import Wire

/// What is on standard input beside a text.
@Suite(.timeLimit(.minutes(1)))
struct AttachedInputTests {
    @Test("What a pipe has is attached to the text")
    func pipe() async throws {
        let gateway = try FakeGateway(single("a", ["ok"]))
        #expect(try await ask(gateway, ["summarise this"], input: "long log\n").code == 0)
        #expect(gateway.submitted?["text"] == "summarise this")
        let attachments = gateway.submitted?["attachments"]?.array ?? []
        #expect(attachments.map { $0["name"] } == ["stdin"])
        #expect(attachments.map { $0["mediaType"] } == ["text/plain"])
        #expect(attachments.first?["data"] == "bG9uZyBsb2cK")
    }

    @Test(
        "A file is attached, and so is what stands behind a dash; nothing else is",
        arguments: [
            ("x < \"$1\"", ["stdin"]), ("--file - x < \"$1\"", ["stdin"]), ("x < /dev/null", []),
            ("--file \"$1\" x < \"$1\"", ["a.txt"]), ("- < \"$1\"", []), ("< \"$1\"", []), (": | \"$0\" ask x", []),
        ]
    )
    func others(_ words: String, _ names: [String]) async throws {
        let folder = try TemporaryFolder()
        try folder.write("a.txt", "text")
        let gateway = try FakeGateway(single("a", ["ok"]))
        let script = words.hasPrefix(":") ? words : "\"$0\" ask \(words)"
        let result = try await run(
            "/bin/sh",
            ["-c", script, skillbus, folder.file("a.txt")],
            environment: ["SKILLBUS_URL": gateway.url]
        )
        #expect(result == (0, "ok", ""))
        let attachments = gateway.submitted?["attachments"]?.array ?? []
        #expect(attachments.map { $0["name"]?.string } == names)
    }

    @Test("On a terminal it says what it waits for, while the pipe is open")
    func openPipe() async throws {
        let gateway = try FakeGateway(single("a", ["ok"]))
        let child = try ChildProcess(
            "/usr/bin/script",
            ["-qefc", "sleep 2 | \(skillbus) ask x", "/dev/null"],
            environment: ["SKILLBUS_URL": gateway.url, "TERM": "xterm"]
        )
        #expect(
            await child.line { $0.contains("reading standard input to its end; to leave it out: < /dev/null") } != nil
        )
        #expect(await child.exitCode() == 0)
        #expect(child.lines.contains { $0.hasPrefix("ok") })
    }
}
