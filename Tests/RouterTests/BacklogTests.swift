import Bus
import Testing
import Wire

@testable import Router

/// How many jobs may wait, by what jobs take.
@Suite struct BacklogTests {
    /// A skill whose jobs take so many milliseconds.
    private func backlog(taking time: UInt64) -> Backlog {
        var backlog = Backlog()
        for _ in 0..<20 { backlog.ended(after: time) }
        return backlog
    }

    @Test func withoutAnEndedJobThereIsNoBoundByTime() {
        var backlog = Backlog()
        #expect(backlog.bound(waiting: 500, running: 4, longest: 10_000, now: 0) == Limits.queuedJobsPerSkill)
        #expect(backlog.wait(for: 500) == 1000)
    }

    @Test func aBurstMayTakeTheLongestWait() {
        var backlog = backlog(taking: 100)
        // Four at a time: forty a second, for ten seconds.
        #expect(backlog.bound(waiting: 300, running: 4, longest: 10_000, now: 0) == 400)
        #expect(backlog.wait(for: 300) == 7500)
        #expect(backlog.bound(waiting: 300, running: 4, longest: 0, now: 0) == Limits.queuedJobsPerSkill)
    }

    @Test func aQueueThatStandsIsCutToTheTimeOfOneJobUntilItIsShortForAWhile() {
        var backlog = backlog(taking: 1000)
        var now: UInt64 = 0
        func bound(waiting: Int, after time: UInt64) -> Int {
            now += time
            return backlog.bound(waiting: waiting, running: 4, longest: 5000, now: now)
        }
        #expect(bound(waiting: 20, after: 0) == 20)
        #expect(bound(waiting: 18, after: 4999) == 20)
        #expect(bound(waiting: 18, after: 1) == 4)
        // It stays so while it is refilled as fast as it empties.
        #expect(bound(waiting: 4, after: 20_000) == 4)
        #expect(bound(waiting: 1, after: 250) == 4)
        #expect(bound(waiting: 3, after: 1900) == 4)
        #expect(bound(waiting: 0, after: 250) == 4)
        #expect(bound(waiting: 0, after: 2000) == 20)
    }

    @Test func aBurstThatDrainsIsNoStandingQueue() {
        var backlog = backlog(taking: 100)
        for second in 0..<5 {
            let (waiting, now) = (200 - 40 * second, UInt64(second) * 1000)
            #expect(backlog.bound(waiting: waiting, running: 4, longest: 5000, now: now) == 200)
        }
        #expect(backlog.bound(waiting: 1, running: 4, longest: 5000, now: 5000) == 200)
        #expect(backlog.bound(waiting: 200, running: 4, longest: 5000, now: 5250) == 200)
        #expect(backlog.bound(waiting: 120, running: 4, longest: 5000, now: 9000) == 200)
    }

    @Test func workersDoNotIdleForTheBound() {
        var backlog = backlog(taking: 60_000)
        #expect(backlog.bound(waiting: 8, running: 8, longest: 1000, now: 0) == 8)
    }

    /// A dispatcher whose skill has one slot and jobs of a second.
    private func busy(longestWait: UInt64 = 5000) throws -> (bench: Bench, peer: Peer) {
        var bench = Bench()
        bench.dispatcher = Dispatcher(now: 0, longestWait: longestWait)
        let hello = Hello(gateway: "g", instance: .none, host: "h", pid: 1, product: "t")
        bench.gateway = bench.dispatcher.registry.greet(hello, peer: Peer(number: 1000), now: 0)
        bench.gateway.takesLoad = true
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let first = try #require(bench.taken().dispatches.first).0
        bench.now += 1000
        _ = bench.event(first, from: peer, terminal: .terminal, kind: .finished)
        bench.dispatcher.acknowledged(first)
        _ = bench.taken()
        return (bench, peer)
    }

    @Test func whatWouldWaitTooLongIsRefusedWithTheTimeItTakes() throws {
        var (bench, _) = try busy()
        for _ in 0..<3 { try bench.submit() }
        bench.dispatcher.tick(now: bench.now)
        for _ in 0..<3 { try bench.submit() }
        // The gateways are told before it is too much, and what is on its way is taken.
        #expect(bench.taken().said == ["gateway load"])
        for _ in 0..<4 { try bench.submit() }
        #expect(bench.taken().said == [])
        try bench.submit()
        #expect(bench.taken().said == ["gateway nack overloaded"])
        let entry = try #require(bench.dispatcher.registry.skills["echo"])
        #expect(entry.queue.count == 9)
        #expect(bench.dispatcher.overloaded(entry).retryAfter == 9)
        // Another session has less: the last one of the first gives way.
        try bench.submit(session: "another")
        #expect(bench.taken().said == ["gateway event failed overloaded"])
        #expect(entry.queue.count == 9)
    }

    @Test func theGatewaysAreToldAgainAndWhenThereIsRoom() throws {
        var (bench, peer) = try busy()
        for _ in 0..<3 { try bench.submit() }
        bench.dispatcher.tick(now: bench.now)
        for _ in 0..<3 { try bench.submit() }
        #expect(bench.taken().said == ["gateway load"])
        bench.now += 1000
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway load"])
        for expected in [["gateway load"], [], []] as [[String]] {
            let running = try #require(bench.dispatcher.registry.workers[peer]?.leases.values.first?.execution)
            _ = bench.event(running, from: peer, terminal: .terminal, kind: .finished)
            bench.dispatcher.acknowledged(running)
            #expect(bench.taken().said.filter { $0 == "gateway load" } == expected)
        }
    }

    @Test func skillsOfOneWorkerTakeTurns() throws {
        var bench = Bench()
        let manifests = ["one", "two"].map { SkillManifest(id: $0, description: "d") }
        let registration = Registration(
            worker: "w",
            instance: .timeOrdered(milliseconds: 1),
            host: "h",
            pid: 1,
            product: "t",
            concurrency: 1,
            manifests: manifests
        )
        let peer = Peer(number: 7)
        let worker = try bench.dispatcher.registered(registration, peer: peer, credit: 1, now: bench.now)
        bench.dispatcher.admit(worker, now: bench.now)
        for _ in 0..<4 { try bench.submit("one") }
        for _ in 0..<2 { try bench.submit("two") }
        var order: [String] = []
        for _ in 0..<6 {
            let job = try #require(worker.leases.values.first)
            order.append(job.skill)
            _ = bench.event(job.execution, from: peer, terminal: .terminal, kind: .finished)
        }
        #expect(order == ["one", "one", "two", "one", "two", "one"])
    }
}
