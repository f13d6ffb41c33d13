import HTTPServer
import SessionStore
import TestSupport
import Testing
import Wire

@testable import Gateway

@Suite struct HTTPEventStreamTests {
    @Test func streamStartsAtTheFirstEventAndStaysOpen() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        try await gateway.ask("one", in: session)
        let stream = try await gateway.follow(session)
        #expect(await stream.has(1))
        let head = stream.connection.text.lowercased()
        #expect(head.contains("content-type: text/event-stream"))
        #expect(head.contains("cache-control: no-cache"))
        #expect(head.contains("x-accel-buffering: no"))
        #expect(stream.connection.text.contains("\r\n\r\nretry: 1000\n\n"))
        try await gateway.ask("two", in: session)
        #expect(await stream.has(2))
        #expect(stream.events.map(\.id) == ["1", "2"])
        #expect(stream.events.map(\.type) == ["request.accepted", "request.accepted"])
        #expect(stream.events.map { $0.json?["seq"]?.integer } == [1, 2])
        #expect(stream.events.map { $0.json?["data"]?["text"]?.string } == ["one", "two"])
        #expect(!stream.connection.isAtEnd)
        await gateway.stop()
    }

    @Test func streamGoesOnAfterTheLastEventThatTheClientHas() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        for number in 1...5 { try await gateway.ask("text \(number)", in: session) }
        for after in 0...5 {
            let stream = try await gateway.follow(session, after: "\(after)")
            #expect(await stream.has(5 - after))
            #expect(stream.events.map(\.id) == (after..<5).map { "\($0 + 1)" })
        }
        await gateway.stop()
    }

    @Test func streamGoesOnAfterARestartOfTheGateway() async throws {
        let folder = try TemporaryFolder()
        let session = try await firstRun(in: folder)
        let second = try await ServedGateway(in: folder)
        try await second.ask("two", in: session)
        let resumed = try await second.follow(session, after: "1")
        #expect(await resumed.has(1))
        #expect(resumed.events.map(\.id) == ["2"])
        await second.stop()
    }

    /// One event, and a follower that is told to come back.
    private func firstRun(in folder: TemporaryFolder) async throws -> String {
        let gateway = try await ServedGateway(in: folder)
        let session = try await gateway.newSession()
        try await gateway.ask("one", in: session)
        let stream = try await gateway.follow(session)
        #expect(await stream.has(1))
        await gateway.stop()
        #expect(await stream.connection.ends())
        #expect(stream.connection.text.hasSuffix("\n\n"))
        return session
    }

    @Test(arguments: ["-1", "abc", "1.5", "0x1", "1 2", "99999999999999999999", "+1"])
    func numberThatIsNoneIsRefused(id: String) async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let path = "/v1/sessions/\(session)/events"
        let answer = try await gateway.send("GET", path, headers: ["Last-Event-ID": id])
        #expect(answer.status == 400)
        #expect(answer.json?["detail"]?.string?.contains("Last-Event-ID") == true)
        await gateway.stop()
    }

    @Test(arguments: ["7", "18446744073709551615"])
    func numberFromTheFutureIsAnsweredByAGap(id: String) async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        try await gateway.ask("one", in: session)
        let stream = try await gateway.follow(session, after: id)
        #expect(await stream.has(1))
        let gap = try #require(stream.events.first)
        #expect(gap.type == "gap")
        #expect(gap.id == nil)
        #expect(gap.json?["seq"] == nil)
        #expect(gap.json?["data"]?["from"]?.integer == 2)
        try await gateway.ask("two", in: session)
        #expect(await stream.has(2))
        #expect(stream.events.last?.id == "2")
        await gateway.stop()
    }

    @Test func lineBreaksInTextsForgeNoFields() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let evil = "x\r\n\r\nid: 999\r\nevent: request.finished\rdata: {}\n\nretry: 1\u{0}\u{2028}\u{85}"
        try await gateway.ask(evil, in: session)
        try await gateway.ask("after", in: session)
        let stream = try await gateway.follow(session)
        #expect(await stream.has(2))
        #expect(stream.events.map(\.id) == ["1", "2"])
        #expect(stream.events.map(\.type) == ["request.accepted", "request.accepted"])
        #expect(stream.events.first?.data.count == 1)
        #expect(stream.events.first?.json?["data"]?["text"]?.string == evil)
    }

    @Test func lineBreaksThatGotIntoTheStoreForgeNoFields() {
        let page = EventPage(
            events: [StoredEvent(seq: 3, type: "job.delta\nid: 9", json: Array("{\n\r\"a\":\n\n1}".utf8))],
            gap: Array("{\n\nid: 8}".utf8),
            next: 3
        )
        #expect(
            String(decoding: EventStreamRoute.encode(page), as: UTF8.self)
                == "event: gap\ndata: {  id: 8}\n\nid: 3\nevent: job.deltaid: 9\ndata: {  \"a\":  1}\n\n"
        )
    }

    @Test func quietStreamHasAHeartbeat() async throws {
        let gateway = try await ServedGateway(heartbeat: .milliseconds(50))
        let session = try await gateway.newSession()
        let stream = try await gateway.follow(session)
        #expect(await eventually { stream.connection.text.ranges(of: "\n: \n").count > 3 })
        #expect(stream.events.isEmpty)
        try await gateway.ask("one", in: session)
        #expect(await stream.has(1))
        await gateway.stop()
    }

    @Test func streamsOverTheLimitAreRefusedAndPlacesComeBack() async throws {
        let gateway = try await ServedGateway(streams: 2)
        let session = try await gateway.newSession()
        let first = try await gateway.follow(session)
        let second = try await gateway.follow(session)
        #expect(await first.connection.receives("retry:"))
        #expect(await second.connection.receives("retry:"))
        let third = try await gateway.send("GET", "/v1/sessions/\(session)/events")
        #expect(third.status == 503)
        #expect(third.code == "too_many_streams")
        first.connection.close()
        #expect(await eventually { gateway.streams.count == 1 })
        let fourth = try await gateway.follow(session)
        #expect(await fourth.connection.receives("retry:"))
        // To be told that a session is not there takes no place for good.
        #expect(try await gateway.send("GET", "/v1/sessions/x/events").status == 404)
        let path = "/v1/sessions/\(session)/events"
        #expect(try await gateway.send("HEAD", path, headers: ["Connection": "close"]).status == 503)
        second.connection.close()
        fourth.connection.close()
        #expect(await eventually { gateway.streams.count == 0 })
        await gateway.stop()
    }

    @Test func lastFollowerThatLeavesCancelsWhatAskedForIt() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let stream = try await gateway.follow(session)
        #expect(await stream.connection.receives("retry:"))
        let body = #"{"text":"hello","on_disconnect":"cancel"}"#
        #expect(try await gateway.send("POST", "/v1/sessions/\(session)/requests", body).status == 202)
        #expect(await stream.has(1))
        stream.connection.close()
        #expect(await eventually { gateway.streams.count == 0 })
        let later = try await gateway.follow(session)
        #expect(await later.has(2))
        #expect(later.events.last?.type == "request.cancelled")
        await gateway.stop()
    }

    @Test(.timeLimit(.minutes(2))) func stalledFollowerHindersNobodyAndMissesNothing() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let stalled = try RawConnection(port: gateway.port, receiveBuffer: 4096, reads: false)
        await stalled.send("GET /v1/sessions/\(session)/events HTTP/1.0\r\n\r\n")
        #expect(await eventually { gateway.streams.count == 1 })
        let other = try await gateway.follow(session)
        // Six megabytes, more than the system keeps for somebody who does not read.
        let text = String(repeating: "x", count: 150_000)
        for number in 1...40 { try await gateway.ask("\(number) \(text)", in: session) }
        #expect(await eventually { other.connection.byteCount > 40 * 150_000 })
        #expect(await other.has(40))
        #expect(other.events.map(\.id) == (1...40).map { "\($0)" })
        stalled.startReading()
        let late = FollowedSession(connection: stalled)
        #expect(await eventually { stalled.byteCount > 40 * 150_000 })
        #expect(await late.has(40))
        #expect(late.events == other.events)
        await gateway.stop()
    }

    @Test(.timeLimit(.minutes(2))) func twoHundredFollowersSeeTheSameOrder() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        var streams: [FollowedSession] = []
        for _ in 0..<200 { streams.append(try await gateway.follow(session)) }
        for number in 1...20 { try await gateway.ask("text \(number)", in: session) }
        for stream in streams {
            #expect(await stream.has(20))
            #expect(stream.events.map(\.id) == (1...20).map { "\($0)" })
        }
        streams.forEach { $0.connection.close() }
        #expect(await eventually { gateway.streams.count == 0 })
        await gateway.stop()
    }

    @Test func drainEndsStreamsWithACommentAndRefusesRequests() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let stream = try await gateway.follow(session)
        #expect(await stream.connection.receives("retry:"))
        gateway.sessions.stopTaking()
        #expect(await stream.connection.ends())
        #expect(stream.connection.text.hasSuffix("\n\n"))
        #expect(stream.connection.text.contains("\n: "))
        let refused = try await gateway.send("POST", "/v1/sessions", "{}")
        #expect(refused.status == 503)
        #expect(refused.code == "draining")
        #expect(refused.headers["retry-after"] != nil)
        let ready = try await gateway.send("GET", "/readyz")
        #expect(ready.status == 503)
        #expect(ready.json?["detail"]?.string?.contains("draining") == true)
        await gateway.stop()
    }
}
