import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Bus

/// Names of routers and their addresses, with look-ups of the tests' own.
@Suite struct AddressResolverTests {
    /// What the names stand for, as a test changes it.
    final class Directory: Sendable {
        let entries = Mutex<[String: [String]?]>([:])
        let count = Atomic(0)

        func set(_ name: String, _ addresses: [String]?) { entries.withLock { $0[name] = .some(addresses) } }

        var lookUp: AddressResolver.LookUp {
            .init { [self] host, _ in
                count.add(1, ordering: .relaxed)
                return entries.withLock { $0[host] ?? [] }
            }
        }
    }

    @Test func numericAddressesNeedNoLookUp() {
        let endpoints = ["tcp://127.0.0.1:5555", "tcp://[::1]:5555", "ipc:///tmp/x", "tcp://127.0.0.1:5555"]
        let resolver = AddressResolver(
            endpoints,
            lookUp: .init { _, _ in
                Issue.record("looked up"); return nil
            }
        )
        #expect(!resolver.hasNames)
        #expect(resolver.resolve() == Array(endpoints[..<3]))
    }

    @Test func aNameIsAllItsAddresses() {
        let directory = Directory()
        directory.set("router", ["tcp://10.0.0.1:5556", "tcp://10.0.0.2:5556"])
        let resolver = AddressResolver(["tcp://10.0.0.2:5556", "tcp://router:5556"], lookUp: directory.lookUp)
        #expect(resolver.hasNames && resolver.known == ["tcp://10.0.0.2:5556"])
        #expect(resolver.resolve() == ["tcp://10.0.0.2:5556", "tcp://10.0.0.1:5556"])
    }

    @Test func withoutAnAnswerAddressesStayAsTheyWere() {
        let directory = Directory()
        directory.set("router", ["tcp://10.0.0.1:5556"])
        let resolver = AddressResolver(["tcp://router:5556"], lookUp: directory.lookUp)
        #expect(resolver.resolve() == ["tcp://10.0.0.1:5556"])
        directory.set("router", nil)
        #expect(resolver.resolve() == ["tcp://10.0.0.1:5556"])
        directory.set("router", [])
        #expect(resolver.resolve() == [])
    }

    @Test func theSystemKnowsThisMachine() {
        #expect(AddressResolver(["tcp://localhost:5556"]).resolve().contains { $0.hasSuffix(":5556") })
    }

    @Test func changesAreTold() async {
        let directory = Directory()
        let resolver = AddressResolver(["tcp://router:1"], lookUp: directory.lookUp)
        let told = Mutex<[[String]]>([])
        resolver.start { addresses in told.withLock { $0.append(addresses) } }
        directory.set("router", ["tcp://10.0.0.1:1"])
        resolver.lookSoon()
        #expect(await eventually { told.withLock { $0 } == [["tcp://10.0.0.1:1"]] })
        let before = directory.count.load(ordering: .relaxed)
        resolver.lookSoon()
        #expect(await eventually { directory.count.load(ordering: .relaxed) > before })
        #expect(told.withLock { $0.count } == 1)
        resolver.stop()
    }

    @Test(.timeLimit(.minutes(1))) func aNameOfTwoAddressesIsTwoLinks() async throws {
        let context = try Context()
        let routers = [try Echo(context), try Echo(context)]
        let directory = Directory()
        directory.set("router", routers.map(\.endpoint))
        let user = BusClientTests.User()
        let client = try BusClient()
        try client.start(["tcp://router:1"], user: user, lookUp: directory.lookUp)
        await user.until { $0.links.count == 2 }
        let links = user.seen.withLock { $0.links }
        for (index, link) in links.enumerated() {
            try client.send(Outgoing(Header(.heartbeat), body: [UInt8(index)]), to: link)
        }
        await user.until { $0.bodies.count == 2 }
        #expect(Set(user.seen.withLock { $0.bodies }) == [[0], [1]])
        await client.close()
        routers.forEach { $0.stop() }
    }

    @Test(.timeLimit(.minutes(1))) func aNameThatMovesIsFollowed() async throws {
        let context = try Context()
        let directory = Directory()
        let first = try Echo(context)
        directory.set("router", [first.endpoint])
        let user = BusClientTests.User()
        let client = try BusClient()
        try client.start(["tcp://router:1"], user: user, lookUp: directory.lookUp)
        await user.until { $0.connects == 1 }
        let second = try Echo(context)
        directory.set("router", [second.endpoint])
        first.stop()
        await user.until { $0.disconnects == 1 && $0.connects == 2 }
        let link = try #require(user.seen.withLock { $0.links.last })
        try client.send(Outgoing(Header(.heartbeat), body: [7]), to: link)
        await user.until { $0.bodies == [[7]] }
        // What was left is not tried for ever.
        #expect(throws: BusClient.Refusal.self) {
            try client.send(Outgoing(Header(.heartbeat)), to: user.seen.withLock { $0.links[0] })
        }
        await client.close()
        second.stop()
    }

    @Test(.timeLimit(.minutes(1))) func aLookUpThatHangsHoldsNothingUp() async throws {
        let context = try Context()
        let router = try Echo(context)
        let isOver = DispatchSemaphore(value: 0)
        let user = BusClientTests.User()
        let client = try BusClient()
        let slow = AddressResolver.LookUp { _, _ in
            isOver.wait()
            // For all look-ups that come after it.
            isOver.signal()
            return nil
        }
        try client.start([router.endpoint, "tcp://router:1"], user: user, lookUp: slow)
        await user.until { $0.connects == 1 }
        try client.send(Outgoing(Header(.heartbeat), body: [1]))
        await user.until { $0.bodies.count == 1 }
        await client.close()
        isOver.signal()
        router.stop()
    }

    @Test(.timeLimit(.minutes(1))) func aParkedLinkIsTriedAgainAfterALoss() async throws {
        let context = try Context()
        let routers = [try Echo(context), try Echo(context)]
        let user = BusClientTests.User()
        let client = try BusClient()
        try client.start(routers.map(\.endpoint), user: user)
        await user.until { $0.links.count == 2 }
        client.park(user.seen.withLock { $0.links[1] })
        await user.until { $0.disconnects == 1 }
        routers[user.seen.withLock { $0.links[0] } == .first ? 0 : 1].stop()
        await user.until { $0.disconnects == 2 && $0.connects == 3 }
        await client.close()
        routers.forEach { $0.stop() }
    }
}
