import Glibc
import TestSupport
import Testing

@testable import Credentials

func write(_ text: String, to path: String, mode: mode_t = 0o600) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    let bytes = Array(text.utf8)
    #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    #expect(chmod(path, mode) == 0)
}

func mode(_ path: String) -> mode_t {
    var information = stat()
    #expect(stat(path, &information) == 0)
    return information.st_mode & 0o7777
}

/// What an error says; empty when there is none.
func refusal(_ body: () throws(CredentialError) -> Void) -> String {
    do throws(CredentialError) {
        try body()
        return ""
    } catch { return error.description }
}

@Suite struct KeyTests {
    @Test func keysThatAreMadeCanBeReadAndBelongTogether() throws {
        let folder = try TemporaryFolder()
        let keys = KeyFolder(folder.file("keys"))
        #expect(!keys.hasKeys)
        let files = try keys.makeFirst()
        #expect(keys.hasKeys)
        for file in files { #expect(mode(file) == 0o600) }
        #expect(mode(keys.path) == 0o700)
        let router = try KeyFile.readRouter(keys.routerFile)
        let list = try AllowList.read(keys.listFile)
        #expect(list.entries.map(\.role) == [.gateway, .worker])
        for entry in list.entries {
            let key = try ClientKey.read(keys.file(entry.name))
            #expect(key.router == router.publicKey)
            #expect(key.pair.publicKey == entry.key)
        }
        #expect(Set(list.entries.map(\.key) + [router.publicKey]).count == 3)
        #expect(refusal { () throws(CredentialError) in _ = try keys.makeFirst() }.contains("there already"))
    }

    @Test func aKeyIsAddedAndTakenAway() throws {
        let folder = try TemporaryFolder()
        let keys = KeyFolder(folder.file("keys"))
        _ = try keys.makeFirst()
        let file = try keys.make("sum", as: .worker, skills: .only(["summarize", "keywords"]))
        #expect(mode(file) == 0o600)
        let entry = try #require(try AllowList.read(keys.listFile).entries.first { $0.name == "sum" })
        #expect(entry.skills.contains("summarize") && !entry.skills.contains("chat"))
        #expect(refusal { () throws(CredentialError) in _ = try keys.make("sum", as: .gateway) }.contains("already"))
        #expect(refusal { () throws(CredentialError) in _ = try keys.make("router", as: .gateway) }.contains("already"))
        for name in ["", "../x", ".hidden", "a b", "a/b", "ä"] {
            #expect(refusal { () throws(CredentialError) in _ = try keys.make(name, as: .gateway) }.contains("no name"))
        }
        try keys.remove("sum")
        #expect(access(file, F_OK) != 0)
        #expect(try AllowList.read(keys.listFile).entries.map(\.name) == ["gateway", "worker"])
        #expect(refusal { () throws(CredentialError) in try keys.remove("sum") }.contains("no key"))
    }

    @Test(arguments: [0o644, 0o640, 0o660, 0o604, 0o601])
    func aSecretThatOthersCanGetAtIsRefused(_ mode: Int) throws {
        let folder = try TemporaryFolder()
        let keys = KeyFolder(folder.path)
        _ = try keys.makeFirst()
        chmod(keys.file("worker"), mode_t(mode))
        chmod(keys.routerFile, mode_t(mode))
        let worker = refusal { () throws(CredentialError) in _ = try ClientKey.read(keys.file("worker")) }
        let router = refusal { () throws(CredentialError) in _ = try KeyFile.readRouter(keys.routerFile) }
        for words in [worker, router] { #expect(words.contains("chmod 600") && words.contains(String(mode, radix: 8))) }
    }

    @Test func aListThatOthersCanWriteIsRefused() throws {
        let folder = try TemporaryFolder()
        let keys = KeyFolder(folder.path)
        _ = try keys.makeFirst()
        chmod(keys.listFile, 0o644)
        #expect(try AllowList.read(keys.listFile).entries.count == 2)
        for mode: mode_t in [0o664, 0o646] {
            chmod(keys.listFile, mode)
            #expect(refusal { () throws(CredentialError) in _ = try AllowList.read(keys.listFile) }.contains("chmod"))
        }
    }

    @Test func whatIsWrongWithAKeyFileIsSaidWithoutTheKey() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("x.key")
        let secret = String(repeating: "ab", count: 32)
        let other = String(repeating: "cd", count: 32)
        for (text, words) in [
            ("", "has no line \"secret"), ("secret \(secret)\n", "router"), ("secret \(secret.dropLast())\n", "line 1"),
            ("# x\nsecret \(secret) \(secret)\n", "line 2"),
            ("public \(other)\nsecret \(secret)\nrouter \(other)\n", "not that"),
            ("secret \(secret.dropLast())g\n", "line 1"), ("key \(secret)\n", "line 1"),
        ] {
            write(text, to: file)
            let said = refusal { () throws(CredentialError) in _ = try ClientKey.read(file) }
            #expect(said.contains(words), "\(text): \(said)")
            #expect(!said.contains("abab"))
        }
        #expect(!refusal { () throws(CredentialError) in _ = try ClientKey.read(folder.path) }.isEmpty)
        #expect(!refusal { () throws(CredentialError) in _ = try ClientKey.read("/no/such/file") }.isEmpty)
    }

    @Test func aSecretKeyDescribesNothingOfItself() throws {
        let pair = try KeyPair.make()
        let digits = pair.secretKey.withBytes { Hexadecimal.text($0) }
        #expect(digits.count == 64)
        #expect(!"\(pair) \(pair.secretKey) \(String(reflecting: pair))".contains(digits))
    }

    @Test func whatIsWrongWithAListNamesTheLine() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("allowed")
        let key = String(repeating: "ab", count: 32)
        for line in [
            "admin \(key) x", "gateway \(key)", "gateway \(key) x *", "gateway short x", "worker \(key) x",
            "worker \(key) x a,,b", "worker \(key) ../x *", "worker \(key) x a;b",
            "gateway \(key) ok\ngateway \(key) x",
        ] {
            write("# list\n\n\(line)\n", to: file)
            let number = line.contains("\n") ? 4 : 3
            #expect(
                refusal { () throws(CredentialError) in _ = try AllowList.read(file) }.contains("line \(number)"),
                "\(line)"
            )
        }
    }
}
