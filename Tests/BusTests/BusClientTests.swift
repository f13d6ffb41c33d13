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
            var disconnects = 0
            var bodies: [[UInt8]] = []
            var rejected: [WireError] = []
        }
        let seen = Mutex(Seen())
        let changes: AsyncStream<Void>
        private let change: AsyncStream<Void>.Continuation

        init() { (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }

        func connected() { note { $0.connects += 1 } }
        func disconnected() { note { $0.disconnects += 1 } }
        func received(_ message: consuming Incoming) {
            let body = message.body()
            note { $0.bodies.append(body) }
        }
        func rejected(_ error: WireError) { note { $0.rejected.append(error) } }
        func turn(now: UInt64) -> UInt64? { nil }

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
        try client.start(router.endpoint, context: context, user: user)
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
        let context = try Context()
        let client = try BusClient()
        try client.start("tcp://127.0.0.1:1", context: context, user: User())
        await client.close()
        #expect(throws: BusClient.Refusal.self) { try client.send(Outgoing(Header(.heartbeat))) }
    }

    @Test func anAddressThatIsNoneIsAnError() throws {
        let client = try BusClient()
        #expect(throws: BusError.self) {
            try client.start("nonsense", context: try Context(), user: User())
        }
    }
}

/// A ROUTER, on a thread of its own, that sends everything back to whoever sent it.
final class Echo: Sendable {
    let endpoint: String
    private let isOver = Atomic(false)

    init(_ context: Context) throws {
        let socketPath = "/tmp/skillbus-echo-\(UInt64.random(in: 0 ... .max)).sock"
        endpoint = "ipc://\(socketPath)"
        let endpoint = endpoint
        Thread.detachNewThread { [self] in
            guard let socket = try? Socket(.router, in: context), (try? socket.bind(endpoint)) != nil else { return }
            var poller = Poller()
            poller.add(socket)
            while !isOver.load(ordering: .relaxed) {
                try? poller.wait(milliseconds: 50)
                while var identity = try? socket.receive() {
                    guard let peer = identity.withBytes({ Peer(routingID: $0) }), let first = try? socket.receive()
                    else { break }
                    if let message = try? Incoming(first: first, from: socket) {
                        _ = try? message.forward(on: socket, to: peer)
                    }
                }
            }
        }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }
}
