import TestSupport
import Testing
import Wire

/// `skillbus route --eval`: labelled lines against manifests, without a gateway or with what it has registered.
@Suite(.timeLimit(.minutes(1)))
struct RouteTests {
    private static let manifests = """
        {"skills": [
          {"id": "summarize", "description": "Summarise a text. 总结文章。", "examples": ["summarize this", "总结这篇文章"],
           "workers": [], "queued": 0},
          {"id": "calculator", "description": "Calculate arithmetic. 计算。", "examples": ["what is 2 + 3"],
           "workers": [], "queued": 0}
        ]}
        """
    private static let lines = """
        {"utterance": "summarize this", "expected": {"mode": "single", "skills": ["summarize"]}, "lang": "en"}
        {"utterance": "what is 2 + 3", "expected": {"mode": "single", "skills": ["summarize"]}, "lang": "en", "tags": ["odd"]}
        {"utterance": "总结这篇文章", "expected": {"mode": "single", "skills": ["summarize"]}, "lang": "zh"}
        """

    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write("cases.jsonl", RouteTests.lines)
        try folder.write("manifests.json", RouteTests.manifests)
        return folder
    }

    @Test("Shares by mode, language and tag, from a file of manifests")
    func table() async throws {
        let folder = try folder()
        let result = try await run(
            skillbus,
            ["route", "--eval", folder.file("cases.jsonl"), "--manifests", folder.file("manifests.json")]
        )
        #expect(result.code == 0, "\(result.error)")
        let rows = result.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(rows.contains(["all", "2", "3", "0.667"]))
        #expect(rows.contains(["mode", "single", "2", "3", "0.667"]))
        #expect(rows.contains(["language", "en", "1", "2", "0.500"]))
        #expect(rows.contains(["language", "zh", "1", "1", "1.000"]))
        #expect(rows.contains(["tag", "odd", "0", "1", "0.000"]))
        #expect(rows.contains(["summarize", "0.800"]))
    }

    @Test("As JSON, against what is registered")
    func json() async throws {
        let folder = try folder()
        let server = try ScriptedServer { _, connection in connection.answer(200, RouteTests.manifests) }
        let result = try await run(
            skillbus,
            ["route", "--eval", folder.file("cases.jsonl"), "--json"],
            environment: ["SKILLBUS_URL": server.url]
        )
        #expect(result.code == 0, "\(result.error)")
        let json = try JSONBody.decode(JSONValue.self, from: result.output.utf8)
        #expect(json["cases"] == 3)
        #expect((json["exact_match"]?.number).map { abs($0 - 2.0 / 3) < 1e-9 } == true)
        #expect(json["per_skill"]?["calculator"]?.number == 0)
        #expect(json["per_language"]?["zh"]?.number == 1)
        #expect(json["p50_us"]?.number ?? 0 > 0)
        #expect(server.requests.map(\.path) == ["/v1/skills"])
    }

    @Test("Thresholds that were fitted count when measured again")
    func fitted() async throws {
        let folder = try folder()
        let files = ["--manifests", folder.file("manifests.json")]
        let fit = try await run(skillbus, ["route", "--fit", folder.file("cases.jsonl")] + files)
        #expect(fit.code == 0, "\(fit.error)")
        // No line says that no skill serves it.
        #expect(try JSONBody.decode(JSONValue.self, from: fit.output.utf8)["least"] == 0)
        try folder.write("thresholds.json", #"{"least": 2, "skills": {}}"#)
        let result = try await run(
            skillbus,
            ["route", "--eval", folder.file("cases.jsonl"), "--thresholds", folder.file("thresholds.json"), "--json"]
                + files
        )
        #expect(result.code == 0, "\(result.error)")
        let json = try JSONBody.decode(JSONValue.self, from: result.output.utf8)
        #expect(json["exact_match"]?.number == 0)
    }

    @Test("What is wrong with the files is named, and the line")
    func wrong() async throws {
        let folder = try folder()
        try folder.write("bad.jsonl", RouteTests.lines + "\n{\"utterance\": \"x\"}\n")
        try folder.write("empty.jsonl", "\n")
        for (words, expected) in [
            (["--eval", folder.file("bad.jsonl")], "line 4"),
            (["--eval", folder.file("empty.jsonl")], "no labelled line"),
            (["--eval", "/nonexistent"], "cannot read /nonexistent"), (["--eval", "x", "text"], "not both"),
            (["--manifests", "x", "text"], "--manifests goes with --eval"),
            (["--thresholds", "x", "text"], "--thresholds goes with --eval"), (["--fit", "x", "text"], "not both"),
            (["--fit", "x", "--eval", "y"], "not both"), (["--fit", "/nonexistent"], "cannot read /nonexistent"),
            ([], "needs TEXT..., --eval FILE or --fit FILE"),
            (
                ["--eval", folder.file("cases.jsonl"), "--manifests", folder.file("manifests.json")]
                    + ["--thresholds", folder.file("bad.jsonl")], "--thresholds"
            ),
            (
                ["--eval", folder.file("cases.jsonl"), "--manifests", folder.file("cases.jsonl")], "has no manifests"
            ),
        ] {
            let result = try await run(skillbus, ["route"] + words)
            #expect(result.code == 2)
            #expect(result.error.contains(expected), "\(result.error)")
        }
    }
}
