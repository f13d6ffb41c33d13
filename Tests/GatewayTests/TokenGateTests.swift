import Credentials
import HTTPServer
import TestSupport
import Testing
import Wire

@testable import Gateway

extension TokenGate {
    /// A gate with one token, in a folder that must be kept.
    static func ofOneToken(
        rate: Int = 600,
        scopes: Set<Scope> = [.read, .ask]
    ) throws -> (gate: TokenGate, folder: TemporaryFolder, token: String) {
        let folder = try TemporaryFolder()
        let made = try TokenList.make(tenant: "one", scopes: scopes, rate: rate, in: folder.file("tokens"))
        return (try TokenGate(path: folder.file("tokens")), folder, made.token)
    }
}

@Suite struct TokenGateTests {
    private func refusal(_ body: () throws(HTTPProblem) -> Void) -> HTTPProblem? {
        do throws(HTTPProblem) {
            try body()
            return nil
        } catch { return error }
    }

    @Test func aBucketGivesAMinutesRequestsAtOnceAndThenAtTheirPace() {
        var bucket = TokenBucket(now: 1000)
        for _ in 0..<100 { #expect(bucket.take(perMinute: 100, now: 1000) == nil) }
        #expect(bucket.take(perMinute: 100, now: 1000) == 1)
        // Being refused costs nothing.
        #expect(bucket.take(perMinute: 100, now: 1599) == 1)
        #expect(bucket.take(perMinute: 100, now: 1600) == nil)
        #expect(bucket.take(perMinute: 100, now: 1600) == 1)
        // However long it rests, it holds a minute's.
        for _ in 0..<100 { #expect(bucket.take(perMinute: 100, now: 10_000_000) == nil) }
        #expect(bucket.take(perMinute: 100, now: 10_000_000) == 1)
        // A clock that goes back gives nothing.
        #expect(bucket.take(perMinute: 100, now: 5) == 1)
        var slow = TokenBucket(now: 0)
        #expect(slow.take(perMinute: 1, now: 0) == nil)
        #expect(slow.take(perMinute: 1, now: 0) == 60)
        #expect(slow.take(perMinute: 1, now: 59_000) == 1)
        #expect(slow.take(perMinute: 1, now: 60_000) == nil)
    }

    @Test func refusalsSayWhatIsMissing() throws {
        let (gate, folder, token) = try TokenGate.ofOneToken(rate: 2, scopes: [.read])
        let request = try HTTPRequest("GET", "/", headers: ["Authorization": "Bearer \(token)"])
        let scope = refusal { () throws(HTTPProblem) in _ = try gate.admit(request, for: .ask, now: 0) }
        #expect(scope?.status == 403)
        #expect(scope?.headers["WWW-Authenticate"] == "Bearer error=\"insufficient_scope\", scope=\"ask\"")
        for _ in 0..<2 { #expect(try gate.admit(request, for: .read, now: 0).tenant == "one") }
        let often = refusal { () throws(HTTPProblem) in _ = try gate.admit(request, for: .read, now: 0) }
        #expect(often?.status == 429 && often?.headers["Retry-After"] == "30")
        let none = refusal { () throws(HTTPProblem) in _ = try gate.admit(try HTTPRequest("GET", "/"), for: .read) }
        #expect(none?.status == 401 && none?.headers["WWW-Authenticate"] == "Bearer")
        let secret = String(token.suffix(64))
        for problem in [scope, often, none] {
            #expect(problem?.detail.contains(secret) == false && problem?.hint?.contains(secret) == false)
        }
        withExtendedLifetime(folder) {}
    }

    @Test func sessionsOfATenantAreNotThereForAnother() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("tokens")
        let one = try TokenList.make(tenant: "one", scopes: [.read, .ask], rate: 600, in: file).token
        let other = try TokenList.make(tenant: "other", scopes: [.read, .ask], rate: 600, in: file).token
        let gateway = try await ServedGateway(tokens: try TokenGate(path: file))
        func send(_ token: String, _ method: String, _ path: String, _ body: String? = nil) async throws -> RawResponse
        {
            try await gateway.send(method, path, body, headers: ["Authorization": "Bearer \(token)"])
        }
        let session = try #require(try await send(one, "POST", "/v1/sessions", "{}").json?["id"]?.string)
        let path = "/v1/sessions/\(session)"
        let asked = try await send(one, "POST", "\(path)/requests", #"{"text": "a secret"}"#)
        let request = try #require(asked.json?["id"]?.string)
        for (method, path, body) in [
            ("GET", path, nil), ("GET", "\(path)/events", nil), ("HEAD", "\(path)/events", nil),
            ("POST", "\(path)/requests", #"{"text": "x"}"#), ("DELETE", "\(path)/requests/\(request)", nil),
        ] {
            let answer = try await send(other, method, path, body)
            #expect(answer.status == 404, "\(method) \(path)")
            // As if it had never been: the same words as for one that has not.
            let unknown = "019a0000-0000-7000-8000-000000000000"
            let never = try await send(other, method, path.replacing(session, with: unknown), body)
            #expect(never.status == 404 && never.text.replacing(unknown, with: session).contains(answer.code ?? ""))
        }
        let list = try await send(other, "GET", "/v1/sessions").json?["sessions"]?.array
        #expect(list?.isEmpty == true)
        #expect(try await send(other, "GET", "/v1/jobs").json?["jobs"]?.array?.isEmpty == true)
        #expect(try await send(one, "GET", "/v1/sessions").json?["sessions"]?.array?.count == 1)
        #expect(try await send(one, "GET", path).status == 200)
        await gateway.stop()
    }

    @Test func anIdempotencyKeyIsItsTenantsOwn() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("tokens")
        let gateway: ServedGateway
        var ids: [String] = []
        let tokens = try ["one", "other"].map {
            try TokenList.make(tenant: $0, scopes: [.read, .ask], rate: 600, in: file).token
        }
        gateway = try await ServedGateway(tokens: try TokenGate(path: file))
        for token in tokens {
            let headers = ["Authorization": "Bearer \(token)", "Idempotency-Key": "same"]
            let made = try await gateway.send("POST", "/v1/sessions", "{}", headers: headers)
            let session = try #require(made.json?["id"]?.string)
            let body = #"{"text": "the same"}"#
            let asked = try await gateway.send("POST", "/v1/sessions/\(session)/requests", body, headers: headers)
            #expect(asked.status == 202)
            ids.append(asked.json?["id"]?.string ?? "")
        }
        #expect(ids[0] != ids[1])
        await gateway.stop()
    }

    @Test func aTokenThatIsTakenBackEndsItsStreamsAndCounts() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("tokens")
        let made = try TokenList.make(tenant: "one", scopes: [.read, .ask], rate: 600, in: file)
        let kept = try TokenList.make(tenant: "one", scopes: [.read, .ask], rate: 600, in: file)
        let gate = try TokenGate(path: file)
        let gateway = try await ServedGateway(tokens: gate, heartbeat: .milliseconds(50))
        let headers = ["Authorization": "Bearer \(made.token)"]
        let session = try await gateway.send("POST", "/v1/sessions", "{}", headers: headers).json?["id"]?.string ?? ""
        func follow(_ token: String) async throws -> RawConnection {
            let connection = try RawConnection(port: gateway.port)
            await connection.send(
                "GET /v1/sessions/\(session)/events HTTP/1.0\r\nAuthorization: Bearer \(token)\r\n\r\n"
            )
            return connection
        }
        let (ends, stays) = (try await follow(made.token), try await follow(kept.token))
        #expect(await eventually { ends.text.contains("retry:") && stays.text.contains("retry:") })
        try TokenList.revoke(made.record.id, in: file)
        try gate.reload()
        #expect(await eventually { ends.isAtEnd })
        #expect(ends.text.contains(": the token is not valid any more"))
        #expect(try await gateway.send("GET", "/v1/sessions", headers: headers).status == 401)
        #expect(!stays.isAtEnd)
        // A list that cannot be read changes nothing.
        try folder.write("tokens", "nonsense\n")
        #expect(throws: CredentialError.self) { try gate.reload() }
        let still = try await gateway.send("GET", "/v1/sessions", headers: ["Authorization": "Bearer \(kept.token)"])
        #expect(still.status == 200)
        await gateway.stop()
    }
}
