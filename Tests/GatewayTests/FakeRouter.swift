import Bus
import Lifecycle
import Synchronization
import TestSupport
import Testing
import Wire

/// A router of a test's own: it greets whoever says HELLO, keeps what it is sent, and sends what the test wants.
final class FakeRouter: Sendable {
    struct Received: Sendable {
        let header: Header
        let body: [UInt8]
        let attachments: [[UInt8]]
    }
    private struct State {
        var received: [Received] = []
        var waiting: [Outgoing] = []
        var peer: Peer?
        var isStopped = false
        var hasEnded = false
    }
    private let state = Mutex(State())
    private let wakeUp: WakeUp
    private let instance: Identifier
    private let skills: [String]?

    /// Binds and serves from a thread until ``stop()``. It says that it has workers for the skills.
    init(_ endpoint: String, instance: UInt64 = 1, skills: [String]? = nil) throws {
        self.skills = skills
        wakeUp = try WakeUp()
        self.instance = Identifier(high: instance, low: 0)
        let context = try Context()
        startThread(named: "fake router") { [self] in
            do throws(BusError) { try run(endpoint, context) } catch { Issue.record("\(error)") }
            state.withLock { $0.hasEnded = true }
        }
    }

    func stop() async {
        state.withLock { $0.isStopped = true }
        wakeUp.signal()
        #expect(await eventually { state.withLock { $0.hasEnded } })
    }

    func send(_ message: Outgoing) {
        state.withLock { $0.waiting.append(message) }
        wakeUp.signal()
    }

    func send(_ header: Header, _ records: (EventKind, String)...) {
        var writer = EventRecordWriter()
        for (kind, text) in records { writer.append(kind, text: text) }
        var header = header
        header.value = writer.count
        if records.last?.0.isTerminal ?? false { header.flags.insert(.terminal) }
        send(Outgoing(header, body: writer.bytes))
    }

    func all(_ type: MessageType) -> [Received] {
        state.withLock { $0.received.filter { $0.header.type == type } }
    }

    /// Waits for the n-th message of a type.
    func next(_ type: MessageType, number: Int = 1) async throws -> Received {
        #expect(await eventually { all(type).count >= number }, "no \(type) number \(number)")
        return try #require(all(type).dropFirst(number - 1).first)
    }

    private func run(_ endpoint: String, _ context: Context) throws(BusError) {
        let socket = try Socket(.router, in: context)
        _ = try socket.bind(endpoint)
        var poller = Poller()
        try poller.add(socket)
        poller.add(wakeUp)
        while !state.withLock({ $0.isStopped }) {
            try poller.wait(milliseconds: 1000)
            wakeUp.clear()
            while var first = try socket.receive() {
                guard let peer = first.withBytes({ Peer(routingID: $0) }), let frame = try socket.receive() else {
                    continue
                }
                guard var message = try? Incoming(first: frame, from: socket) else { continue }
                let received = Received(
                    header: message.header,
                    body: message.body(),
                    attachments: message.attachments.map { $0.bytes() }
                )
                state.withLock { state in
                    state.received.append(received)
                    state.peer = peer
                }
                if received.header.type == .hello {
                    var welcome = Welcome(router: instance, heartbeat: 200, liveness: 5, product: "test")
                    welcome.skills = skills
                    let answer = Outgoing(Header(.welcome), body: (try? JSONBody.encode(welcome)) ?? [])
                    _ = try answer.send(on: socket, to: peer)
                } else if received.header.type == .heartbeat {
                    _ = try Outgoing(Header(.heartbeat)).send(on: socket, to: peer)
                }
            }
            let (waiting, peer) = state.withLock { state in
                defer { if state.peer != nil { state.waiting = [] } }
                return (state.waiting, state.peer)
            }
            guard let peer else { continue }
            for message in waiting { _ = try message.send(on: socket, to: peer) }
        }
    }
}
