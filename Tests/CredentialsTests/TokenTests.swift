import Glibc
import TestSupport
import Testing

@testable import Credentials

@Suite struct TokenTests {
    private func readList(_ file: String) -> String {
        refusal { () throws(CredentialError) in _ = try TokenList.read(file) }
    }

    @Test func aTokenIsKnownByItsHashAlone() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("state/tokens")
        let first = try TokenList.make(tenant: "anna", scopes: [.read, .ask], rate: 60, in: file)
        let second = try TokenList.make(tenant: "ben", scopes: [.read], rate: 1, in: file)
        #expect(mode(file) == 0o600)
        #expect(mode(folder.file("state")) == 0o700)
        let text = try GuardedFile.read(file, as: .secret)
        for (token, _) in [first, second] {
            let secret = try #require(token.split(separator: "_").last)
            #expect(secret.count == 64)
            #expect(!text.contains(secret))
        }
        let list = try TokenList.read(file)
        #expect(list.records == [first.record, second.record])
        #expect(list.record(of: first.token) == first.record)
        #expect(list.record(of: second.token)?.scopes == [.read])
        // One token's id with another's secret, and everything that is not quite one.
        let mixed = "skillbus_\(first.record.id)_\(second.token.split(separator: "_").last ?? "")"
        for wrong in [
            mixed, "", "skillbus__", "skillbus_\(first.record.id)_", String(first.token.dropLast()), first.token + "0",
            first.token.uppercased(), " " + first.token, "skillbus_\(first.record.id)",
            Hexadecimal.text(BearerToken.hash(first.token)),
        ] { #expect(list.record(of: wrong) == nil, "\(wrong)") }
        #expect(TokenList().record(of: first.token) == nil)
    }

    @Test func whatIsRevokedIsNotKnown() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("tokens")
        let made = try TokenList.make(tenant: "anna", scopes: [.ask], rate: 60, in: file)
        try TokenList.revoke(made.record.id, in: file)
        // A list without tokens is a list: nobody gets in.
        #expect(try TokenList.read(file).record(of: made.token) == nil)
        let again = refusal { () throws(CredentialError) in try TokenList.revoke(made.record.id, in: file) }
        #expect(again.contains("no token"))
    }

    @Test func theHashIsSHA256() {
        // FIPS 180-2, appendix B.1.
        #expect(
            Hexadecimal.text(BearerToken.hash("abc"))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }

    @Test func aTenantHasANameAndATokenAScope() throws {
        let folder = try TemporaryFolder()
        for (tenant, scopes, rate) in [("", Set([Scope.ask]), 1), ("a b", [.ask], 1), ("a", [], 1), ("a", [.ask], 0)] {
            let said = refusal { () throws(CredentialError) in
                _ = try TokenList.make(tenant: tenant, scopes: scopes, rate: rate, in: folder.file("tokens"))
            }
            #expect(!said.isEmpty)
        }
        #expect(!TokenList.exists(folder.file("tokens")))
    }

    @Test func whatIsWrongWithAListNamesTheLineAndNotTheHash() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("tokens")
        let hash = String(repeating: "ab", count: 32)
        for line in [
            "x", "id \(hash) t read", "id \(hash.dropLast()) t read 1", "id \(hash) t/x read 1", "id \(hash) t write 1",
            "id \(hash) t read 0", "id \(hash) t read,,ask 1", "id \(hash) t read 1\nid \(hash) t read 1",
        ] {
            write("\(line)\n", to: file)
            let number = line.contains("\n") ? 2 : 1
            let said = readList(file)
            #expect(said.contains("line \(number)") && !said.contains("abab"), "\(line): \(said)")
        }
        write("id \(hash) t read 1\n", to: file, mode: 0o644)
        #expect(readList(file).contains("chmod 600"))
    }

    @Test func aClientsTokenFileHoldsOneTokenAndIsSecret() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("token")
        func read() -> String { refusal { () throws(CredentialError) in _ = try BearerToken.read(file) } }
        write("skillbus_a_b\n", to: file)
        #expect(try BearerToken.read(file) == "skillbus_a_b")
        write("one two\n", to: file)
        #expect(read().contains("one token") && !read().contains("two"))
        write("", to: file)
        #expect(read().contains("one token"))
        write("skillbus_a_b\n", to: file, mode: 0o640)
        #expect(read().contains("chmod 600"))
    }
}
