import Credentials
import Glibc
import TestSupport
import Testing
import Wire

/// `skillbus keys` and `skillbus tokens`.
@Suite(.timeLimit(.minutes(1)))
struct CredentialCommandTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func skillbus(_ words: String...) async throws -> (code: Int32, output: String, error: String) {
        try await run(CLITests.skillbus, words, environment: ["SKILLBUS_STATE": folder.path, "SKILLBUS_TOKENS": nil])
    }

    @Test("Keys are made, listed and removed, and no secret is shown")
    func keys() async throws {
        let made = try await skillbus("keys", "new")
        #expect(made.code == 0)
        #expect(made.output.split(separator: "\n").count == 4)
        #expect(made.output.hasPrefix("\(folder.path)/keys/router.key"))
        #expect(try await skillbus("keys", "new").code == 1)
        #expect(try await skillbus("keys", "new", "sum", "--skills", "summarize,keywords").code == 0)
        #expect(try await skillbus("keys", "new", "second", "--role", "gateway").code == 0)
        let list = try await skillbus("keys", "list", "--json")
        let entries = try #require(try JSONBody.decode(JSONValue.self, from: list.output.utf8).array)
        #expect(entries.compactMap { $0["name"]?.string } == ["gateway", "worker", "sum", "second"])
        #expect(entries[2]["skills"]?.string == "summarize,keywords")
        let table = try await skillbus("keys", "list").output
        for name in ["router", "gateway", "worker", "sum", "second"] {
            let file = try readFile("\(folder.path)/keys/\(name).key")
            let line = try #require(file.split(separator: "\n").first { $0.hasPrefix("secret ") })
            for shown in [made.output, list.output, table] { #expect(!shown.contains(line.dropFirst(7))) }
        }
        let removed = try await skillbus("keys", "remove", "sum")
        #expect(removed.code == 0 && removed.error.contains("SIGHUP"))
        #expect(access("\(folder.path)/keys/sum.key", F_OK) != 0)
        #expect(try await skillbus("keys", "remove", "sum").code == 1)
    }

    @Test("A token is shown once, listed by its id, and revoked by it")
    func tokens() async throws {
        let made = try await skillbus("tokens", "new", "--tenant", "anna", "--scope", "read", "--rate", "7")
        #expect(made.code == 0 && made.error.contains("start the gateway"))
        let id = try #require(BearerTokenParts(made.output)?.id)
        let list = try await skillbus("tokens", "list", "--json")
        let entry = try #require(try JSONBody.decode(JSONValue.self, from: list.output.utf8).array?.first)
        #expect(entry == ["id": .string(id), "tenant": "anna", "scopes": "read", "rate": 7])
        #expect(try await skillbus("tokens", "list").output.contains(id))
        let file = folder.file("anna.token")
        let second = try await skillbus("tokens", "new", "--out", file)
        #expect(second.output.isEmpty && second.error.contains("SIGHUP"))
        #expect(BearerTokenParts(try readFile(file)) != nil)
        #expect(try await skillbus("tokens", "revoke", id).code == 0)
        #expect(try await !skillbus("tokens", "list").output.contains(id))
        #expect(try await skillbus("tokens", "revoke", id).code == 1)
        #expect(try await skillbus("tokens", "new", "--tenant", "a b").code == 1)
        chmod("\(folder.path)/tokens", 0o644)
        #expect(try await skillbus("tokens", "list").error.contains("chmod 600"))
    }

    private struct BearerTokenParts {
        let id: String
        init?(_ text: String) {
            let parts = text.filter { $0 != "\n" }.split(separator: "_")
            guard parts.count == 3, parts[0] == "skillbus", parts[2].count == 64 else { return nil }
            id = String(parts[1])
        }
    }
}
