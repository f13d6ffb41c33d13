import HTTPServer
import SessionStore
import Telemetry
import TestSupport
import Testing
import Wire

@testable import Gateway

/// A gateway in this process: real store, real sessions, real sockets, and no router.
final class ServedGateway: Sendable {
    let folder: TemporaryFolder
    let sessions: SessionService
    let streams: StreamLimit
    let server: HTTPServer

    init(
        address: String = "127.0.0.1",
        tokens: TokenGate? = nil,
        origins: [String] = [],
        streams: Int = 500,
        heartbeat: Duration = .seconds(15),
        in folder: TemporaryFolder? = nil
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let log = Log(service: "gateway", level: .error)
        let store = try SQLiteSessionStore(folder: folder.path)
        sessions = try SessionService(store: store, name: "test", log: log)
        try await sessions.restore()
        // Nobody listens there.
        try sessions.connect(["ipc://\(folder.path)/router"])
        self.streams = StreamLimit(streams)
        let routes = GatewayRoutes(
            sessions: sessions,
            access: HTTPAccess(address: address, tokens: tokens, origins: origins),
            log: log,
            streams: self.streams,
            heartbeat: heartbeat
        )
        server = try HTTPServer(port: 0, limits: GatewayRoutes.limits()) { await routes.respond(to: $0) }
    }

    func stop() async {
        sessions.stopTaking()
        await server.stop(within: .seconds(10))
        await sessions.close()
    }

    var port: Int { server.port }

    func send(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> RawResponse {
        try await send(method, path, bytes: body.map { Array($0.utf8) }, headers: headers)
    }

    func send(
        _ method: String,
        _ path: String,
        bytes body: [UInt8]?,
        headers: [String: String] = [:]
    ) async throws -> RawResponse {
        var fields = ["Host": "127.0.0.1:\(port)"]
        if let body {
            fields["Content-Type"] = "application/json"
            fields["Content-Length"] = "\(body.count)"
        }
        fields.merge(headers) { $1 }
        let head = "\(method) \(path) HTTP/1.1\r\n" + fields.map { "\($0.key): \($0.value)\r\n" }.joined() + "\r\n"
        return try await RawResponse.to(Array(head.utf8) + (body ?? []), port: port)
    }

    func newSession() async throws -> String {
        let answer = try await send("POST", "/v1/sessions", "{}")
        return answer.json?["id"]?.string ?? "no session: \(answer.text)"
    }

    @discardableResult
    func ask(_ text: String, in session: String) async throws -> String {
        let body = try JSONBody.encode(JSONValue.object(["text": .string(text)]))
        let answer = try await send("POST", "/v1/sessions/\(session)/requests", bytes: body)
        return answer.json?["id"]?.string ?? "no request: \(answer.text)"
    }

    /// Opens an event stream.
    func follow(_ session: String, after: String? = nil, receiveBuffer: Int32? = nil) async throws -> FollowedSession {
        let connection = try RawConnection(port: port, receiveBuffer: receiveBuffer)
        let last = after.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        // HTTP/1.0 so that no chunk frames stand between the lines.
        await connection.send("GET /v1/sessions/\(session)/events HTTP/1.0\r\n\(last)\r\n")
        return FollowedSession(connection: connection)
    }
}

/// What came on an event stream so far.
struct FollowedSession: Sendable {
    struct Event: Equatable {
        var id: String?
        var type: String
        var data: [String]
        var json: JSONValue? { try? JSONBody.decode(JSONValue.self, from: Array(data.joined().utf8)) }
    }
    let connection: RawConnection

    /// The events as the algorithm of the standard reads them: CR, LF and both together end a line.
    var events: [Event] {
        let bytes = connection.bytes
        guard let response = RawResponse(bytes) else { return [] }
        var events: [Event] = []
        var event = Event(type: "message", data: [])
        var isAfterCarriageReturn = false
        for line in response.body.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 10 || $0 == 13 }) {
            // The empty line between CR and LF is none.
            let isBetween = isAfterCarriageReturn && line.isEmpty && response.body[safe: line.startIndex] == 10
            isAfterCarriageReturn = response.body[safe: line.endIndex] == 13
            if isBetween { continue }
            let text = String(decoding: line, as: UTF8.self)
            if text.isEmpty {
                if !event.data.isEmpty { events.append(event) }
                event = Event(type: "message", data: [])
            } else if text.hasPrefix("id: ") {
                event.id = String(text.dropFirst(4))
            } else if text.hasPrefix("event: ") {
                event.type = String(text.dropFirst(7))
            } else if text.hasPrefix("data: ") {
                event.data.append(String(text.dropFirst(6)))
            }
        }
        return events
    }

    func has(_ count: Int, within limit: Duration = .seconds(20)) async -> Bool {
        let has = await eventually(within: limit) { events.count >= count }
        if !has {
            let end = connection.isAtEnd ? "and its end" : "and no end"
            Issue.record("\(events.count) of \(count) events \(end): \(connection.text.suffix(500))")
        }
        return has
    }
}

extension RawResponse {
    var json: JSONValue? { try? JSONBody.decode(JSONValue.self, from: body) }
    var code: String? { json?["code"]?.string }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
