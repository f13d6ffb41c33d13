import Credentials
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Bus

/// Who gets in at a socket with keys, and that nobody does when nobody is there to say so.
struct AuthenticatorTests {
    final class User: BusClientUser {
        let state = Mutex((connects: 0, refusals: 0))
        var connects: Int { state.withLock { $0.connects } }
        var refusals: Int { state.withLock { $0.refusals } }

        func connected(_ link: BusLink) { state.withLock { $0.connects += 1 } }
        func disconnected(_ link: BusLink) {}
        func refused(_ link: BusLink) { state.withLock { $0.refusals += 1 } }
        func received(_ message: consuming Incoming, from link: BusLink) {}
        func rejected(_ error: WireError) {}
        func turn(now: UInt64) -> UInt64? { nil }
    }

    private let server: KeyPair
    private let known: ClientKey
    private let stranger: ClientKey

    init() throws {
        server = try KeyPair.make()
        known = ClientKey(pair: try KeyPair.make(), router: server.publicKey)
        stranger = ClientKey(pair: try KeyPair.make(), router: server.publicKey)
    }

    private func authenticator(
        _ context: Context,
        onStranger: @escaping @Sendable (Authenticator.Stranger) -> Void = { _ in }
    ) throws -> Authenticator {
        try Authenticator(
            in: context,
            admit: { [key = known.pair.publicKey] in $0 == key ? 42 : nil },
            onStranger: onStranger,
            onFailure: { Issue.record("\($0)") }
        )
    }

    @Test(.timeLimit(.minutes(1))) func whoIsKnownGetsInAndEveryMessageSaysWho() async throws {
        let context = try Context()
        let seen = Box<[PublicKey?]>([])
        let authenticator = try authenticator(context) { stranger in seen.value.withLock { $0.append(stranger.key) } }
        let socket = try Socket(.router, in: context, security: .server(server))
        let isEnforcing = socket.isEnforcing
        #expect(isEnforcing)
        let endpoint = try socket.bind("tcp://127.0.0.1:*")
        let (friend, other) = (User(), User())
        let clients = [try BusClient(key: known), try BusClient(key: stranger)]
        try clients[0].start(endpoint, user: friend)
        try clients[1].start(endpoint, user: other)
        #expect(await eventually { friend.connects == 1 && other.refusals > 0 })
        #expect(seen.value.withLock { $0.first } == stranger.pair.publicKey)
        for _ in 0..<3 { try clients[0].send(Outgoing(Header(.heartbeat))) }
        var poller = Poller()
        try poller.add(socket)
        for _ in 0..<3 {
            try poller.wait(milliseconds: 10_000)
            // The first frame is the peer's routing id.
            guard try socket.receive() != nil, let first = try socket.receive() else {
                Issue.record("no message")
                return
            }
            var message = try Incoming(first: first, from: socket)
            let number = message.keyNumber
            #expect(number == 42)
        }
        for client in clients { await client.close() }
        #expect(other.connects == 0)
        _ = consume socket
        authenticator.stop()
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func withoutAnAuthenticatorNobodyGetsIn(afterOneHasStopped: Bool) async throws {
        let context = try Context()
        if afterOneHasStopped { try authenticator(context).stop() }
        let socket = try Socket(.router, in: context, security: .server(server))
        let endpoint = try socket.bind("tcp://127.0.0.1:*")
        let user = User()
        let client = try BusClient(key: known)
        try client.start(endpoint, user: user)
        #expect(await !eventually(within: .seconds(2)) { user.connects > 0 })
        await client.close()
    }

    @Test(.timeLimit(.minutes(1))) func whoComesWithoutAKeyIsNotLetIn() async throws {
        let context = try Context()
        let authenticator = try authenticator(context)
        let socket = try Socket(.router, in: context, security: .server(server))
        let endpoint = try socket.bind("tcp://127.0.0.1:*")
        let user = User()
        let client = try BusClient()
        try client.start(endpoint, user: user)
        #expect(await !eventually(within: .seconds(2)) { user.connects > 0 })
        await client.close()
        _ = consume socket
        authenticator.stop()
    }

    @Test func thereIsOneAuthenticatorOfAContext() throws {
        let context = try Context()
        let first = try authenticator(context)
        #expect(throws: BusError.self) { _ = try authenticator(context) }
        first.stop()
    }
}

/// A value that a closure of another thread changes.
private final class Box<Value: Sendable>: Sendable {
    let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
}
