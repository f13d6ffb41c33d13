import Glibc
import Synchronization
import TestSupport
import Wire

/// A gateway with one session whose requests all go the way of a script.
final class FakeGateway: Sendable {
    enum Step: Sendable {
        case event(String, step: String? = nil, skill: String? = nil, attempt: UInt32? = nil, JSONValue = [:])
        /// Nothing more until the request is cancelled, which ends it.
        case untilCancelled
        /// Closes every stream; the client has to come back.
        case breakConnection
    }

    fileprivate struct State {
        var events: [SessionEvent] = []
        var requests = 0
        var cancelled: Set<String> = []
        var connection = 0
    }
    fileprivate final class Shared: Sendable {
        fileprivate let state = Mutex(State())
        let script: [Step]
        /// The way of requests that name their skill.
        let named: [Step]
        /// JSON of what was said before.
        let summary: String?
        init(_ script: [Step], named: [Step], summary: String?) {
            self.script = script
            self.named = named
            self.summary = summary
        }
    }
    private let shared: Shared
    private let server: ScriptedServer
    static let session = "0193a5b0-0000-7000-8000-000000000000"

    init(_ script: [Step], named: [Step]? = nil, summary: String? = nil) throws {
        let shared = Shared(script, named: named ?? script, summary: summary)
        self.shared = shared
        server = try ScriptedServer { request, connection in shared.serve(request, connection) }
    }

    var url: String { server.url }
    var requests: [ScriptedServer.Request] { server.requests }
    var cancelled: Set<String> { shared.state.withLock { $0.cancelled } }
    /// The JSON of the request that was made last.
    var submitted: JSONValue? {
        let last = requests.last { $0.method == "POST" && $0.path.hasSuffix("/requests") }
        return last.flatMap { try? JSONBody.decode(JSONValue.self, from: $0.body) }
    }
}

extension FakeGateway.Shared {
    fileprivate func serve(_ request: ScriptedServer.Request, _ connection: ScriptedServer.Connection) {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (request.method, parts.count) {
        case ("POST", 2): connection.answer(201, #"{"id":"\#(FakeGateway.session)"}"#)
        case ("POST", 4):
            let id = state.withLock { state in
                state.requests += 1
                return "r\(state.requests)"
            }
            let body = try? JSONBody.decode(JSONValue.self, from: request.body)
            let text = body?["text"] ?? ""
            connection.answer(202, #"{"id":"\#(id)","session":"\#(FakeGateway.session)"}"#)
            add(id, .event("request.accepted", ["text": text]))
            for step in body?["skill"] == nil ? script : named { add(id, step) }
        case ("DELETE", 5):
            _ = state.withLock { $0.cancelled.insert(parts[4]) }
            connection.answer(202, #"{"state":"cancelling"}"#)
        case ("GET", 4):
            connection.startStream()
            stream(connection, after: Int(request.headers["last-event-id"] ?? "0") ?? 0)
        case ("GET", 3) where parts[2] == FakeGateway.session: snapshot(connection)
        default:
            connection.answer(
                404,
                #"{"title":"Not found","status":404,"code":"session_not_found","detail":"There is no such session."}"#
            )
        }
    }

    private func add(_ request: String, _ step: FakeGateway.Step) {
        switch step {
        case .event(let type, let step, let skill, let attempt, let data):
            state.withLock { state in
                state.events.append(
                    SessionEvent(
                        seq: UInt64(state.events.count + 1),
                        time: "2026-11-30T08:00:00.000Z",
                        session: FakeGateway.session,
                        request: request,
                        job: step.map { "\(request)-\($0)" },
                        step: step,
                        skill: skill,
                        attempt: attempt,
                        type: type,
                        data: data
                    )
                )
            }
        case .untilCancelled:
            while !state.withLock({ $0.cancelled.contains(request) }) { usleep(2000) }
            add(request, .event("request.cancelled", ["reason": "user"]))
        case .breakConnection: state.withLock { $0.connection += 1 }
        }
    }

    private func stream(_ connection: ScriptedServer.Connection, after last: Int) {
        var next = last
        let generation = state.withLock { $0.connection }
        connection.send("retry: 20\n\n")
        while true {
            let (events, isOver) = state.withLock { state in
                (Array(state.events.dropFirst(next)), state.connection != generation)
            }
            for event in events {
                let json = String(decoding: (try? JSONBody.encode(event)) ?? [], as: UTF8.self)
                guard connection.send("id: \(event.seq ?? 0)\nevent: \(event.type)\ndata: \(json)\n\n") else { return }
                next += 1
            }
            if isOver { return }
            // A comment tells whether the client is still there.
            guard !events.isEmpty || connection.send(":\n") else { return }
            usleep(2000)
        }
    }

    private func snapshot(_ connection: ScriptedServer.Connection) {
        let (seq, running) = state.withLock { state in
            let over = Set(state.events.filter(\.isTerminal).compactMap(\.request))
            let running = Set(state.events.compactMap(\.request)).subtracting(over).sorted()
            return (state.events.count, running)
        }
        let list = running.map { #"{"request":"\#($0)","text":"x","steps":[]}"# }.joined(separator: ",")
        let before = summary.map { #""summary":\#($0),"# } ?? ""
        let body = #""seq":\#(seq),\#(before)"messages":[],"running":[\#(list)]}"#
        connection.answer(200, #"{"id":"\#(FakeGateway.session)",\#(body)"#)
    }
}

/// The events of a request that one skill answers with the given pieces.
func single(_ skill: String, _ pieces: [String]) -> [FakeGateway.Step] {
    [plan([(skill, [])])] + job("s1", skill, pieces)
        + [.event("request.finished", ["output": ["text": .string(pieces.joined()), "parts": []]])]
}

func plan(_ steps: [(skill: String, after: [String])]) -> FakeGateway.Step {
    let list = steps.enumerated().map { index, step -> JSONValue in
        [
            "id": .string("s\(index + 1)"), "skill": .string(step.skill), "arguments": [:],
            "after": .array(step.after.map { .string($0) }),
        ]
    }
    let isChain = steps.contains { !$0.after.isEmpty }
    return .event(
        "request.plan",
        ["mode": steps.count == 1 ? "single" : isChain ? "chain" : "parallel", "steps": .array(list)]
    )
}

func job(_ step: String, _ skill: String, _ pieces: [String], attempt: UInt32 = 1) -> [FakeGateway.Step] {
    started(step, skill, pieces, attempt: attempt) + [
        .event(
            "job.finished",
            step: step,
            skill: skill,
            attempt: attempt,
            ["output": ["text": .string(pieces.joined()), "parts": []], "engine": "offline", "milliseconds": 3]
        )
    ]
}

func started(_ step: String, _ skill: String, _ pieces: [String], attempt: UInt32 = 1) -> [FakeGateway.Step] {
    [.event("job.started", step: step, skill: skill, attempt: attempt, ["worker": "w", "engine": "offline"])]
        + pieces.map { .event("job.delta", step: step, skill: skill, attempt: attempt, ["text": .string($0)]) }
}
