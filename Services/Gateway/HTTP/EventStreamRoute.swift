internal import HTTPServer
internal import SessionStore
internal import Synchronization
internal import Telemetry
internal import Wire

/// `GET /v1/sessions/{id}/events`: a session's events as server-sent events, from where the client left off, for as
/// long as it stays.
///
/// The store is the queue. A follower reads a page, sends it, reads the next one, and when there is none it waits to be
/// woken: what a slow client has not taken yet costs one page of memory, not a copy of what it missed.
struct EventStreamRoute: Sendable {
    /// A page: what is read ahead of a client.
    static let pageBytes = 48 * 1024

    let sessions: any SessionAPI
    let access: HTTPAccess
    let streams: StreamLimit
    let heartbeat: Duration
    let log: Log

    /// Answers a request.
    func respond(to request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let session = try request.session
        let after = try EventStreamRoute.lastEventID(request)
        guard let place = streams.take() else {
            throw HTTPProblem(
                503,
                "too_many_streams",
                "\(streams.limit) event streams are open; that is the limit.",
                hint: "Close some, or try again in a moment.",
                headers: ["Retry-After": "2"]
            )
        }
        if request.method == "HEAD" {
            // Not followed: who asks only for the head is nobody whose leaving means anything.
            _ = try await HTTPProblem.of { () throws(GatewayError) in
                try await sessions.events(of: session, owner: request.user, after: after, maxBytes: 1)
            }
            return HTTPResponse(status: 200, headers: EventStreamRoute.headers, body: .stream { _ in })
        }
        let follower = try await HTTPProblem.of { () throws(GatewayError) in
            try await sessions.follow(session, owner: request.user)
        }
        let revision = access.revision
        return HTTPResponse(
            status: 200,
            headers: EventStreamRoute.headers,
            body: .stream { writer in
                await stream(follower, of: request, at: revision, after: after, to: writer)
                follower.stop()
                withExtendedLifetime(place) {}
            }
        )
    }

    private static let headers: HTTPHeaders = [
        "Content-Type": "text/event-stream; charset=utf-8",
        "Cache-Control": "no-cache, no-store",
        // nginx holds the stream back until it ends, unless it is told not to.
        "X-Accel-Buffering": "no",
    ]

    /// The number after which the client wants to go on; 0 for the start.
    static func lastEventID(_ request: HTTPRequest) throws(HTTPProblem) -> UInt64 {
        guard let text = request.headers["Last-Event-ID"], !text.isEmpty else { return 0 }
        guard text.utf8.allSatisfy({ 48...57 ~= $0 }), let number = UInt64(text) else {
            throw HTTPProblem(
                400,
                "invalid",
                "Last-Event-ID must be the number of an event, not \"\(text.prefix(40))\".",
                hint: "Send the last \"id:\" that you have got, or leave the header out to start at the first event."
            )
        }
        return number
    }

    private func stream(
        _ follower: Follower,
        of request: HTTPRequest,
        at revision: Int,
        after: UInt64,
        to writer: HTTPBodyWriter
    ) async {
        let pulse = Pulse()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in follower.changes { pulse.wake() }
                pulse.end()
            }
            group.addTask { [heartbeat] in
                while (try? await Task.sleep(for: heartbeat)) != nil { pulse.beat() }
            }
            do throws(HTTPClientLeft) {
                try await writer.write(Array("retry: 1000\n\n".utf8))
                try await send(
                    follower.session,
                    of: request,
                    at: revision,
                    after: after,
                    to: writer,
                    pulse: pulse
                )
            } catch {
                // The client has gone, and there is nobody to tell.
            }
            group.cancelAll()
        }
    }

    private func send(
        _ session: Identifier,
        of request: HTTPRequest,
        at start: Int,
        after: UInt64,
        to writer: HTTPBodyWriter,
        pulse: Pulse
    ) async throws(HTTPClientLeft) {
        var next = after
        var revision = start
        var isOver = false
        var wakeUps = pulse.stream.makeAsyncIterator()
        while true {
            // Whatever there is, page by page; after the last wake-up once more, since that may have come with events.
            while true {
                // Tokens may have been taken back since it was let in.
                let current = access.revision
                if current != revision {
                    guard access.isCurrent(request) else {
                        return try await writer.write(Array(": the token is not valid any more\n\n".utf8))
                    }
                    revision = current
                }
                let page: EventPage
                do throws(GatewayError) {
                    page = try await sessions.events(
                        of: session,
                        owner: request.user,
                        after: next,
                        maxBytes: EventStreamRoute.pageBytes
                    )
                } catch {
                    // The status has been sent. The client comes back by itself, and is told then what is wrong.
                    if !isOver { log.warning("an event stream ends", ["code": .text(error.code)]) }
                    return try await writer.write(Array(": \(error.code)\n\n".utf8))
                }
                let bytes = EventStreamRoute.encode(page)
                next = page.next
                if bytes.isEmpty { break }
                try await writer.write(bytes)
                pulse.noteWritten()
            }
            if isOver { break }
            isOver = await wakeUps.next() == nil
            if pulse.isHeartbeatDue() { try await writer.write(Array(": \n\n".utf8)) }
        }
        try await writer.write(Array(": the gateway is shutting down; come back\n\n".utf8))
    }

    /// The events of a page. A gap has no number: a client that reconnects asks with the one it had before.
    static func encode(_ page: EventPage) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(page.events.reduce(128) { $0 + $1.json.count + 64 })
        if let gap = page.gap {
            bytes += Array("event: gap\ndata: ".utf8)
            append(gap, to: &bytes)
        }
        for event in page.events {
            bytes += Array("id: \(event.seq)\nevent: ".utf8)
            bytes += event.type.utf8.lazy.filter { $0 != 10 && $0 != 13 }
            bytes += Array("\ndata: ".utf8)
            append(event.json, to: &bytes)
        }
        return bytes
    }

    /// A line break in the data would begin a field of its own. The store promises that there is none; since anybody
    /// could forge events if there were, it is looked at here all the same.
    private static func append(_ json: [UInt8], to bytes: inout [UInt8]) {
        if json.contains(10) || json.contains(13) {
            bytes += json.lazy.map { $0 == 10 || $0 == 13 ? 32 : $0 }
        } else {
            bytes += json
        }
        bytes += [10, 10]
    }
}

/// Why a follower wakes up: there is something to read, or it is time for a heartbeat. Signals that come while it is
/// busy are one.
private final class Pulse: Sendable {
    let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let isQuiet = Atomic(true)
    private let isDue = Atomic(false)

    init() { (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func wake() { continuation.yield() }
    func end() { continuation.finish() }
    func noteWritten() { isQuiet.store(false, ordering: .relaxed) }

    /// The time between heartbeats is over: one is due if nothing else was written in it.
    func beat() {
        guard isQuiet.exchange(true, ordering: .relaxed) else { return }
        isDue.store(true, ordering: .relaxed)
        continuation.yield()
    }

    func isHeartbeatDue() -> Bool { isDue.exchange(false, ordering: .relaxed) }
}

/// How many event streams may be open.
final class StreamLimit: Sendable {
    let limit: Int
    private let open = Atomic(0)

    init(_ limit: Int = 500) { self.limit = limit }

    /// How many are open.
    var count: Int { open.load(ordering: .relaxed) }

    /// A place that is given back when it is let go; nil when all are taken.
    func take() -> Place? {
        guard open.add(1, ordering: .relaxed).newValue <= limit else {
            open.subtract(1, ordering: .relaxed)
            return nil
        }
        return Place(of: self)
    }

    final class Place: Sendable {
        private let limit: StreamLimit
        fileprivate init(of limit: StreamLimit) { self.limit = limit }
        deinit { limit.open.subtract(1, ordering: .relaxed) }
    }
}
