import Bus
import Testing
import Wire

@testable import Router

/// A skill with four slots whose jobs all take the same time, requests that come as a test says, and a gateway that
/// refuses what it was told to refuse, 2 ms late. All by a clock of its own, so that a minute of it is nothing.
private struct Rush {
    private static let underway: UInt64 = 2

    private var bench = Bench()
    private let peer: Peer
    private let time: UInt64
    private var running: [(execution: Execution, end: UInt64)] = []
    private var told: [(load: SkillLoad?, from: UInt64)] = []
    private var load: SkillLoad?
    private var began: [Identifier: UInt64] = [:]
    private(set) var accepted: [(request: Identifier, at: UInt64)] = []
    /// Refused by the gateway, and by the router after it had been taken.
    private(set) var refused = 0
    private(set) var failed = 0
    /// Milliseconds since the beginning.
    private(set) var clock: UInt64 = 0

    init(taking time: UInt64, slots: Int = 4, longestWait: UInt64 = 10_000) throws {
        self.time = time
        bench.dispatcher = Dispatcher(now: 0, longestWait: longestWait)
        let hello = Hello(gateway: "g", instance: .none, host: "h", pid: 1, product: "t")
        bench.gateway = bench.dispatcher.registry.greet(hello, peer: Peer(number: 1000), now: 0)
        bench.gateway.takesLoad = true
        peer = try bench.worker(credit: slots)
    }

    var isStanding: Bool { bench.dispatcher.registry.skills["echo"]?.backlog.isStanding ?? false }

    /// Goes on for so many milliseconds; `arrivals` says how many requests come in each.
    mutating func run(for duration: UInt64, arrivals: (UInt64) -> Int) throws {
        let begin = clock
        while clock < begin + duration {
            while let first = told.first, first.from <= clock {
                load = first.load
                told.removeFirst()
            }
            for job in running where job.end <= clock {
                _ = bench.event(job.execution, from: peer, terminal: .terminal, kind: .finished)
                bench.dispatcher.acknowledged(job.execution)
            }
            running.removeAll { $0.end <= clock }
            try take()
            for _ in 0..<arrivals(clock - begin) {
                if let room = load?.room, room > 0 {
                    load?.room = room - 1
                } else if load != nil {
                    refused += 1
                    continue
                }
                accepted.append((try bench.submit(session: "s\(accepted.count % 16)"), clock))
                try take()
            }
            if clock % 250 == 0 { bench.dispatcher.tick(now: bench.now) }
            bench.dispatcher.registry.workers[peer]?.lastHeard = bench.now
            try take()
            clock += 1
            bench.now += 1
        }
    }

    /// Does what the router wants.
    private mutating func take() throws {
        var actions: [Dispatcher.Action] = []
        bench.dispatcher.takeActions(into: &actions)
        for action in actions {
            switch action {
            case .dispatch(let job, _, _):
                running.append((job.execution, clock + time))
                began[job.id.request] = clock
            case .toGateway(_, let message) where message.header.type == .load:
                let load = try JSONBody.decode(SkillLoad.self, from: message.body)
                told.append((message.header.value == 0 ? nil : load, clock + Rush.underway))
            case .toGateway(_, let message) where message.header.type == .nack: failed += 1
            case .toGateway(_, let message) where message.header.type == .event: failed += 1
            default: break
            }
        }
    }

    /// Milliseconds that those waited which were taken in this time.
    func waits(from begin: UInt64, to end: UInt64 = .max) -> [UInt64] {
        accepted.filter { $0.at >= begin && $0.at < end }.compactMap { accepted in
            began[accepted.request].map { $0 - accepted.at }
        }
    }
}

/// What tells an overload from a burst, and what comes of both.
@Suite struct OverloadTests {
    /// Requests at an even rate.
    private func evenly(_ perSecond: UInt64) -> (UInt64) -> Int {
        { Int(($0 + 1) * perSecond / 1000 - $0 * perSecond / 1000) }
    }

    @Test(arguments: [20, 100, 1000] as [UInt64])
    func tenTimesTheCapacityIsServedInTwiceTheTime(taking time: UInt64) throws {
        var rush = try Rush(taking: time)
        let capacity = 4000 / time
        try rush.run(for: 30_000, arrivals: evenly(capacity * 10))
        // The first ones were a burst, as far as could be told.
        let settled = rush.waits(from: 15_000, to: 29_000)
        #expect(settled.count > Int(capacity) * 14 * 8 / 10)
        #expect(settled.allSatisfy { $0 <= max(time, 50) + 2 })
        #expect(rush.failed == 0)
        #expect(rush.refused > Int(capacity) * 10 * 20)
    }

    @Test func whatCameFirstIsSoonOver() throws {
        var rush = try Rush(taking: 100)
        try rush.run(for: 15_000, arrivals: evenly(400))
        // Half a second until it is plain, and the work of that.
        #expect(rush.waits(from: 0, to: 1000).allSatisfy { $0 < 5500 })
        #expect(rush.waits(from: 6000).allSatisfy { $0 <= 102 })
    }

    @Test func alsoTwiceTheCapacityIs() throws {
        var rush = try Rush(taking: 100)
        try rush.run(for: 30_000, arrivals: evenly(80))
        #expect(rush.waits(from: 10_000).allSatisfy { $0 <= 102 })
        #expect(rush.failed == 0)
    }

    @Test(arguments: [1, 40] as [UInt64])
    func twentyAtOnceForFourSlotsAreAllDone(apart: UInt64) throws {
        var rush = try Rush(taking: 2000)
        try rush.run(for: 15_000) { $0 < 20 * apart && $0 % apart == 0 ? 1 : 0 }
        #expect(rush.accepted.count == 20)
        #expect(rush.waits(from: 0).count == 20)
        let isOverloaded = rush.isStanding
        #expect(!isOverloaded)
    }

    @Test func aHundredShortOnesAtOnceAreAllDone() throws {
        var rush = try Rush(taking: 100)
        // As fast as a gateway takes them, after a quiet time and again before all are done.
        try rush.run(for: 20_000) { $0 % 2 == 0 && ($0 < 200 || ($0 >= 2000 && $0 < 2100)) ? 1 : 0 }
        #expect(rush.waits(from: 0).count == 150)
        #expect(rush.refused == 0 && rush.failed == 0)
    }

    @Test func halfTheCapacityIsNoOverload() throws {
        // Two at a time, so that there is always something to wait for.
        var rush = try Rush(taking: 1000, slots: 1)
        try rush.run(for: 60_000) { $0 % 4000 == 0 ? 2 : 0 }
        #expect(rush.waits(from: 0).count == 30)
        let isOverloaded = rush.isStanding
        #expect(!isOverloaded)
    }

    @Test func whenItIsOverABurstIsQueuedAgain() throws {
        var rush = try Rush(taking: 100)
        try rush.run(for: 10_000, arrivals: evenly(400))
        #expect(rush.isStanding)
        // Half of what can be done, on and on, is calm enough.
        try rush.run(for: 6000, arrivals: evenly(20))
        let isOverloaded = rush.isStanding
        #expect(!isOverloaded)
        let before = rush.refused
        try rush.run(for: 5000) { $0 < 40 ? 1 : 0 }
        #expect(rush.refused == before)
    }

    @Test func aSkillOfOneSlotThatIsHalfBusyComesBackFromAnOverload() throws {
        var rush = try Rush(taking: 1000, slots: 1)
        try rush.run(for: 30_000, arrivals: evenly(10))
        #expect(rush.isStanding)
        try rush.run(for: 40_000) { $0 % 4000 == 0 ? 2 : 0 }
        let isOverloaded = rush.isStanding
        #expect(!isOverloaded)
    }

    @Test func asLongAsNothingIsKnownWhatComesIsTaken() throws {
        // A skill whose first jobs take a minute must not be starved by a guess.
        var rush = try Rush(taking: 60_000)
        try rush.run(for: 10_000, arrivals: evenly(20))
        #expect(rush.accepted.count == 200)
        #expect(rush.refused == 0 && rush.failed == 0)
    }
}
