import TestSupport
import Testing

/// Wrong command lines and bad input: a clear sentence, and the code for it.
@Suite(.timeLimit(.minutes(1)))
struct UsageTests {
    @Test(
        "Wrong usage is code 2, and the words name what is wrong",
        arguments: [
            (["aks", "x"], "unknown command \"aks\": did you mean \"ask\"? See skillbus --help"),
            (["frob"], "unknown command \"frob\": see skillbus --help"),
            (["ask", "--jsn", "x"], "unknown option --jsn: did you mean --json? See skillbus ask --help"),
            (["--url", "x", "ask"], "unknown option --url: options come after the command; see skillbus --help"),
            (["ask", "--timeout", "0", "x"], "--timeout must be a number of seconds above 0, not \"0\""),
            (["ask", "--timeout"], "option --timeout needs a value; see skillbus ask --help"),
            (["ask", "--json=1", "x"], "option --json takes no value; see skillbus ask --help"),
            (["ask", "  "], "the text is empty: say what you want"),
            (
                ["ask", "--arguments", "[1]", "x"],
                "--arguments is array and no object: it must be like '{\"NAME\": 3}'; `skillbus skills --json` has"
            ),
            (["ask", "--arguments", "{", "x"], "--arguments is not JSON: it must be like '{\"NAME\": 3}'"),
            (["ask", "--skill", "", "x"], "--skill is empty: name one, or leave the option out"),
            (["ask", "--session", " ", "x"], "--session is empty"),
            (["chat", "--skill", ""], "--skill is empty"),
            (["index", "/nonexistent"], "cannot read /nonexistent: No such file or directory"),
            (["index", "/etc/passwd"], "/etc/passwd is no folder: name the folder that it is in"),
            (["ask", "--file", "/nonexistent", "x"], "cannot read /nonexistent: No such file or directory"),
            (["ask", "--file", "/tmp", "x"], "cannot read /tmp: Is a directory"),
            (
                ["ask", "--when-busy", "wait", "x"],
                "--when-busy must be parallel, enqueue, reject or interrupt, not \"wait\""
            ),
            (["skills", "x"], "skillbus skills takes no operand; see skillbus skills --help"),
            (["keys"], "skillbus keys needs new [NAME] | list | remove NAME"),
            (["keys", "frob"], "skillbus keys takes new [NAME], list or remove NAME"),
            (["keys", "remove"], "skillbus keys remove needs a NAME"),
            (["keys", "new", "x"], "--skills ID,... says what the worker may register"),
            (["keys", "new", "x", "--skills", "a,,b"], "--skills ID,..."),
            (["keys", "new", "x", "--role", "router"], "--role must be gateway or worker"),
            (["keys", "new", "x", "--role", "gateway", "--skills", "a"], "--skills is for workers"),
            (["tokens", "frob"], "skillbus tokens takes new, list or revoke ID"),
            (["tokens", "revoke"], "skillbus tokens revoke needs an ID"),
            (["tokens", "new", "--scope", "write"], "--scope must be read or ask, not \"write\""),
            (["tokens", "new", "--rate", "0"], "--rate must be a whole number from 1 to 1000000"),
            (["ask", "--priority", "top", "x"], "--priority must be high, normal or low, not \"top\""),
            (["dead-letters", "frob"], "skillbus dead-letters takes list, show ID, retry ID or discard ID"),
            (["dead-letters", "show"], "skillbus dead-letters show needs an ID; see skillbus dead-letters list"),
            (["resume"], "skillbus resume needs SESSION; see skillbus resume --help"),
            (["cancel", "xyz"], "in session xyz, cancel which request? Name it, or say --all for all that run there"),
            (["log", "--limit", "many"], "--limit must be a whole number from 1 to 1000, not \"many\""),
            (["completion", "fish"], "completion is for bash and zsh, not \"fish\""),
            (["help", "versoin"], "unknown command \"versoin\": did you mean \"version\"?"),
            (["ask", "--url", "localhost:8080", "x"], "it must be like http://127.0.0.1:8080"),
        ]
    )
    func usage(_ words: [String], _ expected: String) async throws {
        let result = try await run(skillbus, words, environment: ["SKILLBUS_URL": nil])
        #expect(result.code == 2)
        #expect(result.error.contains(expected), "\(result.error)")
        #expect(result.output == "")
    }

    @Test("No command shows the help on standard error")
    func nothing() async throws {
        let result = try await run(skillbus)
        #expect(result.code == 2)
        #expect(result.error.contains("Usage: skillbus COMMAND"))
    }

    @Test("Text over the limit is refused, naming the limit and the way out")
    func tooLong() async throws {
        let folder = try TemporaryFolder()
        try folder.write("big", String(repeating: "word ", count: 300_000))
        let result = try await run("/bin/sh", ["-c", "\"$0\" ask - < \"$1\"", skillbus, folder.file("big")])
        #expect(result.code == 2)
        #expect(result.error.contains("more than 1048576 bytes, which is the limit"))
        #expect(result.error.contains("--file, up to 25 MB"))
    }

    @Test(
        "Text that is not UTF-8 is refused, on standard input, in a file and in an argument",
        arguments: [
            "printf 'a\\377b' | \"$0\" ask -", "printf 'a\\377b' > \"$1\"; \"$0\" ask --file \"$1\" x",
            "\"$0\" ask \"$(printf 'a\\377b')\"",
        ]
    )
    func notUTF8(_ script: String) async throws {
        let folder = try TemporaryFolder()
        let result = try await run("/bin/sh", ["-c", script, skillbus, folder.file("a.txt")])
        #expect(result.code == 2)
        #expect(result.error.contains("is not valid UTF-8"), "\(result.error)")
    }

    @Test("Files over the limit are refused, naming it")
    func tooLarge() async throws {
        let folder = try TemporaryFolder()
        let script = "head -c 27000000 /dev/zero > \"$1\"; \"$0\" ask --file \"$1\" x"
        let result = try await run("/bin/sh", ["-c", script, skillbus, folder.file("big.bin")])
        #expect(result.code == 2)
        #expect(result.error.contains("more than 26214400 bytes (25 MB)"))
    }

    @Test(
        "Without a gateway: code 3, and the words name the address and what to do",
        arguments: [
            ["ask", "x"], ["skills"], ["route", "x"], ["sessions"], ["resume", "s"], ["cancel", "s", "r"], ["log"],
            ["chat"],
        ]
    )
    func unreachable(_ words: [String]) async throws {
        let url = try ScriptedServer { _, _ in }.url
        let result = try await run(skillbus, words + ["--url", url])
        #expect(result.code == 3)
        #expect(
            result.error
                == "skillbus: no gateway at \(url) (Connection refused): start one with `skillbus up`, or set SKILLBUS_URL"
        )
    }

    @Test("The version", arguments: [["version"], ["--version"]])
    func version(_ words: [String]) async throws {
        let result = try await run(skillbus, words)
        #expect(result.code == 0)
        #expect(result.output.hasPrefix("skillbus "))
    }
}
