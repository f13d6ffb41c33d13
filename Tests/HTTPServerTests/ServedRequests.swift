import HTTPServer
import TestSupport
import Testing

/// A server that tells what it got: method, path, query and the size and sum of the body.
func echoServer(limits: HTTPLimits = HTTPLimits()) throws -> HTTPServer {
    try HTTPServer(port: 0, limits: limits) { request in
        if request.path == "/big" {
            return HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 120, count: 10_000_000)))
        }
        if request.path == "/evil" {
            return HTTPResponse(status: 200, headers: ["X-Evil": "a\r\nX-Forged: 1", "X-Fine": "yes"])
        }
        let sum = request.body.bytes.reduce(0) { $0 &+ Int($1) }
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let text =
            "\(request.method) \(request.segments.joined(separator: "|")) [\(query)] \(request.body.count) \(sum)"
        return HTTPResponse(status: 200, headers: ["Content-Type": "text/plain"], body: .bytes(Array(text.utf8)))
    }
}

@Suite struct ServedRequests {
    @Test func pathAndQueryAreDecoded() async throws {
        let server = try echoServer()
        let answer = try await RawResponse.to(
            "GET /a%20b/%E6%97%A5//c?x=1+2&y=%26&z HTTP/1.1\r\nHost: h\r\n\r\n",
            port: server.port
        )
        #expect(answer.status == 200)
        #expect(answer.text == "GET a b|日|c [x=1 2,y=&,z=] 0 0")
        #expect(answer.headers["content-type"] == "text/plain")
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%ff", "/%00", "/?a=%ff", "nonsense"])
    func undecodableTargetsAreRefused(target: String) async throws {
        let server = try echoServer()
        let answer = try await RawResponse.to("GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port)
        #expect(answer.status == 400)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(answer.text.contains("\"code\":\"bad_target\""))
    }

    @Test func absoluteFormIsAccepted() async throws {
        let server = try echoServer()
        let answer = try await RawResponse.to("GET http://h/x?y=1 HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port)
        #expect(answer.text == "GET x [y=1] 0 0")
    }

    @Test func connectionIsKeptAndPipelined() async throws {
        let server = try echoServer()
        let client = try RawConnection(port: server.port)
        await client.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(await client.receives("GET 1 []"))
        await client.send(
            "GET /2 HTTP/1.1\r\nHost: h\r\n\r\nPOST /3 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                + "GET /4 HTTP/1.1\r\nHost: h\r\n\r\n"
        )
        #expect(await client.receives("GET 4 [] 0 0"))
        let text = client.text
        let places = ["GET 1", "GET 2", "POST 3 [] 3 294", "GET 4"].map { text.firstRange(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil })
        #expect(places.compactMap { $0 } == places.compactMap { $0 }.sorted())
        #expect(!client.isAtEnd)
    }

    @Test func splitPacketsMakeOneRequest() async throws {
        let server = try echoServer()
        let client = try RawConnection(port: server.port)
        for byte in "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello".utf8 { await client.send([byte]) }
        #expect(await client.receives("POST p [] 5 532"))
    }

    @Test func chunkedBodyArrivesWhole() async throws {
        let server = try echoServer()
        let answer = try await RawResponse.to(
            "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n1;ext=1\r\nd\r\n0\r\nTrailer: x\r\n\r\n",
            port: server.port
        )
        #expect(answer.text == "POST c [] 4 394")
    }

    @Test func continueIsSaidBeforeTheBody() async throws {
        let server = try echoServer()
        let client = try RawConnection(port: server.port)
        await client.send("POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(await client.receives("HTTP/1.1 100 Continue\r\n\r\n"))
        await client.send("ok")
        #expect(await client.receives("POST e [] 2 218"))
    }

    @Test func tenMegabytesGoOutWhole() async throws {
        let server = try echoServer()
        let answer = try await RawResponse.to("GET /big HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port)
        #expect(answer.body.count == 10_000_000)
        #expect(answer.body.allSatisfy { $0 == 120 })
    }

    @Test func largeUploadArrivesWhole() async throws {
        let server = try echoServer()
        let body = [UInt8](repeating: 1, count: 8_000_000)
        let head = "POST /u HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n"
        let answer = try await RawResponse.to(Array(head.utf8) + body, port: server.port)
        #expect(answer.text == "POST u [] 8000000 8000000")
    }

    @Test func headHasNoBody() async throws {
        let server = try echoServer()
        let client = try RawConnection(port: server.port)
        await client.send("HEAD /h HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(await client.ends())
        #expect(client.text.contains("Content-Length: 13\r\n"))
        #expect(client.text.hasSuffix("\r\n\r\n"))
    }

    @Test func clientThatClosesItsSideGetsItsAnswer() async throws {
        let server = try echoServer()
        let client = try RawConnection(port: server.port)
        await client.send("GET /half HTTP/1.1\r\nHost: h\r\n\r\n")
        client.closeWriting()
        #expect(await client.receives("GET half"))
    }

    @Test func lineBreaksInResponseHeadersForgeNothing() async throws {
        let server = try echoServer()
        let answer = try await RawResponse.to("GET /evil HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port)
        #expect(answer.headers["x-forged"] == nil)
        #expect(answer.headers["x-fine"] == "yes")
    }

    @Test func curlAgrees() async throws {
        let server = try echoServer()
        let answer = try await run(
            "curl",
            ["-sS", "-i", "--data-binary", "abc", "http://127.0.0.1:\(server.port)/curl?a=b"]
        )
        #expect(answer.code == 0)
        #expect(answer.output.contains("POST curl [a=b] 3 294"))
    }

    @Test func routesAnswerWithMethodsAndProblems() async throws {
        var routes = HTTPRoutes()
        routes.add("GET", "/v1/things/{id}") { request throws(HTTPProblem) in
            if request.parameters["id"] == "bad" { throw HTTPProblem(409, "conflict", "No \"good\".", hint: "Go\n") }
            return .json(Array("{\"id\":\"\(request.parameters["id"] ?? "")\"}".utf8))
        }
        routes.add("DELETE", "/v1/things/{id}") { _ throws(HTTPProblem) in HTTPResponse(status: 204) }
        let server = try HTTPServer(port: 0) { [routes] in await routes.respond(to: $0) }
        func ask(_ method: String, _ path: String) async throws -> RawResponse {
            try await RawResponse.to("\(method) \(path) HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port)
        }
        #expect(try await ask("GET", "/v1/things/7").text == "{\"id\":\"7\"}")
        #expect(try await ask("DELETE", "/v1/things/7").status == 204)
        let refused = try await ask("PATCH", "/v1/things/7")
        #expect(refused.status == 405)
        #expect(refused.headers["allow"] == "GET, DELETE, HEAD, OPTIONS")
        let options = try await ask("OPTIONS", "/v1/things/7")
        #expect(options.status == 204)
        #expect(options.headers["allow"] == "GET, DELETE, HEAD, OPTIONS")
        #expect(try await ask("GET", "/v1/none").status == 404)
        #expect(
            try await ask("GET", "/v1/things/bad").text
                == #"{"type":"about:blank","title":"Conflict","status":409,"detail":"No \"good\".","#
                + #""code":"conflict","hint":"Go\n"}"#
        )
    }
}
