import Synchronization
import TestSupport
import Testing
import Wire

@testable import SessionClient

@Suite(.timeLimit(.minutes(1)))
struct GatewayClientTests {
    @Test(
        "An address that is none is refused with what is wrong",
        arguments: ["", "127.0.0.1:8080", "ftp://host", "http://", "http://host/?x=1", "http://ho st"]
    )
    func badAddress(_ url: String) {
        let error = #expect(throws: ClientError.self) { _ = try GatewayClient(url: url) }
        #expect(error?.description.contains("it must be like http://127.0.0.1:8080") == true)
    }

    @Test("The address and the token come from the environment; an option counts more")
    func environment() throws {
        let variables = ["SKILLBUS_URL": "http://a:1/", "SKILLBUS_TOKEN": "t"]
        #expect(try GatewayClient.fromEnvironment(url: nil, variables).url == "http://a:1")
        #expect(try GatewayClient.fromEnvironment(url: "http://b:2", variables).url == "http://b:2")
        #expect(try GatewayClient.fromEnvironment(url: nil, [:]).url == "http://127.0.0.1:8080")
    }

    @Test("No gateway: the words name the address and what to do")
    func unreachable() async throws {
        let client = try GatewayClient(url: try ScriptedServer { _, _ in }.url)
        let error = await #expect(throws: ClientError.self) { _ = try await client.skills() }
        #expect(
            error?.description
                == "no gateway at \(client.url) (Connection refused): start one with `skillbus up`, or set SKILLBUS_URL"
        )
    }

    @Test("A problem keeps its code, hint and the time to wait")
    func problem() async throws {
        let server = try ScriptedServer { _, connection in
            connection.answer(
                429,
                #"{"type":"about:blank","title":"Busy","status":429,"code":"too_many_requests","detail":"No.","hint":"Wait"}"#,
                headers: ["Retry-After: 2"]
            )
        }
        let error = await #expect(throws: ClientError.self) {
            _ = try await GatewayClient(url: server.url).createSession()
        }
        #expect(error?.isTransient == true)
        #expect(error?.description == "No. Wait (try again in 2 s)")
    }

    @Test("A request carries all that was given, with token and key")
    func submits() async throws {
        let server = try ScriptedServer { _, connection in connection.answer(202, #"{"id":"r","session":"s"}"#) }
        var request = NewRequest("héllo", skill: "summarize", arguments: ["n": 3])
        request.attachments = [.init(name: "a.bin", mediaType: "application/octet-stream", data: Array(0...255))]
        request.whenBusy = .interrupt
        request.timeout = 2.5
        let id = try await GatewayClient(url: server.url, token: "secret").submit(request, in: "a/b")
        #expect(id == "r")
        let seen = try #require(server.requests.first)
        #expect(seen.path == "/v1/sessions/a%2Fb/requests")
        #expect(seen.headers["authorization"] == "Bearer secret")
        #expect(seen.headers["idempotency-key"] == request.idempotencyKey)
        let body = try JSONBody.decode(JSONValue.self, from: seen.body)
        #expect(body["text"] == "héllo")
        #expect(body["skill"] == "summarize")
        #expect(body["arguments"] == ["n": 3])
        #expect(body["when_busy"] == "interrupt")
        #expect(body["timeout"] == 2.5)
        let data = try #require(body["attachments"]?.array?.first?["data"]?.string)
        #expect(data.hasPrefix("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"))
        #expect(data.hasSuffix("+fr7/P3+/w=="))
    }

    @Test("A submission whose connection breaks is sent again under the same key")
    func submitsAgain() async throws {
        let count = Mutex(0)
        let server = try ScriptedServer { _, connection in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            if !isFirst { connection.answer(202, #"{"id":"r"}"#) }
        }
        _ = try await GatewayClient(url: server.url).submit(NewRequest("x"), in: "s")
        let keys = server.requests.map { $0.headers["idempotency-key"] }
        #expect(keys.count == 2)
        #expect(keys[0] == keys[1] && keys[0] != nil)
    }

    @Test("A gateway that does not answer in time")
    func timeout() async throws {
        let server = try ScriptedServer { _, connection in connection.waitForClose() }
        let client = try GatewayClient(url: server.url, seconds: 0.2)
        let error = await #expect(throws: ClientError.self) { _ = try await client.health() }
        #expect(error == .timeout(url: server.url, seconds: 0.2))
    }

    @Test("Skills, snapshot, plan and log are read, also with fields that are new")
    func reads() async throws {
        let server = try ScriptedServer { request, connection in
            switch request.path {
            case "/v1/skills":
                connection.answer(
                    200,
                    #"{"skills":[{"id":"a","description":"d","new":1,"workers":[{"id":"w","host":"h","pid":1,"credit":2,"busy":0}]}]}"#
                )
            case "/v1/sessions/s":
                connection.answer(
                    200,
                    #"{"id":"s","seq":7,"messages":[{"role":"user","text":"hi","request":"r","time":"t"}],"running":[{"request":"r","text":"hi","steps":[{"id":"s1","skill":"a","state":"running","text":"x"}]}],"new":null}"#
                )
            case "/v1/route": connection.answer(200, #"{"mode":"none","steps":[],"scores":[]}"#)
            default:
                connection.answer(
                    200,
                    #"{"jobs":[{"time":"t","session":"s","request":"r","job":"j","skill":"a","worker":"w","attempts":1,"milliseconds":5,"outcome":"finished"}],"next":9}"#
                )
            }
        }
        let client = try GatewayClient(url: server.url)
        #expect(try await client.skills().skills.first?.workers.first?.credit == 2)
        let snapshot = try await client.snapshot(of: "s")
        #expect(snapshot.seq == 7)
        #expect(snapshot.running.first?.steps?.first?.skill == "a")
        #expect(try await client.route("x").mode == .none)
        let log = try await client.jobs(limit: 5, after: 3)
        #expect(log.next == 9)
        #expect(log.jobs.first?.outcome == "finished")
        #expect(server.requests.last?.path == "/v1/jobs?limit=5&after=3")
    }

    @Test("The model of a user interface follows the session it made")
    @MainActor func model() async throws {
        let server = try ScriptedServer { request, connection in
            switch (request.method, request.path) {
            case ("POST", "/v1/sessions"): connection.answer(201, #"{"id":"s"}"#)
            case ("POST", _): connection.answer(202, #"{"id":"r1","session":"s"}"#)
            default:
                connection.startStream()
                let event = sessionEvent(1, "request.accepted", ["text": "hi"])
                let json = String(decoding: (try? JSONBody.encode(event)) ?? [], as: UTF8.self)
                connection.send("id: 1\ndata: \(json)\n\n")
                connection.waitForClose()
            }
        }
        let model = SessionModel(client: try GatewayClient(url: server.url))
        #expect(await model.send(NewRequest("hi")) == "r1")
        while model.view.requests.first?.text != "hi" { await Task.yield() }
        #expect(model.isConnected)
        #expect(model.session == "s")
        model.leave()
        #expect(!model.isConnected)
    }
}
