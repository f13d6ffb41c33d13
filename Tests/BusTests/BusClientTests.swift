import Bus
import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

/// A client against a real ROUTER socket.
struct BusClientTests {
    /// Notes what happens, and answers everything that comes in.
    final class User: BusClientUser {
        struct Seen: Sendable {
            var connects = 0
            var links: [BusLink] = []
            var disconnects = 0
            var bodies: [[UInt8]] = []
            var rejected: [WireError] = []
            var turns = 0
        }
        let seen = Mutex(Seen())
        let changes: AsyncStream<Void>
        private let change: AsyncStream<Void>.Continuation

        init() { (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }

        func connected(_ link: BusLink) {
            note { seen in
                seen.connects += 1
                seen.links.append(link)
            }
        }
        func disconnected(_ link: BusLink) { note { $0.disconnects += 1 } }
        func received(_ message: consuming Incoming, from link: BusLink) {
            let body = message.body()
            note { $0.bodies.append(body) }
        }
        func rejected(_ error: WireError) { note { $0.rejected.append(error) } }
        func turn(now: UInt64) -> UInt64? {
            note { $0.turns += 1 }
            return nil
        }

        private func note(_ body: (inout Seen) -> Void) {
            seen.withLock { body(&$0) }
            change.yield()
        }

        func until(_ condition: @Sendable (Seen) -> Bool) async {
            if seen.withLock({ condition($0) }) { return }
            for await _ in changes where seen.withLock({ condition($0) }) { return }
        }
    }

    @Test(.timeLimit(.minutes(1))) func messagesGoBothWaysInOrderAndLargeOnesInTwoFrames() async throws {
        let context = try Context()
        let router = try Echo(context)
        let user = User()
        let client = try BusClient()
        try client.start(router.endpoint, user: user)
        await user.until { $0.connects == 1 }
        let sizes = [0, 1, 100, Limits.inlineBody, Limits.inlineBody + 1, 3_000_000]
        for (index, size) in sizes.enumerated() {
            let body = [UInt8](repeating: UInt8(index), count: size)
            try client.send(Outgoing(Header(.event, sequence: UInt64(index)), body: body))
        }
        await user.until { $0.bodies.count == sizes.count }
        #expect(user.seen.withLock { $0.bodies.map(\.count) } == sizes)
        #expect(user.seen.withLock { $0.bodies.map(\.first) } == [nil, 1, 2, 3, 4, 5])
        await client.close()
        router.stop()
    }

    @Test(.timeLimit(.minutes(1))) func aClosedClientTakesNothing() async throws {
        let client = try BusClient()
        try client.start("tcp://127.0.0.1:1", user: User())
        await client.close()
        #expect(throws: BusClient.Refusal.self) { try client.send(Outgoing(Header(.heartbeat))) }
    }

    @Test(.timeLimit(.minutes(1))) func aFullPipeIsNotAskedAgainAndAgain() async throws {
        let context = try Context()
        let endpoint = "ipc:///tmp/skillbus-deaf-\(UInt64.random(in: 0 ... .max)).sock"
        let deaf = try Deaf(endpoint, context)
        let user = User()
        let client = try BusClient(byteLimit: 1 << 30)
        try client.start(endpoint, user: user)
        await user.until { $0.connects == 1 }
        // More than both ends hold and the system's buffers between them.
        let body = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<60_000 { try client.send(Outgoing(Header(.event), body: body)) }
        // Until both ends are full the turns follow each other closely.
        var took: UInt64 = 0
        while took < 200, !Task.isCancelled {
            let before = user.seen.withLock { $0.turns }
            let start = Monotonic.milliseconds
            await user.until { $0.turns >= before + 50 }
            took = Monotonic.milliseconds - start
        }
        #expect(took >= 200, "fifty turns in \(took) ms")
        deaf.stop()
        await client.close()
    }

    @Test(.timeLimit(.minutes(1))) func whatThePeerWouldNotTakeIsRefusedHere() async throws {
        let context = try Context()
        let router = try Echo(context)
        let user = User()
        let client = try BusClient()
        try client.start(router.endpoint, user: user)
        await user.until { $0.connects == 1 }
        let large = [UInt8](repeating: 0, count: Limits.frame)
        let half = SharedFrame(Message(size: Limits.message / 2) { _ in })
        let small = SharedFrame(Message())
        for message in [
            Outgoing(Header(.submit), body: large),
            Outgoing(Header(.submit), attachments: [half, half]),
            Outgoing(Header(.submit), attachments: Array(repeating: small, count: Limits.frames)),
        ] {
            let refusal = #expect(throws: BusClient.Refusal.self) { try client.send(message) }
            guard case .tooLarge = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
        }
        try client.send(Outgoing(Header(.heartbeat)))
        await user.until { $0.bodies.count == 1 }
        #expect(user.seen.withLock { $0.disconnects } == 0)
        await client.close()
        router.stop()
    }

    @Test(.timeLimit(.minutes(1))) func anIPv6RouterIsReached() async throws {
        let context = try Context()
        let socket = try Socket(.router, in: context)
        // A machine without IPv6 has nothing to test.
        guard let endpoint = try? socket.bind("tcp://[::1]:*") else { return }
        let user = User()
        let client = try BusClient()
        try client.start(endpoint, user: user)
        await user.until { $0.connects == 1 }
        await client.close()
    }

    @Test(.timeLimit(.minutes(1))) func oneQuestionIsAnsweredOrNot() async throws {
        let context = try Context()
        let router = try Echo(context)
        // What is echoed is no answer, and nobody answers at the other place.
        #expect(await RouterQuestion.ask(Query(ask: .skills), at: router.endpoint, within: 1) == nil)
        router.stop()
        let answering = try Echo(context, as: .answer)
        #expect(await RouterQuestion.ask(Query(ask: .skills), at: answering.endpoint) == Array("yes".utf8))
        answering.stop()
    }

    @Test func anAddressThatIsNoneIsAnError() throws {
        let client = try BusClient()
        #expect(throws: BusError.self) {
            try client.start("nonsense", user: User())
        }
    }
}

/// A ROUTER, on a thread of its own, that sends everything back to whoever sent it, or "yes" as a type of message.
final class Echo: Sendable {
    let endpoint: String
    private let isOver = Atomic(false)

    init(_ context: Context, as type: MessageType? = nil) throws {
        let socketPath = "/tmp/skillbus-echo-\(UInt64.random(in: 0 ... .max)).sock"
        endpoint = "ipc://\(socketPath)"
        let endpoint = endpoint
        Thread.detachNewThread { [self] in
            guard let socket = try? Socket(.router, in: context), (try? socket.bind(endpoint)) != nil else { return }
            var poller = Poller()
            try? poller.add(socket)
            while !isOver.load(ordering: .relaxed) {
                try? poller.wait(milliseconds: 50)
                while var identity = try? socket.receive() {
                    guard let peer = identity.withBytes({ Peer(routingID: $0) }), let first = try? socket.receive()
                    else { break }
                    guard let message = try? Incoming(first: first, from: socket) else { continue }
                    if let type {
                        let answer = Outgoing(Header(type, sequence: message.header.sequence), body: Array("yes".utf8))
                        _ = try? answer.send(on: socket, to: peer)
                    } else {
                        _ = try? message.forward(on: socket, to: peer)
                    }
                }
            }
        }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }
}

/// A ROUTER that reads nothing.
final class Deaf: Sendable {
    private let isOver = DispatchSemaphore(value: 0)

    init(_ endpoint: String, _ context: Context) throws {
        Thread.detachNewThread { [self] in
            guard let socket = try? Socket(.router, in: context), (try? socket.bind(endpoint)) != nil else { return }
            isOver.wait()
            _ = socket
        }
    }

    func stop() { isOver.signal() }
}
