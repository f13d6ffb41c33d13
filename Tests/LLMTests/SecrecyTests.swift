import Glibc
import TestSupport
import Testing
import Wire

@testable import LLM
@testable import Transfers

/// Nothing leaves this host unless it may, and keys go nowhere but into their header.
@Suite(.timeLimit(.minutes(1))) struct SecrecyTests {
    @Test(arguments: [
        "http://192.0.2.1:9/v1", "https://api.example.com/v1", "http://localhost.example.com/v1",
        "http://[2001:db8::1]/v1", "http://0.0.0.0:1/v1", "http://127.0.0.1.example.com/v1",
    ])
    func aCallThatMayNotLeaveIsRefusedBeforeAnythingIsAsked(_ url: String) async throws {
        let client = LLMClient([try Endpoint(url: url, model: "m")])
        #expect(await failure { () throws(LLMError) in _ = try await client.say() }?.kind == .outside)
        #expect(await failure { () throws(LLMError) in _ = try await client.models() }?.kind == .outside)
        #expect(await failure { () throws(LLMError) in _ = try await client.embeddings(of: ["x"]) }?.kind == .outside)
    }

    /// Whatever is written in the address: what counts is where the socket would connect to.
    @Test(arguments: ["http://192.0.2.1:9/", "http://[2001:db8::1]:9/", "http://[::ffff:192.0.2.1]:9/"])
    func theSocketItselfIsRefused(_ url: String) async throws {
        var request = TransferRequest("GET", url)
        request.staysOnHost = true
        let exchange = Exchange(request)
        await #expect(throws: TransferError.outside) { _ = try await exchange.head() }
    }

    @Test func thisHostIsAllowed() async throws {
        let server = try ScriptedServer { _, connection in connection.answer(200, "{}") }
        for host in ["127.0.0.1", "localhost"] {
            var request = TransferRequest("GET", "http://\(host):\(server.port)/")
            request.staysOnHost = true
            #expect(try await Exchange(request).head().status == 200)
        }
    }

    @Test func anEndpointOutsideIsPassedOverForOneHere() async throws {
        let server = try ScriptedServer { _, connection in connection.stream(Reply.text("here"), Reply.stop, Reply.done)
        }
        let outside = try Endpoint(url: "http://192.0.2.1:9/v1", model: "far")
        #expect(try await LLMClient([outside, try server.endpoint()]).say().text == "here")
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let other = try ScriptedServer { _, connection in
            connection.stream(Reply.text("stolen"), Reply.stop, Reply.done)
        }
        let server = try ScriptedServer { _, connection in
            connection.answer(307, headers: ["Location: \(other.url)/v1/chat/completions"])
        }
        let client = LLMClient([try server.endpoint()])
        #expect(await failure { () throws(LLMError) in _ = try await client.say() }?.kind == .refused(307))
        #expect(other.requests.isEmpty)
    }

    @Test func aKeyIsSentAndShownNowhere() async throws {
        let secret = "sk-canary-0123456789"
        let key = try #require(APIKey("  \(secret)\n"))
        #expect("\(key)" == "•••" && String(reflecting: key) == "•••")
        let server = try ScriptedServer { request, connection in
            let echoed = request.headers["authorization"] ?? ""
            connection.answer(
                401,
                #"{"error":{"message":"Incorrect API key provided: \#(echoed)","code":"\#(secret)"}}"#
            )
        }
        let endpoint = try server.endpoint(key: key)
        let client = LLMClient([endpoint])
        let error = try #require(await failure { () throws(LLMError) in _ = try await client.say() })
        #expect(server.requests.first?.headers["authorization"] == "Bearer \(secret)")
        var shown = ""
        dump(error, to: &shown)
        dump(endpoint, to: &shown)
        dump(client, to: &shown)
        shown += "\(error) \(endpoint) \(client)" + String(reflecting: client)
        #expect(!shown.contains("canary"))
        #expect(error.message.contains("Incorrect API key"))
    }

    /// Whatever is cut off is cut off after the key has been made unreadable.
    @Test(arguments: 0..<4) func noPartOfAKeyIsLeftByACut(way: Int) async throws {
        let secret = "sk-canary-0123456789"
        let server = try ScriptedServer { _, connection in
            // A character of four bytes: more bytes of an error are looked at than are kept.
            let wide = String(repeating: "𝄞", count: 497)
            switch way {
            case 0: connection.answer(400, String(repeating: "x", count: 490) + secret)
            case 1: connection.answer(400, wide + secret)
            case 2: connection.answer(400, String(repeating: secret, count: 1000))
            default: connection.stream("event: error\ndata: \(String(repeating: "x", count: 490))\(secret)\n\n")
            }
        }
        let client = LLMClient([try server.endpoint(key: APIKey(secret))])
        let error = try #require(await failure { () throws(LLMError) in _ = try await client.say() })
        #expect(!error.message.contains("sk-") && error.message.contains("•"))
    }

    @Test func aKeyInTheNameOfTheModelIsHidden() async throws {
        let server = try ScriptedServer { _, connection in
            connection.stream(
                Reply.event(#"{"model":"m for sk-canary-1","choices":[{"index":0,"delta":{"content":"hi"}}]}"#),
                Reply.stop,
                Reply.done
            )
        }
        let answer = try await LLMClient([try server.endpoint(key: APIKey("sk-canary-1"))]).say()
        #expect(answer.model == "m for •••")
    }

    @Test func whatIsNoKeyIsNone() {
        for text in ["", "  \n", "a b", "a\r\nX-Evil: 1", "ключ"] { #expect(APIKey(text) == nil) }
    }

    @Test func theEnvironmentIsRead() throws {
        let folder = try TemporaryFolder()
        try folder.write("key", "file-secret\n")
        let file = folder.file("key")
        chmod(file, 0o600)
        #expect(try LLMClient.fromEnvironment([:]) == nil)
        let client = try #require(
            try LLMClient.fromEnvironment([
                "SKILLBUS_LLM_URL": "http://127.0.0.1:1/v1", "SKILLBUS_LLM_MODEL": "a", "SKILLBUS_LLM_KEY_FILE": file,
                "SKILLBUS_LLM_URL_2": "https://api.example.com/v1", "SKILLBUS_LLM_KEY_2": "other",
                "SKILLBUS_LLM_IDLE_SECONDS": "7.5", "SKILLBUS_LLM_CONCURRENCY": "3",
            ])
        )
        #expect(client.endpoints.map(\.model) == ["a", ""])
        #expect(client.endpoints.map(\.isLocal) == [true, false])
        #expect(client.endpoints[0].key?.bare == "file-secret" && client.endpoints[1].key?.bare == "other")
        #expect(client.timeouts.idle == 7.5 && client.concurrency == 3)
    }

    @Test(arguments: [
        ["SKILLBUS_LLM_URL": "ftp://x"], ["SKILLBUS_LLM_URL": "http://me:secret@host/v1"],
        ["SKILLBUS_LLM_URL": "http://127.0.0.1/v1", "SKILLBUS_LLM_KEY_FILE": "/does/not/exist"],
        ["SKILLBUS_LLM_URL": "http://127.0.0.1/v1", "SKILLBUS_LLM_KEY": "two secret words"],
        ["SKILLBUS_LLM_URL": "http://127.0.0.1/v1", "SKILLBUS_LLM_IDLE_SECONDS": "soon"],
        ["SKILLBUS_LLM_URL": "http://127.0.0.1/v1", "SKILLBUS_LLM_CONCURRENCY": "0"],
    ])
    func anEnvironmentThatMakesNoSenseIsRefusedWithoutItsSecrets(_ variables: [String: String]) async throws {
        let error = await failure { () throws(LLMError) in _ = try LLMClient.fromEnvironment(variables) }
        #expect(error?.kind == .configuration)
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test(arguments: [
        ("http://127.0.0.1:1", "http://127.0.0.1:1/v1/models"),
        ("http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/models"),
        ("http://127.0.0.1:1/a/v1", "http://127.0.0.1:1/a/v1/models"),
        ("http://127.0.0.1:1/v1/chat/completions", "http://127.0.0.1:1/v1/models"),
        (
            "https://x.example/openai/deployments/d?api-version=1",
            "https://x.example/openai/deployments/d/models?api-version=1"
        ),
    ])
    func addressesAreJoinedWithoutLosingAnything(_ base: String, _ whole: String) throws {
        #expect(try Endpoint(url: base, model: "m").url("/models") == whole)
    }
}
