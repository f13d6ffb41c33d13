import HTTPServer
import TestSupport
import Testing
import Wire

@testable import Gateway

@Suite struct HTTPRoutesTests {
    @Test func sessionIsMadeListedAndShown() async throws {
        let gateway = try await ServedGateway()
        let made = try await gateway.send("POST", "/v1/sessions", "{}")
        #expect(made.status == 201)
        let session = try #require(made.json?["id"]?.string)
        #expect(made.headers["location"] == "/v1/sessions/\(session)")
        #expect(made.headers["content-type"] == "application/json")
        #expect(made.headers["x-content-type-options"] == "nosniff")
        // Without a body too.
        #expect(try await gateway.send("POST", "/v1/sessions").status == 201)
        let request = try await gateway.ask("sum up", in: session)
        let shown = try await gateway.send("GET", "/v1/sessions/\(session)")
        #expect(shown.status == 200)
        #expect(shown.json?["id"]?.string == session)
        #expect(shown.json?["seq"]?.integer == 1)
        #expect(shown.json?["running"]?.array?.first?["request"]?.string == request)
        let list = try await gateway.send("GET", "/v1/sessions?limit=1")
        #expect(list.json?["sessions"]?.array?.count == 1)
        let next = try #require(list.json?["next"]?.integer)
        let rest = try await gateway.send("GET", "/v1/sessions?limit=10&before=\(next)")
        #expect(rest.json?["sessions"]?.array?.count == 1)
        await gateway.stop()
    }

    @Test func requestIsAcceptedOncePerKey() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let path = "/v1/sessions/\(session)/requests"
        let body = #"{"text":"hello","attachments":[{"name":"a.txt","mediaType":"text/plain","data":"aGk="}]}"#
        let first = try await gateway.send("POST", path, body, headers: ["Idempotency-Key": "k1"])
        #expect(first.status == 202)
        #expect(first.json?["session"]?.string == session)
        #expect(first.headers["location"] == "/v1/sessions/\(session)/events")
        let second = try await gateway.send("POST", path, body, headers: ["Idempotency-Key": "k1"])
        #expect(second.status == 202)
        #expect(second.json?["id"] == first.json?["id"])
        let other = try await gateway.send("POST", path, #"{"text":"bye"}"#, headers: ["Idempotency-Key": "k1"])
        #expect(other.status == 422)
        #expect(other.code == "idempotency_mismatch")
        let stream = try await gateway.follow(session)
        #expect(await stream.has(1))
        #expect(stream.events.count == 1)
        #expect(stream.events.first?.json?["data"]?["attachments"]?.array?.first?["bytes"]?.integer == 2)
        await gateway.stop()
    }

    @Test func cancelIsTakenOnceAndThenNothingIsLeftToDo() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let request = try await gateway.ask("hello", in: session)
        let path = "/v1/sessions/\(session)/requests/\(request)"
        let first = try await gateway.send("DELETE", path)
        #expect(first.status == 202)
        #expect(await eventually { (try? await gateway.send("DELETE", path).status) == 204 })
        let stream = try await gateway.follow(session)
        #expect(await stream.has(2))
        #expect(stream.events.last?.type == "request.cancelled")
        let other = try await gateway.newSession()
        #expect(try await gateway.send("DELETE", "/v1/sessions/\(other)/requests/\(request)").status == 404)
        await gateway.stop()
    }

    @Test func busySessionIsSaid() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        try await gateway.ask("first", in: session)
        let answer = try await gateway.send(
            "POST",
            "/v1/sessions/\(session)/requests",
            #"{"text":"second","when_busy":"reject"}"#
        )
        #expect(answer.status == 409)
        #expect(answer.code == "busy")
        #expect(answer.json?["hint"]?.string?.contains("enqueue") == true)
        await gateway.stop()
    }

    @Test(arguments: [
        ("GET", "/v1/sessions/nonsense"), ("GET", "/v1/sessions/00000000-0000-7000-8000-000000000000"),
        ("GET", "/v1/sessions/nonsense/events"), ("GET", "/v1/sessions/00000000-0000-7000-8000-000000000000/events"),
        ("DELETE", "/v1/sessions/SESSION/requests/x"),
        ("DELETE", "/v1/sessions/SESSION/requests/00000000-0000-7000-8000-000000000000"), ("GET", "/v2"), ("GET", "/"),
    ])
    func whatIsNotThereIsNotFound(method: String, path: String) async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let answer = try await gateway.send(method, path.replacing("SESSION", with: session))
        #expect(answer.status == 404)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(["session_not_found", "request_not_found", "not_found"].contains(answer.code))
        await gateway.stop()
    }

    @Test func requestForAnUnknownSessionIsNotFound() async throws {
        let gateway = try await ServedGateway()
        let path = "/v1/sessions/00000000-0000-7000-8000-000000000000/requests"
        let answer = try await gateway.send("POST", path, #"{"text":"x"}"#)
        #expect(answer.status == 404)
        #expect(answer.code == "session_not_found")
        await gateway.stop()
    }

    @Test(arguments: [
        (#"{"text":""}"#, 400, "text"), (#"{"text":"  \n"}"#, 400, "text"), ("{}", 400, "text"),
        (#"{"text":7}"#, 400, "text"), (#"{"text":"a","skill":7}"#, 400, "skill"),
        (#"{"text":"a","arguments":[1]}"#, 400, "arguments"),
        (#"{"text":"a","when_busy":"wait"}"#, 400, #""parallel", "enqueue", "reject", "interrupt""#),
        (#"{"text":"a","on_disconnect":"stop"}"#, 400, #""continue", "cancel""#),
        (#"{"text":"a","timeout":-1}"#, 400, "timeout"), (#"{"text":"a","timeout":"soon"}"#, 400, "timeout"),
        (#"{"text":"a","explain":"yes"}"#, 400, "explain"),
        (#"{"text":"a","can_clarify":"yes"}"#, 400, "can_clarify"),
        (#"{"text":"a","routing":"magic"}"#, 400, #""local", "model""#),
        (#"{"text":"a","attachments":[{"name":"x.txt","data":"***"}]}"#, 400, "x.txt"),
        (#"{"text":"a","attachments":[{"name":"ok","data":""},{"name":"b"}]}"#, 400, "data"),
        (#"{"text":"a","attachments":[{"name":"a\u0007","data":""}]}"#, 400, "attachments[0].name"),
        (#"{"text":"a","attachments":{}}"#, 400, "attachments"), ("[]", 400, "top level"), ("", 400, "JSON"),
        ("{", 400, "JSON"), (#"{"text":"a"} x"#, 400, "JSON"), ("null", 400, "top level"),
    ])
    func wrongFieldsAreNamed(body: String, status: Int, named: String) async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let answer = try await gateway.send("POST", "/v1/sessions/\(session)/requests", body)
        #expect(answer.status == status)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer.json?["detail"]?.string?.contains(named) == true, "\(answer.text)")
        await gateway.stop()
    }

    @Test func unknownFieldsAreLetPass() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let body = #"{"text":"a","from_the_future":{"x":1},"skill":null,"timeout":5,"when_busy":null}"#
        #expect(try await gateway.send("POST", "/v1/sessions/\(session)/requests", body).status == 202)
        await gateway.stop()
    }

    @Test func sizesOverTheLimitAreNamed() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let path = "/v1/sessions/\(session)/requests"
        let fits = String(repeating: "a", count: Limits.requestText)
        #expect(try await gateway.send("POST", path, #"{"text":"\#(fits)"}"#).status == 202)
        let text = try await gateway.send("POST", path, #"{"text":"\#(fits)b"}"#)
        #expect(text.status == 413)
        #expect(text.json?["detail"]?.string?.contains("\(Limits.requestText)") == true)
        #expect(text.json?["detail"]?.string?.contains("\(Limits.requestText + 1)") == true)
        let huge = try await gateway.send(
            "POST",
            path,
            headers: [
                "Content-Type": "application/json", "Content-Length": "\(36 * 1024 * 1024 + 1)",
            ]
        )
        #expect(huge.status == 413)
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        let nested = try await gateway.send("POST", path, #"{"text":"a","arguments":{"x":\#(deep)}}"#)
        #expect(nested.status == 400)
        #expect(nested.json?["detail"]?.string?.contains("64") == true)
        let abyss = String(repeating: "[", count: 200_000)
        #expect(try await gateway.send("POST", path, abyss).status == 400)
        await gateway.stop()
    }

    @Test func twentyMegabytesOfAttachmentsPass() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let file = #"{"name":"a.bin","data":"\#(String(repeating: "AAAA", count: 1_700_000))"}"#
        let body = #"{"text":"a","attachments":[\#(Array(repeating: file, count: 4).joined(separator: ","))]}"#
        let answer = try await gateway.send("POST", "/v1/sessions/\(session)/requests", body)
        #expect(answer.status == 202, "\(answer.text)")
        await gateway.stop()
    }

    @Test func aNumberThatDoesNotFitIsNamed() async throws {
        let gateway = try await ServedGateway()
        let body = #"{"text":"a","attachments":[{"name":"n","mediaType":"m","bytes":1.5}]}"#
        let answer = try await gateway.send("POST", "/v1/route", body)
        #expect(answer.status == 400 && answer.code == "invalid")
        #expect(answer.json?["detail"]?.string?.contains(#""attachments[0].bytes" is 1.5"#) == true)
        await gateway.stop()
    }

    @Test(arguments: [#"{"text":""}"#, #"{"text":" \n"}"#, #"{"text":"","attachments":[]}"#])
    func anEmptyQuestionIsRefusedLikeARequest(body: String) async throws {
        let gateway = try await ServedGateway()
        let answer = try await gateway.send("POST", "/v1/route", body)
        #expect(answer.status == 400)
        #expect(answer.json?["detail"]?.string?.contains("text") == true)
        await gateway.stop()
    }

    @Test func bodyThatIsNotUTF8IsSaid() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        var body = Array(#"{"text":"ab"}"#.utf8)
        body[10] = 0xff
        let answer = try await gateway.send("POST", "/v1/sessions/\(session)/requests", bytes: body)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid_utf8")
        #expect(answer.json?["detail"]?.string?.contains("byte 10") == true)
        await gateway.stop()
    }

    @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
    func onlyJSONIsTaken(type: String) async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        for path in ["/v1/sessions", "/v1/sessions/\(session)/requests", "/v1/route"] {
            let answer = try await gateway.send("POST", path, #"{"text":"a"}"#, headers: ["Content-Type": type])
            #expect(answer.status == 415)
            #expect(answer.code == "unsupported_media_type")
        }
        let charset = ["Content-Type": "Application/JSON; charset=utf-8"]
        let answer = try await gateway.send(
            "POST",
            "/v1/sessions/\(session)/requests",
            #"{"text":"a"}"#,
            headers: charset
        )
        #expect(answer.status == 202)
        await gateway.stop()
    }

    @Test func questionsWithoutARouterSayThatThereIsNone() async throws {
        let gateway = try await ServedGateway()
        for answer in [
            try await gateway.send("GET", "/v1/skills"), try await gateway.send("POST", "/v1/route", #"{"text":"a"}"#),
        ] {
            #expect(answer.status == 503)
            #expect(answer.code == "no_router")
            #expect(answer.headers["retry-after"] == "2")
        }
        let ready = try await gateway.send("GET", "/readyz")
        #expect(ready.status == 503)
        #expect(ready.json?["detail"]?.string?.contains("no_router") == true)
        let health = try await gateway.send("GET", "/healthz")
        #expect(health.status == 200)
        #expect(health.json?["status"] == "ok")
        await gateway.stop()
    }

    @Test func jobsAreListedAndBadNumbersNamed() async throws {
        let gateway = try await ServedGateway()
        let jobs = try await gateway.send("GET", "/v1/jobs?limit=5")
        #expect(jobs.status == 200)
        #expect(jobs.json?["jobs"]?.array?.isEmpty == true)
        for query in ["limit=0", "limit=x", "limit=5000", "after=-1"] {
            let answer = try await gateway.send("GET", "/v1/jobs?\(query)")
            #expect(answer.status == 400)
            #expect(answer.json?["detail"]?.string?.contains(query.prefix { $0 != "=" }) == true)
        }
        await gateway.stop()
    }

    @Test func everyErrorHasAStatus() {
        let table: [(GatewayError, Int)] = [
            (.sessionNotFound("x"), 404), (.requestNotFound("x"), 404), (.tooLarge(what: "t", limit: 1, got: 2), 413),
            (.invalid(field: "f", reason: "r"), 400), (.busy(running: 1), 409), (.idempotencyMismatch(key: "k"), 422),
            (.storeUnavailable(reason: "r"), 503), (.noRouter, 503), (.draining, 503),
            (.tooManyRequests(limit: 1, of: "user"), 429),
            (.refused(JobError(code: "overloaded", message: "m", retryable: true, retryAfter: 1.2)), 503),
            (.refused(JobError(code: "out_of_scope", message: "m")), 422),
        ]
        for (error, status) in table {
            let problem = HTTPProblem(error)
            #expect(problem.status == status)
            #expect(problem.code == error.code)
            #expect(!problem.detail.isEmpty)
            #expect((problem.headers["Retry-After"] != nil) == (error.retryAfter != nil))
        }
        #expect(HTTPProblem(table[10].0).headers["Retry-After"] == "2")
    }
}
