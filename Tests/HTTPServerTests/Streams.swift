import HTTPServer
import Synchronization
import TestSupport
import Testing

/// What producers of streams did, seen from outside.
private final class Record: Sendable {
    let written = Atomic(0)
    let ended = Atomic(0)
    let running = Atomic(0)
}

@Suite struct Streams {
    private static let get = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n"

    /// A server whose stream writes numbers, one each time the ticker ticks, and a last word when it is cancelled.
    private func server(ticks: Ticker, record: Record) throws -> HTTPServer {
        try HTTPServer(port: 0) { _ in
            HTTPResponse(
                status: 200,
                headers: ["Content-Type": "text/event-stream"],
                body: .stream { writer in
                    record.running.add(1, ordering: .relaxed)
                    let mine = ticks.listen()
                    for await number in mine {
                        do throws(HTTPClientLeft) { try await writer.write(Array("data: \(number)\n\n".utf8)) } catch {
                            break
                        }
                    }
                    try? await writer.write(Array(": bye\n\n".utf8))
                    record.ended.add(1, ordering: .relaxed)
                }
            )
        }
    }

    @Test(.timeLimit(.minutes(2))) func twoHundredClientsGetEverything() async throws {
        let ticks = Ticker()
        let record = Record()
        let server = try server(ticks: ticks, record: record)
        var clients: [RawConnection] = []
        for _ in 0..<200 {
            let client = try RawConnection(port: server.port)
            await client.send(Streams.get)
            clients.append(client)
        }
        #expect(await eventually { ticks.count == 200 })
        for _ in 0..<20 { ticks.tick() }
        for client in clients { #expect(await client.receives("data: 20\n\n")) }
        for client in clients {
            let numbers = client.text.split(separator: "data: ").dropFirst().compactMap {
                Int($0.prefix { $0.isNumber })
            }
            #expect(numbers == Array(1...20))
        }
        clients.forEach { $0.close() }
        // Nothing is written meanwhile: that they left is seen without it.
        #expect(await eventually { record.ended.load(ordering: .relaxed) == 200 })
        #expect(await eventually { server.connectionCount == 0 })
    }

    @Test func clientsThatLeaveQuietStreamsAreLetGoAtOnce() async throws {
        let ticks = Ticker()
        let record = Record()
        let server = try server(ticks: ticks, record: record)
        for _ in 0..<3 {
            var clients: [RawConnection] = []
            let before = ticks.count
            for _ in 0..<20 {
                let client = try RawConnection(port: server.port)
                await client.send(Streams.get)
                clients.append(client)
            }
            #expect(await eventually { ticks.count == before + 20 })
            ticks.tick()
            for client in clients { #expect(await client.receives("\n\n")) }
            clients.forEach { $0.close() }
            // The library's idle time would be a minute.
            #expect(await eventually(within: .seconds(5)) { server.connectionCount == 0 })
        }
    }

    @Test func clientThatLeavesIsNoticedThoughNothingIsWritten() async throws {
        let ticks = Ticker()
        let record = Record()
        let server = try server(ticks: ticks, record: record)
        let client = try RawConnection(port: server.port)
        await client.send(Streams.get)
        #expect(await eventually { ticks.count == 1 })
        client.close()
        #expect(await eventually(within: .seconds(15)) { record.ended.load(ordering: .relaxed) == 1 })
    }

    @Test(.timeLimit(.minutes(2))) func stalledClientStopsItsProducerAndNobodyElse() async throws {
        let record = Record()
        let server = try HTTPServer(port: 0) { request in
            let isStalled = request.path == "/stalled"
            return HTTPResponse(
                status: 200,
                body: .stream { writer in
                    for _ in 0..<2000 {
                        do throws(HTTPClientLeft) {
                            try await writer.write([UInt8](repeating: 97, count: 10_000))
                        } catch { break }
                        if isStalled { record.written.add(10_000, ordering: .relaxed) }
                    }
                    record.ended.add(1, ordering: .relaxed)
                }
            )
        }
        let stalled = try RawConnection(port: server.port, receiveBuffer: 4096, reads: false)
        await stalled.send("GET /stalled HTTP/1.1\r\nHost: h\r\n\r\n")
        let other = try RawConnection(port: server.port)
        await other.send("GET /other HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(await other.ends())
        #expect(other.byteCount > 20_000_000)
        // The stalled one's producer waits: what it wrote lies in the system's buffers and in at most 64 KiB of ours.
        #expect(
            await eventually {
                let before = record.written.load(ordering: .relaxed)
                try? await Task.sleep(for: .milliseconds(200))
                return before > 0 && before == record.written.load(ordering: .relaxed)
            }
        )
        #expect(record.written.load(ordering: .relaxed) < 8_000_000)
        #expect(record.ended.load(ordering: .relaxed) == 1)
        // When it reads on, it gets all of it.
        stalled.startReading()
        #expect(await eventually { record.ended.load(ordering: .relaxed) == 2 })
        #expect(await eventually { stalled.byteCount > 20_000_000 })
    }

    @Test func oldClientsGetTheStreamWithoutChunks() async throws {
        let server = try HTTPServer(port: 0) { _ in
            HTTPResponse(status: 200, body: .stream { try? await $0.write(Array("plain".utf8)) })
        }
        let answer = try await RawResponse.to("GET / HTTP/1.0\r\n\r\n", port: server.port)
        #expect(answer.text == "plain")
        let chunked = try RawConnection(port: server.port)
        await chunked.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(await chunked.receives("5\r\nplain\r\n0\r\n\r\n"))
        // And the connection is good for another request.
        await chunked.send("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        #expect(await chunked.ends())
        #expect(chunked.text.hasSuffix("\r\n\r\n"))
    }

    @Test func nothingFollowsTheHeadersInAnswerToHead() async throws {
        let server = try HTTPServer(port: 0) { _ in
            HTTPResponse(status: 200, body: .stream { try? await $0.write(Array("plain".utf8)) })
        }
        let client = try RawConnection(port: server.port)
        await client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(await client.ends())
        // Else it would be the start of the next answer.
        #expect(try await RawResponse.read(client).body.isEmpty)
        #expect(client.text.lowercased().contains("connection: close"))
    }

    @Test(arguments: [false, true]) func stoppingDoesNotWaitForAClientThatTakesNothing(hasLeft: Bool) async throws {
        let record = Record()
        let server = try HTTPServer(port: 0) { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    while (try? await writer.write([UInt8](repeating: 97, count: 10_000))) != nil {
                        record.written.add(10_000, ordering: .relaxed)
                    }
                }
            )
        }
        let stalled = try RawConnection(port: server.port, receiveBuffer: 4096, reads: false)
        await stalled.send(Streams.get)
        #expect(
            await eventually {
                let before = record.written.load(ordering: .relaxed)
                try? await Task.sleep(for: .milliseconds(200))
                return before > 0 && before == record.written.load(ordering: .relaxed)
            }
        )
        if hasLeft { stalled.closeWriting() }
        let began = ContinuousClock.now
        await server.stop(within: .seconds(30))
        #expect(ContinuousClock.now - began < .seconds(15))
    }

    @Test func stoppingLetsAnswersAndStreamsEnd() async throws {
        let ticks = Ticker()
        let record = Record()
        let gate = Gate()
        let server = try HTTPServer(port: 0) { request in
            if request.path == "/slow" {
                record.running.add(1, ordering: .relaxed)
                await gate.wait()
                return HTTPResponse(status: 200, body: .bytes(Array("slow answer".utf8)))
            }
            return HTTPResponse(
                status: 200,
                body: .stream { writer in
                    for await _ in ticks.listen() {}
                    try? await writer.write(Array(": bye\n\n".utf8))
                }
            )
        }
        let stream = try RawConnection(port: server.port)
        await stream.send(Streams.get)
        let slow = try RawConnection(port: server.port)
        await slow.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        let idle = try RawConnection(port: server.port)
        #expect(await eventually { ticks.count == 1 && record.running.load(ordering: .relaxed) == 1 })
        let stopping = Task { await server.stop(within: .seconds(20)) }
        #expect(await stream.receives(": bye\n\n"))
        #expect(await stream.ends())
        #expect(await idle.ends())
        #expect(throws: SpawnError.self) { _ = try RawConnection(port: server.port) }
        gate.open()
        #expect(await slow.receives("slow answer"))
        #expect(slow.text.contains("Connection: close"))
        await stopping.value
        #expect(await slow.ends())
        #expect(server.connectionCount == 0)
    }

    @Test func stoppingCutsOffWhatDoesNotEnd() async throws {
        let gate = Gate()
        let entered = Atomic(0)
        let server = try HTTPServer(port: 0) { _ in
            entered.add(1, ordering: .relaxed)
            await gate.wait()
            return HTTPResponse(status: 200)
        }
        let client = try RawConnection(port: server.port)
        await client.send(Streams.get)
        #expect(await eventually { entered.load(ordering: .relaxed) == 1 })
        await server.stop(within: .milliseconds(200))
        #expect(await client.ends())
        #expect(client.text.isEmpty)
        // Late, and to nobody: no harm.
        gate.open()
        // The port is free again.
        _ = try HTTPServer(port: server.port) { _ in HTTPResponse(status: 200) }
    }

    @Test func stoppedServerLetsGoOfEverything() async throws {
        let ticks = Ticker()
        weak let seen: Record?
        do {
            let record = Record()
            seen = record
            let server = try server(ticks: ticks, record: record)
            let client = try RawConnection(port: server.port)
            await client.send(Streams.get)
            let half = try RawConnection(port: server.port)
            await half.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
            #expect(await eventually { ticks.count == 1 })
            client.close()
            let other = try RawConnection(port: server.port)
            await other.send(Streams.get)
            #expect(await eventually { ticks.count == 2 })
            await server.stop(within: .milliseconds(500))
        }
        #expect(await eventually(within: .seconds(5)) { seen == nil })
    }

    @Test func serverThatIsLetGoStops() async throws {
        let ticks = Ticker()
        let record = Record()
        var server: HTTPServer? = try server(ticks: ticks, record: record)
        let client = try RawConnection(port: server?.port ?? 0)
        await client.send(Streams.get)
        #expect(await eventually { ticks.count == 1 })
        server = nil
        #expect(await client.ends())
        #expect(await eventually { record.ended.load(ordering: .relaxed) == 1 })
    }
}

/// Numbers for everybody who listens.
private final class Ticker: Sendable {
    private struct State {
        var number = 0
        var listeners: [AsyncStream<Int>.Continuation] = []
    }
    private let state = Mutex(State())
    var count: Int { state.withLock { $0.listeners.count } }

    func listen() -> AsyncStream<Int> {
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }

    func tick() {
        state.withLock { state in
            state.number += 1
            state.listeners.forEach { $0.yield(state.number) }
        }
    }
}

/// Closed until it is opened.
private final class Gate: Sendable {
    private let opened = AsyncStream<Void>.makeStream()
    func wait() async { for await _ in opened.stream {} }
    func open() { opened.continuation.finish() }
}
