import Synchronization
import TestSupport
import Testing
import Wire

@testable import SessionClient

/// A gateway that is nothing but an event stream: each connection gets its script.
private func server(
    _ scripts: [@Sendable (ScriptedServer.Request, ScriptedServer.Connection) -> Void]
) throws -> ScriptedServer {
    let next = Mutex(0)
    return try ScriptedServer { request, connection in
        let index = next.withLock { next in
            defer { next += 1 }
            return next
        }
        if index < scripts.count { scripts[index](request, connection) } else { connection.waitForClose() }
    }
}

private func frame(_ seq: Int, _ type: String = "job.delta") -> String {
    let event = sessionEvent(UInt64(seq), type, step: "s1", skill: "a", attempt: 1, ["text": .string("第\(seq)")])
    let json = String(decoding: (try? JSONBody.encode(event)) ?? [], as: UTF8.self)
    return "id: \(seq)\nevent: \(type)\ndata: \(json)\n\n"
}

private func collect(
    _ server: ScriptedServer,
    after: UInt64? = nil,
    patience: Duration? = .seconds(20),
    until last: UInt64
) async throws -> [EventStream.Update] {
    let client = try GatewayClient(url: server.url)
    var updates: [EventStream.Update] = []
    for try await update in client.events(of: "s", after: after, patience: patience) {
        updates.append(update)
        if case .event(let event) = update, event.seq == last { break }
    }
    return updates
}

private func sequence(_ updates: [EventStream.Update]) -> [UInt64?] {
    updates.compactMap { update in
        if case .event(let event) = update { .some(event.seq) } else { nil }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EventStreamTests {
    @Test("After a break each event still comes exactly once, from the last number on")
    func resumes() async throws {
        let server = try server([
            { _, connection in
                connection.startStream()
                connection.send("retry: 20\n\n" + frame(1) + frame(2))
                // Cut in the middle of an event, within a character.
                connection.send(Array(Array(frame(3).utf8).dropLast(8)))
            },
            { _, connection in
                connection.startStream()
                connection.send(frame(2) + frame(3) + frame(4))
                connection.waitForClose()
            },
        ])
        let updates = try await collect(server, until: 4)
        #expect(sequence(updates) == [1, 2, 3, 4])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "2"])
        #expect(updates.filter { if case .disconnected = $0 { true } else { false } }.count == 1)
    }

    @Test("A connection that dropped before any new event resumes from the same number")
    func remembers() async throws {
        let server = try server([
            { _, connection in
                connection.startStream()
                connection.send("retry: 10\n\n")
            },
            { _, connection in connection.startStream() },
            { _, _ in },
            { _, connection in connection.answer(503, headers: ["Retry-After: 0"]) },
            { _, connection in
                connection.startStream()
                connection.send(frame(42))
                connection.waitForClose()
            },
        ])
        let updates = try await collect(server, after: 41, until: 42)
        #expect(sequence(updates) == [42])
        #expect(server.requests.map { $0.headers["last-event-id"] } == ["41", "41", "41", "41", "41"])
    }

    @Test("A hole is asked for again, then reported as a gap; a gap of the gateway is passed on")
    func gaps() async throws {
        let gap =
            "event: gap\ndata: {\"type\":\"gap\",\"session\":\"s\",\"time\":\"t\",\"data\":{\"from\":1,\"to\":4}}\n\n"
        let server = try server([
            { _, connection in
                connection.startStream()
                connection.send("retry: 10\n\n" + gap + frame(5) + frame(8))
                connection.waitForClose()
            },
            { _, connection in
                connection.startStream()
                connection.send(frame(8) + frame(9))
                connection.waitForClose()
            },
        ])
        let updates = try await collect(server, until: 9)
        #expect(sequence(updates) == [nil, 5, nil, 8, 9])
        #expect(server.requests.map { $0.headers["last-event-id"] } == [nil, "5"])
    }

    @Test("What cannot get better ends the stream with what the gateway said")
    func refused() async throws {
        let server = try server([
            { _, connection in
                connection.answer(
                    404,
                    #"{"title":"Not found","status":404,"code":"session_not_found","detail":"There is no session s."}"#,
                    type: "application/problem+json"
                )
            }
        ])
        let error = await #expect(throws: ClientError.self) { try await collect(server, until: 1) }
        let problem = Problem(
            status: 404,
            code: "session_not_found",
            title: "Not found",
            detail: "There is no session s."
        )
        #expect(error == .problem(problem))
    }

    @Test("Something else that answers is named as such")
    func notAGateway() async throws {
        let server = try server([{ _, connection in connection.answer(200, "<html>", type: "text/html") }])
        let error = await #expect(throws: ClientError.self) { try await collect(server, until: 1) }
        guard case .badResponse = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Without a gateway it ends once patience does")
    func unreachable() async throws {
        let free = try ScriptedServer { _, _ in }.url
        let client = try GatewayClient(url: free)
        var losses = 0
        do throws(ClientError) {
            for try await update in client.events(of: "s", patience: .zero) {
                if case .disconnected = update { losses += 1 }
            }
            Issue.record("the stream ended without an error")
        } catch {
            guard case .unreachable(let url, _) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(url == free)
        }
        #expect(losses == 0)
    }

    @Test("Cancelling the task closes the connection at once, also when nothing comes")
    func cancels() async throws {
        let isClosed = Mutex(false)
        let server = try ScriptedServer { _, connection in
            connection.startStream()
            connection.send(": hello\n\n")
            connection.waitForClose()
            isClosed.withLock { $0 = true }
        }
        let client = try GatewayClient(url: server.url)
        let (connected, connection) = AsyncStream<Void>.makeStream()
        let task = Task {
            for try await update in client.events(of: "s") where update == .connected { connection.yield() }
        }
        var iterator = connected.makeAsyncIterator()
        await iterator.next()
        let begin = ContinuousClock.now
        task.cancel()
        try await task.value
        #expect(await eventually { isClosed.withLock { $0 } })
        #expect(ContinuousClock.now - begin < .seconds(10))
    }

    @Test("A reader that is slow holds the sender up, and loses nothing")
    func backPressure() async throws {
        let count = 300
        let padding = String(repeating: "x", count: 40_000)
        let sent = Mutex(0)
        let server = try ScriptedServer { _, connection in
            connection.startStream()
            for seq in 1...count {
                connection.send(": \(padding)\n" + frame(seq))
                sent.withLock { $0 = seq }
            }
            connection.waitForClose()
        }
        let client = try GatewayClient(url: server.url)
        var events = client.events(of: "s").makeAsyncIterator()
        #expect(try await events.next() == .connected)
        // What is on its way fills the buffers of both ends and no more: all events are 12 MB.
        var before = -1
        _ = await eventually(within: .seconds(5)) {
            let now = sent.withLock { $0 }
            defer { before = now }
            return now == before && now > 0
        }
        #expect(sent.withLock { $0 } < count)
        var seen: UInt64 = 0
        while seen < UInt64(count), case .event(let event)? = try await events.next() {
            #expect(event.seq == seen + 1)
            seen = event.seq ?? 0
        }
        #expect(seen == UInt64(count))
    }
}
