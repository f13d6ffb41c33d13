import HTTPServer
import TestSupport
import Testing

@testable import Gateway

@Suite struct HTTPAccessTests {
    private func check(
        _ access: HTTPAccess,
        _ method: String = "POST",
        _ headers: HTTPHeaders,
        path: String = "/v1/sessions"
    ) -> Int {
        do throws(HTTPProblem) {
            _ = try access.check(HTTPRequest(method, path, headers: headers))
            return 200
        } catch {
            return error.status
        }
    }

    @Test(arguments: [
        ("localhost", 200), ("localhost:8080", 200), ("127.0.0.1:1", 200), ("127.1.2.3", 200), ("[::1]", 200),
        ("[::1]:8080", 200), ("LOCALHOST", 200), ("evil.example", 421), ("evil.example:8080", 421),
        ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421), ("evil@localhost", 421),
        ("localhost:80@evil", 421), ("", 421), ("0.0.0.0", 421), ("[::2]", 421), ("[::1]evil", 421), ("128.0.0.1", 421),
    ])
    func onLoopbackTheHostMustBeLoopback(host: String, status: Int) {
        #expect(check(HTTPAccess(address: "127.0.0.1"), "GET", ["Host": host]) == status)
        #expect(check(HTTPAccess(address: "::1"), "GET", ["Host": host]) == status)
        #expect(check(HTTPAccess(address: "0.0.0.0"), "GET", ["Host": host]) == 200)
    }

    @Test(arguments: [
        ("http://localhost", 200), ("http://127.0.0.1:3000", 200), ("https://[::1]:8080", 200), ("null", 403),
        ("", 403),
        ("https://evil.example", 403), ("http://localhost.evil.example", 403), ("file://", 403),
        ("chrome-extension://localhost", 403), ("http://127.0.0.1:8080.evil.example", 403),
    ])
    func strangersOriginsChangeNothing(origin: String, status: Int) {
        for access in [HTTPAccess(address: "localhost"), HTTPAccess(address: "0.0.0.0")] {
            #expect(check(access, "POST", ["Host": "localhost", "Origin": origin]) == status)
            #expect(check(access, "DELETE", ["Host": "localhost", "Origin": origin]) == status)
            #expect(check(access, "GET", ["Host": "localhost", "Origin": origin]) == 200)
        }
    }

    @Test func ownPageOfAWideBindMayChangeThings() {
        let access = HTTPAccess(address: "0.0.0.0")
        #expect(check(access, "POST", ["Host": "box:8080", "Origin": "http://box:8080"]) == 200)
        #expect(check(access, "POST", ["Host": "box:8080", "Origin": "http://box:9090"]) == 403)
        #expect(check(access, "POST", ["Host": "box:8080"]) == 200)
    }

    @Test func tokenIsAskedForEverywhereButInProbes() throws {
        let (gate, folder, token) = try TokenGate.ofOneToken()
        let access = HTTPAccess(address: "0.0.0.0", tokens: gate)
        #expect(check(access, "POST", ["Authorization": "Bearer \(token)"]) == 200)
        #expect(check(access, "POST", ["Authorization": "bearer \(token)"]) == 200)
        let wrong = [
            "Bearer \(token.dropLast())", "Bearer \(token)2", "Bearer ", "Basic \(token)", token, "",
            "Bearer \(token.uppercased())", "Bearer x\(token)", "Bearer  \(token)", "Bearer skillbus__",
        ]
        for wrong in wrong { #expect(check(access, "POST", ["Authorization": wrong]) == 401, "\(wrong)") }
        #expect(check(access, "POST", [:]) == 401)
        var twice = HTTPHeaders()
        twice.append("Authorization", "Bearer \(token)")
        twice.append("Authorization", "Bearer \(token)")
        #expect(check(access, "POST", twice) == 401)
        #expect(check(access, "GET", [:], path: "/healthz") == 200)
        #expect(check(access, "GET", [:], path: "/readyz") == 200)
        #expect(check(access, "GET", [:], path: "/v1/sessions?token=\(token)") == 401)
        #expect(check(access, "OPTIONS", [:]) == 401)
        withExtendedLifetime(folder) {}
    }

    @Test func allowedOriginsMayUseItAndReadTheAnswers() async throws {
        let origin = "https://chat.example.org"
        let gateway = try await ServedGateway(origins: [origin])
        let answer = try await gateway.send("POST", "/v1/sessions", "{}", headers: ["Origin": origin])
        #expect(answer.status == 201)
        #expect(answer.headers["access-control-allow-origin"] == origin)
        #expect(answer.headers["vary"] == "Origin")
        #expect(answer.headers["access-control-allow-credentials"] == nil)
        let asked = ["Origin": origin, "Access-Control-Request-Method": "POST"]
        let preflight = try await gateway.send("OPTIONS", "/v1/sessions", headers: asked)
        #expect(preflight.status == 204)
        #expect(preflight.headers["access-control-allow-headers"]?.contains("Authorization") == true)
        // Under its name a proxy may pass requests on.
        let named = try await gateway.send("GET", "/v1/sessions", headers: ["Host": "chat.example.org"])
        #expect(named.status == 200)
        for stranger in ["https://evil.example", "null", "https://chat.example.org.evil.example", "http://x"] {
            let asked = ["Origin": stranger, "Access-Control-Request-Method": "POST"]
            for answer in [
                try await gateway.send("OPTIONS", "/v1/sessions", headers: asked),
                try await gateway.send("GET", "/v1/sessions", headers: asked),
            ] {
                #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control-") }, "\(stranger)")
                #expect(answer.headers["vary"] == "Origin")
            }
            #expect(try await gateway.send("POST", "/v1/sessions", "{}", headers: asked).status == 403)
        }
        await gateway.stop()
    }

    @Test(arguments: [
        ("https://a.example", true), ("http://localhost:3000", true), ("https://[::1]:1", true), ("*", false),
        ("null", false), ("", false), ("https://", false), ("https://a.example/", false), ("a.example", false),
        ("https://a b", false), ("https://a.example\r\nX: y", false), ("file://x", false),
    ])
    func originsAreSchemeAndAuthority(_ text: String, _ isOne: Bool) {
        #expect(HTTPAccess.isOrigin(text) == isOne)
    }

    @Test func strangersAreRefusedOverTheWireAndGetNoCORS() async throws {
        let gateway = try await ServedGateway()
        let stranger = try await gateway.send("POST", "/v1/sessions", "{}", headers: ["Origin": "https://evil.example"])
        #expect(stranger.status == 403)
        #expect(stranger.code == "origin_not_allowed")
        let rebound = try await gateway.send("GET", "/v1/sessions", headers: ["Host": "evil.example"])
        #expect(rebound.status == 421)
        let preflight = try await gateway.send(
            "OPTIONS",
            "/v1/sessions",
            headers: ["Origin": "https://evil.example", "Access-Control-Request-Method": "POST"]
        )
        #expect(preflight.status == 204)
        #expect(preflight.headers["allow"] == "POST, GET, HEAD, OPTIONS")
        for answer in [stranger, rebound, preflight] {
            #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control-") })
        }
        await gateway.stop()
    }
}
