import Bus
import Testing
import Wire

@testable import Router

extension Job.State {
    fileprivate var isFailed: Bool { if case .failed = self { true } else { false } }
}

/// Sessions that share a skill's queue.
@Suite struct FairnessTests {
    /// Ends what runs and gives what is dispatched for it, as often as asked.
    private func run(_ bench: inout Bench, _ count: Int, on peer: Peer) throws -> [Identifier] {
        var order: [Identifier] = []
        for _ in 0..<count {
            guard let (execution, _) = bench.taken().dispatches.first else { break }
            order.append(execution.job.request)
            _ = bench.event(execution, from: peer, terminal: .terminal, kind: .finished)
            bench.dispatcher.acknowledged(execution)
        }
        return order
    }

    @Test func aLightSessionWaitsForOneJobOfAHeavyOne() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        var heavy: [Identifier] = []
        for _ in 0..<500 { heavy.append(try bench.submit(session: "heavy")) }
        let light = [try bench.submit(session: "light"), try bench.submit(session: "light")]
        let other = try bench.submit(session: "other")
        let order = try run(&bench, 7, on: peer)
        // The one that runs, then by turns: each session's own order is kept.
        #expect(order == [heavy[0], heavy[1], light[0], other, heavy[2], light[1], heavy[3]])
        #expect(try run(&bench, 1000, on: peer) == Array(heavy[4...]))
        #expect(bench.dispatcher.registry.skills["echo"]?.queue.count == 0)
        #expect(bench.dispatcher.registry.skills["echo"]?.queue.bytes == 0)
    }

    @Test func aFullQueueTakesALightSessionsJobForTheLastOfTheHeaviest() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        var heavy: [Identifier] = []
        for _ in 0...Limits.queuedJobsPerSkill { heavy.append(try bench.submit(session: "heavy")) }
        #expect(bench.taken().said.isEmpty)
        _ = bench.event(
            Execution(job: heavy[0].job(step: 1), generation: 1, attempt: 1),
            from: peer
        )
        let light = try bench.submit(session: "light")
        #expect(bench.taken().said == ["gateway event failed overloaded"])
        let last = try #require(heavy.last).job(step: 1)
        let state = bench.dispatcher.jobs[last]?.state
        #expect(state?.isFailed ?? false, "the last one gives way")
        try bench.submit(session: "heavy")
        #expect(bench.taken().said == ["gateway nack overloaded"])
        let queue = try #require(bench.dispatcher.registry.skills["echo"]?.queue)
        #expect(queue.count == Limits.queuedJobsPerSkill)
        #expect(queue.all.contains { $0.id == light.job(step: 1) })
    }

    @Test func bytesAreSharedToo() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 0)
        let megabyte = String(repeating: "x", count: 1024 * 1024)
        for _ in 0..<63 { try bench.submit(session: "heavy", text: megabyte) }
        #expect(bench.taken().said.isEmpty)
        try bench.submit(session: "heavy", text: megabyte)
        #expect(bench.taken().said == ["gateway nack overloaded"])
        try bench.submit(session: "light", text: megabyte)
        #expect(bench.taken().said == ["gateway event failed overloaded"])
        let queue = try #require(bench.dispatcher.registry.skills["echo"]?.queue)
        #expect(queue.count == 63 && queue.bytes <= Limits.queuedBytesPerSkill)
    }

    @Test func tenantsTakeTurnsBeforeTheirSessions() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        var first: [Identifier] = []
        for number in 0..<20 { first.append(try bench.submit(session: "s\(number)", tenant: 1)) }
        let second = [try bench.submit(session: "x", tenant: 2), try bench.submit(session: "x", tenant: 2)]
        // Twenty sessions of one tenant count as much as the one of the other.
        #expect(try run(&bench, 6, on: peer) == [first[0], first[1], second[0], first[2], second[1], first[3]])
    }

    @Test func theTenantWithMostGivesWayInAFullQueue() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 0)
        for number in 0..<Limits.queuedJobsPerSkill { try bench.submit(session: "s\(number)", tenant: 1) }
        let (tenants, session) = try #require(bench.dispatcher.registry.skills["echo"]?.queue.heaviest)
        #expect(tenants == [1] && session == 0)
        try bench.submit(session: "x", tenant: 2)
        #expect(bench.taken().said == ["gateway event failed overloaded"])
        try bench.submit(session: "new", tenant: 1)
        #expect(bench.taken().said == ["gateway nack overloaded"])
    }

    @Test func whatIsMoreUrgentGoesFirstAndNothingWaitsForEver() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        let running = try bench.submit()
        let low = try bench.submit(session: "a", flags: .lowPriority)
        let normal = try bench.submit(session: "b")
        let high = [
            try bench.submit(session: "c", flags: .highPriority), try bench.submit(session: "c", flags: .highPriority),
        ]
        #expect(try run(&bench, 2, on: peer) == [running, high[0]])
        // A priority is worth five seconds of waiting.
        bench.now += 2 * Priority.ageing + 1
        let later = try bench.submit(session: "c", flags: .highPriority)
        #expect(try run(&bench, 4, on: peer) == [high[1], normal, low, later])
    }

    @Test func aMoreUrgentJobTakesThePlaceOfALessUrgentOne() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 0)
        for _ in 0..<Limits.queuedJobsPerSkill { try bench.submit() }
        _ = bench.taken()
        let urgent = try bench.submit(flags: .highPriority)
        #expect(bench.taken().said == ["gateway event failed overloaded"])
        #expect(bench.dispatcher.jobs[urgent.job(step: 1)]?.state.isFailed == false)
        try bench.submit(flags: .lowPriority)
        #expect(bench.taken().said == ["gateway nack overloaded"])
    }

    @Test func prioritiesAreWithinATenant() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        let running = try bench.submit(tenant: 1)
        let urgent = [
            try bench.submit(tenant: 1, flags: .highPriority), try bench.submit(tenant: 1, flags: .highPriority),
        ]
        let other = try bench.submit(tenant: 2)
        #expect(try run(&bench, 4, on: peer) == [running, urgent[0], other, urgent[1]])
    }

    @Test func whatIsCancelledLeavesTheTurnsOfOthersAlone() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        let running = try bench.submit(session: "a")
        let a = [try bench.submit(session: "a"), try bench.submit(session: "a")]
        let b = [try bench.submit(session: "b"), try bench.submit(session: "b")]
        for request in a { bench.dispatcher.cancelled(request, now: bench.now) }
        let again = try bench.submit(session: "a")
        #expect(try run(&bench, 9, on: peer) == [running, again, b[0], b[1]])
    }

    @Test func theSessionIsReadFromTheBody() throws {
        func number(_ session: String, skill: String = "echo") throws -> UInt64 {
            let body = try JobBody.encode(skill: skill, input: JobInput(session: session, text: "t"))
            return JobBody.origin(body.span.bytes).session
        }
        #expect(try number("one") == number("one", skill: "another"))
        #expect(try number("one") != number("two"))
        let input = JobInput(session: "one", tenant: 77, text: "t")
        let body = try JobBody.encode(skill: "echo", input: input)
        #expect(JobBody.origin(body.span.bytes) == (77, try number("one")))
        #expect(try JobBody.decode(body).input == input)
        let odd: [[UInt8]] = [
            [], [0], [9, 1], [0, 1, 255, 255, 255, 255], [0, 1, 1, 0, 0, 0], [0, 2, 1, 0, 0, 0, 7],
        ]
        for body in odd {
            #expect(JobBody.origin(body.span.bytes) == (0, 0))
        }
    }
}

/// Jobs that end the worker that runs them.
@Suite struct PoisonTests {
    /// Runs until nothing is left; the poison job ends its worker, all others finish. How often each died with a worker.
    private func run(_ bench: inout Bench, poison: Identifier, concurrency: Int) throws -> (
        ends: [Identifier: String], deaths: [Identifier: Int], attempts: [Identifier: UInt32]
    ) {
        var ends: [Identifier: String] = [:]
        var deaths: [Identifier: Int] = [:]
        var attempts: [Identifier: UInt32] = [:]
        for _ in 0..<100 where !bench.dispatcher.jobs.values.allSatisfy(\.state.isFailed) {
            if bench.dispatcher.registry.workers.isEmpty { _ = try bench.worker(credit: concurrency) }
            bench.dispatcher.tick(now: bench.now)
            let running = bench.dispatcher.registry.workers.values.flatMap { worker in
                worker.leases.values.map { (worker.peer, $0.execution) }
            }
            for (peer, execution) in running { _ = bench.event(execution, from: peer) }
            if let (peer, _) = running.first(where: { $0.1.job.request == poison }) {
                for (_, execution) in running { deaths[execution.job.request, default: 0] += 1 }
                bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
                continue
            }
            for (peer, execution) in running {
                attempts[execution.job.request] = execution.attempt
                let decision = bench.event(execution, from: peer, terminal: .terminal, kind: .finished)
                if decision == "forward" { ends[execution.job.request] = "finished" }
                bench.dispatcher.acknowledged(execution)
            }
        }
        return (ends, deaths, attempts)
    }

    @Test(arguments: [1, 2, 4, 8]) func aPoisonJobIsDeadLetteredAndItsNeighboursFinish(concurrency: Int) throws {
        var bench = Bench()
        _ = try bench.worker(credit: concurrency)
        var requests: [Identifier] = []
        for _ in 0..<20 { requests.append(try bench.submit()) }
        let poison = requests[3]
        let (ends, deaths, _) = try run(&bench, poison: poison, concurrency: concurrency)
        #expect(ends.count == 19 && ends[poison] == nil)
        #expect(bench.taken().said.contains("gateway event failed dead_lettered"))
        // Three deaths of its own after the two that it had company in, and nobody else was there more often.
        #expect(deaths[poison] == (concurrency == 1 ? 3 : 5))
        #expect(deaths.filter { $0.key != poison }.allSatisfy { $0.value <= 2 })
    }

    /// Has the jobs that a worker has die with it, and once more with the next one, which nothing else can take.
    private func loseTwice(_ bench: inout Bench, _ worker: Peer) throws {
        bench.dispatcher.workerLost(worker, reason: "died", now: bench.now)
        let next = try bench.worker(credit: 2)
        for (execution, peer) in bench.taken().dispatches { _ = bench.event(execution, from: peer) }
        bench.dispatcher.workerLost(next, reason: "died", now: bench.now)
    }

    /// A worker with two jobs, and two that have lost theirs twice. All four as they were dispatched first.
    private func busyBesideSuspects(
        _ bench: inout Bench
    ) throws -> (busy: Peer, doomed: Peer, dispatches: [(Execution, Peer)]) {
        let busy = try bench.worker(credit: 2)
        let doomed = try bench.worker(credit: 2)
        for _ in 0..<4 { try bench.submit() }
        let dispatches = bench.taken().dispatches.map { ($0.0, $0.1) }
        for (execution, peer) in dispatches { _ = bench.event(execution, from: peer) }
        try loseTwice(&bench, doomed)
        return (busy, doomed, dispatches)
    }

    @Test func whatWasThereOnceBeginsAgainAtOnceBesideOthers() throws {
        var bench = Bench()
        let busy = try bench.worker(credit: 4)
        let doomed = try bench.worker(credit: 4)
        for _ in 0..<4 { try bench.submit() }
        for (execution, peer) in bench.taken().dispatches { _ = bench.event(execution, from: peer) }
        bench.dispatcher.workerLost(doomed, reason: "died", now: bench.now)
        #expect(bench.taken().dispatches.map(\.1) == [busy, busy])
    }

    @Test func suspectsRunAloneWhileOtherWorkersGoOn() throws {
        var bench = Bench()
        let first = try bench.worker(credit: 2)
        let poison = try bench.submit()
        let neighbour = try bench.submit()
        for (execution, peer) in bench.taken().dispatches { _ = bench.event(execution, from: peer) }
        try loseTwice(&bench, first)
        #expect(bench.taken().said == ["gateway event retrying", "gateway event retrying"])
        let second = try bench.worker(credit: 2)
        let alone = bench.taken().dispatches
        #expect(alone.count == 1)
        // Nothing comes beside it, though there is credit.
        let other = try bench.submit()
        #expect(bench.taken().dispatches.isEmpty)
        let third = try bench.worker(credit: 2)
        let next = bench.taken().dispatches
        #expect(next.map(\.1) == [third])
        #expect(Set([alone[0], next[0]].map(\.0.job.request)) == [poison, neighbour])
        _ = bench.event(next[0].0, from: third, terminal: .terminal, kind: .finished)
        #expect(bench.taken().dispatches.map(\.0.job.request) == [other])
        _ = second
    }

    @Test func aBusyWorkerIsEmptiedForASuspect() throws {
        var bench = Bench()
        let (busy, _, dispatches) = try busyBesideSuspects(&bench)
        _ = bench.taken()
        // More work than enough: but the worker is to become empty first.
        for _ in 0..<10 { try bench.submit(session: "another") }
        #expect(bench.taken().dispatches.isEmpty)
        let own = dispatches.filter { $0.1 == busy }.map(\.0)
        _ = bench.event(own[0], from: busy, terminal: .terminal, kind: .finished)
        #expect(bench.taken().dispatches.isEmpty)
        _ = bench.event(own[1], from: busy, terminal: .terminal, kind: .finished)
        let suspect = bench.taken().dispatches
        #expect(suspect.count == 1 && suspect[0].0.attempt == 3)
        // When the last suspect has ended, everything goes on as before.
        _ = bench.event(suspect[0].0, from: busy, terminal: .terminal, kind: .finished)
        let second = bench.taken().dispatches
        #expect(second.count == 1 && second[0].0.attempt == 3)
        _ = bench.event(second[0].0, from: busy, terminal: .terminal, kind: .finished)
        #expect(bench.taken().dispatches.count == 2)
    }

    @Test func aSuspectThatIsCancelledLetsTheWorkerGo() throws {
        var bench = Bench()
        let (busy, doomed, dispatches) = try busyBesideSuspects(&bench)
        for (execution, peer) in dispatches where peer == doomed {
            bench.dispatcher.cancelled(execution.job.request, now: bench.now)
        }
        let own = try #require(dispatches.first { $0.1 == busy }?.0)
        _ = bench.event(own, from: busy, terminal: .terminal, kind: .finished)
        _ = bench.taken()
        try bench.submit()
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().dispatches.map(\.1) == [busy])
    }

    @Test func whatMustNotRunTwiceIsNoSuspect() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2, idempotent: false)
        for _ in 0..<2 {
            let request = try bench.submit()
            bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        }
        _ = bench.taken()
        bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
        let unknown = "gateway event failed outcome_unknown"
        #expect(bench.taken().said == [unknown, unknown])
    }
}

extension PoisonTests {
    /// Of a job that ends its worker before anything is heard of it nobody knows which one it was.
    @Test func aPoisonJobThatIsNeverHeardOfCostsNobodyAnAttemptEither() throws {
        var bench = Bench()
        let poison = try { () throws -> Identifier in
            _ = try bench.worker(credit: 0)
            return try bench.submit()
        }()
        for _ in 0..<5 { try bench.submit() }
        var ends: [Identifier: String] = [:]
        for _ in 0..<60 {
            guard !bench.dispatcher.jobs.values.allSatisfy(\.state.isFailed) else { break }
            let workers = bench.dispatcher.registry.workers.values
            if !workers.contains(where: { $0.credit > 0 || $0.leases.count > 0 }) { _ = try bench.worker(credit: 3) }
            bench.dispatcher.tick(now: bench.now)
            let running = bench.dispatcher.registry.workers.values.flatMap { worker in
                worker.leases.values.map { (worker.peer, $0.execution) }
            }
            for (peer, execution) in running where execution.job.request != poison {
                _ = bench.event(execution, from: peer)
            }
            if let (peer, _) = running.first(where: { $0.1.job.request == poison }) {
                bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
                continue
            }
            for (peer, execution) in running {
                if bench.event(execution, from: peer, terminal: .terminal, kind: .finished) == "forward" {
                    ends[execution.job.request] = "finished"
                }
                bench.dispatcher.acknowledged(execution)
            }
        }
        #expect(ends.count == 5 && ends[poison] == nil)
        #expect(bench.taken().said.contains("gateway event failed dead_lettered"))
    }
}
