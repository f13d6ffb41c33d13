import HTTPServer
import TestSupport
import Testing

@Suite struct RefusedRequests {
    private func limited(_ change: (inout HTTPLimits) -> Void = { _ in }) throws -> HTTPServer {
        var limits = HTTPLimits()
        limits.body = 100_000
        change(&limits)
        return try echoServer(limits: limits)
    }

    /// Whether the server still serves.
    private func serves(_ server: HTTPServer) async throws -> Bool {
        try await RawResponse.to("GET /ok HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port).text == "GET ok [] 0 0"
    }

    @Test func bodyAtTheLimitPassesAndOneMoreDoesNot() async throws {
        let server = try limited()
        for (size, status) in [(100_000, 200), (100_001, 413)] {
            let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \(size)\r\n\r\n"
            let answer = try await RawResponse.to(
                Array(head.utf8) + [UInt8](repeating: 1, count: size),
                port: server.port
            )
            #expect(answer.status == status)
            if status == 413 {
                #expect(answer.headers["content-type"] == "application/problem+json")
                #expect(answer.text.contains("100001"))
                #expect(answer.text.contains("100000"))
                #expect(answer.headers["connection"] == "close")
            }
        }
    }

    @Test func tooLargeIsSaidBeforeTheBodyHasCome() async throws {
        let server = try limited()
        let client = try RawConnection(port: server.port)
        await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\nx")
        #expect(try await RawResponse.read(client).status == 413)
        let second = try RawConnection(port: server.port)
        await second.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000000\r\n\r\nx")
        #expect(try await RawResponse.read(second).status == 413)
        #expect(await second.ends())
    }

    @Test func tooLargeWithExpectIsSaidInsteadOfContinue() async throws {
        let server = try limited()
        let client = try RawConnection(port: server.port)
        await client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\nExpect: 100-continue\r\n\r\n")
        #expect(try await RawResponse.read(client).status == 413)
        #expect(!client.text.contains("100 Continue"))
    }

    @Test func endlessChunksAreCutOff() async throws {
        let server = try limited()
        let client = try RawConnection(port: server.port)
        await client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
        let chunk = Array("1000\r\n".utf8) + [UInt8](repeating: 97, count: 0x1000) + [13, 10]
        let began = ContinuousClock.now
        while ContinuousClock.now - began < .seconds(30), await client.send(chunk) {}
        // The answer survives although the client never stops sending, and it is cut off in the end.
        #expect(try await RawResponse.read(client).status == 413)
        #expect(ContinuousClock.now - began < .seconds(15))
        #expect(try await serves(server))
    }

    @Test(arguments: [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", 400),
        ("Content-Length: 3\r\nContent-Length: 3", 400),
        ("Content-Length: 3\r\nContent-Length: 4", 400),
        ("Content-Length: +3", 400),
        ("Content-Length: 3, 3", 400),
        ("Content-Length: -1", 400),
        ("Content-Length: 0x3", 400),
        ("Content-Length:", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400),
        ("Transfer-Encoding: identity", 501),
        ("Transfer-Encoding: gzip, chunked", 501),
        ("Transfer-Encoding: xchunked", 501),
        ("Host: other", 400),
        ("X: a\rb", 400),
        ("X\u{1}: a", 400),
        ("X : a", 400),
        ("no colon", 400),
    ])
    func framingThatTwoParsersMayReadDifferentlyIsRefused(header: String, status: Int) async throws {
        let server = try limited()
        let client = try RawConnection(port: server.port)
        await client.send("POST /s HTTP/1.1\r\nHost: h\r\n\(header)\r\n\r\nabc")
        #expect(try await RawResponse.read(client).status == status)
        #expect(await client.ends(within: .seconds(10)))
        #expect(!client.text.contains("200 OK"))
        #expect(try await serves(server))
    }

    @Test func headersOverTheirLimitsAreRefused() async throws {
        let server = try limited()
        let long = String(repeating: "a", count: 9000)
        #expect(try await RawResponse.to("GET /\(long) HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port).status == 414)
        let large = "GET / HTTP/1.1\r\nHost: h\r\nX: \(long)\r\nY: \(long)\r\n\r\n"
        #expect(try await RawResponse.to(large, port: server.port).status == 431)
        let many = (0..<101).map { "X\($0): 1\r\n" }.joined()
        #expect(try await RawResponse.to("GET / HTTP/1.1\r\n\(many)\r\n", port: server.port).status == 400)  // No Host.
        let withHost = "GET / HTTP/1.1\r\nHost: h\r\n\(many)\r\n"
        #expect(try await RawResponse.to(withHost, port: server.port).status == 431)
        let endless = String(repeating: "b", count: 300_000)
        let client = try RawConnection(port: server.port)
        await client.send("GET / HTTP/1.1\r\nHost: h\r\nX: \(endless)")
        #expect(await client.ends())
        #expect(try await serves(server))
    }

    @Test(arguments: ["GET /x HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"])
    func whatTheLibraryLetsUsSayIsAProblemOnce(request: String) async throws {
        let server = try limited()
        let client = try RawConnection(port: server.port)
        await client.send(request)
        #expect(await client.ends())
        let answer = try await RawResponse.read(client)
        #expect(answer.status == 400)
        #expect(answer.headers["content-type"] == "application/problem+json")
        #expect(client.text.ranges(of: "HTTP/1.1 400").count == 1)
    }

    @Test func garbageDoesNoHarm() async throws {
        let server = try limited()
        var generator = SplitMix(state: 42)
        var pieces: [[UInt8]] = [
            Array("\r\n\r\n\r\n".utf8), [0, 0, 0, 0], Array("GET".utf8), Array("GET \r\n\r\n".utf8),
            Array("GET / HTTP/9.9\r\n\r\n".utf8), Array("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}".utf8),
            Array("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n".utf8),
            Array("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx".utf8),
            Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8),
        ]
        for _ in 0..<60 {
            pieces.append((0..<Int.random(in: 1...600, using: &generator)).map { _ in generator.byte() })
        }
        let valid = Array("POST /v?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc".utf8)
        for _ in 0..<60 {
            var changed = valid
            for _ in 0..<3 { changed[Int.random(in: 0..<changed.count, using: &generator)] = generator.byte() }
            pieces.append(changed)
        }
        for piece in pieces {
            let client = try RawConnection(port: server.port)
            await client.send(piece)
            client.closeWriting()
            client.close()
        }
        #expect(try await serves(server))
    }

    @Test(arguments: ["GET /slow HTTP/1.1\r\nX: ", "POST /slow HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n"])
    func clientThatDripsIsEndedInTime(start: String) async throws {
        let server = try limited {
            $0.headerTime = .milliseconds(700)
            $0.bodyTime = .milliseconds(700)
        }
        let client = try RawConnection(port: server.port)
        let began = ContinuousClock.now
        await client.send(start)
        // A byte every 50 ms: never idle, so only a limit in sum ends it.
        _ = await eventually(within: .seconds(15)) {
            await client.send("x")
            try? await Task.sleep(for: .milliseconds(40))
            return client.isAtEnd
        }
        #expect(client.isAtEnd)
        #expect(ContinuousClock.now - began < .seconds(10))
        #expect(client.text.hasPrefix("HTTP/1.1 408 "))
        #expect(client.text.contains("request_timeout"))
    }

    @Test func silentConnectionIsEnded() async throws {
        let server = try limited { $0.headerTime = .milliseconds(300) }
        let client = try RawConnection(port: server.port)
        #expect(await client.ends(within: .seconds(10)))
        #expect(client.text.isEmpty)
    }

    @Test func threeHundredDrippingClientsHinderNobody() async throws {
        // Long, so that it is not their end that lets others in.
        let server = try limited { $0.headerTime = .seconds(100) }
        var clients: [RawConnection] = []
        for _ in 0..<300 {
            let client = try RawConnection(port: server.port, reads: false)
            await client.send("GET / HTTP/1.1\r\nHo")
            clients.append(client)
        }
        let began = ContinuousClock.now
        #expect(try await serves(server))
        #expect(ContinuousClock.now - began < .seconds(15))
        #expect(server.connectionCount >= 300)
    }

    @Test func connectionsOverTheLimitAreTold() async throws {
        let server = try limited { $0.connections = 3 }
        var clients: [RawConnection] = []
        for _ in 0..<3 { clients.append(try RawConnection(port: server.port)) }
        for client in clients {
            await client.send("GET /in HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(await client.receives("GET in"))
        }
        let answer = try await RawResponse.to("GET /out HTTP/1.1\r\nHost: h\r\n\r\n", port: server.port)
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] == "2")
        clients.removeLast().close()
        #expect(await eventually { (try? await serves(server)) == true })
    }

    @Test func bodiesTogetherAreBounded() async throws {
        let server = try limited {
            $0.largeBody = 50_000
            $0.bodies = 150_000
        }
        let first = try RawConnection(port: server.port)
        await first.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n")
        await first.send([UInt8](repeating: 1, count: 99_999))
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"
        let body = [UInt8](repeating: 1, count: 100_000)
        #expect(
            await eventually {
                (try? await RawResponse.to(Array(head.utf8) + body, port: server.port).status) == 503
            }
        )
        // It is said before the body comes, and small ones pass.
        let second = try RawConnection(port: server.port)
        await second.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n")
        let refusal = try await RawResponse.read(second)
        #expect(refusal.status == 503 && refusal.headers["retry-after"] == "2")
        let small = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
        #expect(try await RawResponse.to(small, port: server.port).status == 200)
        await first.send([1])
        #expect(try await RawResponse.read(first).status == 200)
        first.close()
        #expect(
            await eventually {
                (try? await RawResponse.to(Array(head.utf8) + body, port: server.port).status) == 200
            }
        )
    }

    @Test func portInUseIsNamed() async throws {
        let server = try echoServer()
        #expect(throws: HTTPServerError.portInUse(address: "127.0.0.1", port: server.port)) {
            _ = try HTTPServer(port: server.port) { _ in HTTPResponse(status: 200) }
        }
        #expect("\(HTTPServerError.portInUse(address: "127.0.0.1", port: 80))".contains("port 80"))
        #expect(throws: HTTPServerError.self) {
            _ = try HTTPServer(address: "300.1.1.1", port: 0) { _ in HTTPResponse(status: 200) }
        }
        #expect(throws: HTTPServerError.self) {
            _ = try HTTPServer(port: 70_000) { _ in HTTPResponse(status: 200) }
        }
    }
}

/// Random numbers that are the same in each run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
}
