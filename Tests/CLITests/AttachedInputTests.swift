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

    @Test("A pipe that is silent and stays open is not waited for for ever")
    func openPipe() async throws {
        let gateway = try FakeGateway(single("a", ["ok"]))
        let folder = try TemporaryFolder()
        let result = try await run(
            "/bin/sh",
            [
                "-c",
                """
                mkfifo "$1" && { sleep 60 > "$1" & } && "$0" ask x < "$1"; code=$?
                kill $!
                exit $code
                """,
                skillbus, folder.file("pipe"),
            ],
            environment: ["SKILLBUS_URL": gateway.url]
        )
        #expect(result.0 == 0 && result.1 == "ok")
        #expect(result.2.contains("nothing came on standard input within 3 s"))
        #expect(gateway.submitted?["attachments"]?.array?.isEmpty ?? true)
    }
}
