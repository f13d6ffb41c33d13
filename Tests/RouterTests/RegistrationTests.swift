import Bus
import Testing
import Wire

@testable import Router

/// What becomes of a worker's jobs when it introduces itself again, or leaves.
struct RegistrationTests {
    @Test func whatIsOnItsWayToAWorkerThatRegistersAgainStaysItsOwn() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2, idempotent: false)
        let request = try bench.submit()
        bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        let sent = bench.taken().dispatches
        #expect(sent.count == 1)
        // Its second registration left before the job arrived.
        _ = try bench.worker(credit: 2, idempotent: false, again: peer, seen: 0)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty)
        #expect(!said.contains { $0.hasPrefix("gateway") })
        #expect(bench.event(sent[0].0, from: peer) == "forward")
        #expect(bench.dispatcher.registry.workers[peer]?.credit == 1)
    }

    @Test func whatAWorkerHasSeenAndDoesNotHoldGoesToAnother() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let first = bench.taken().dispatches
        _ = try bench.worker(credit: 1, again: peer, seen: 1)
        let second = bench.taken().dispatches
        #expect(second.map(\.0.attempt) == [first[0].0.attempt + 1])
    }

    @Test func dispatchesAreNumberedOnOverTheSameConnection() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 4)
        for _ in 0..<3 { try bench.submit() }
        _ = bench.taken()
        // The router had taken it for dead: it knows nothing of the connection but what the worker says.
        bench.dispatcher.workerLost(peer, reason: "silent", now: bench.now)
        _ = try bench.worker(credit: 4, again: peer, seen: 3)
        #expect(bench.dispatcher.registry.workers[peer]?.dispatches == 6)
        // A heartbeat that left before the new dispatches arrived takes none of them for lost.
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.heartbeat(from: worker, free: 4, seen: 3, running: [], now: bench.now)
        #expect(worker.leases.count == 3)
        #expect(worker.credit == 1)
    }

    @Test func aWorkerThatComesBackWithAJobThatWasGivenUpIsFenced() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let first = try #require(bench.taken().dispatches.first).0
        _ = bench.event(first, from: peer)
        bench.dispatcher.workerLost(peer, reason: "silent", now: bench.now)
        _ = bench.taken()
        let held = Registration.Held(
            execution: first,
            sequence: 1,
            state: .unacknowledged
        )
        _ = try bench.worker(credit: 1, held: [held])
        let (dispatches, said) = bench.taken()
        #expect(said.contains("worker fenced"))
        #expect(dispatches.map(\.0.attempt) == [first.attempt + 1])
    }

    @Test func aPlanIsRepeatedUntilTheRequestIsOver() throws {
        var bench = Bench()
        _ = try bench.worker("a")
        let request = Identifier.timeOrdered(milliseconds: 1)
        let header = Header(.submit, job: request, generation: 1)
        let input = JobInput(session: "s", text: "t")
        let parcel = Parcel(header: header, body: try JobBody.encode(skill: "", input: input))
        bench.dispatcher.planning[request] = .init(generation: 1, bytes: 0)
        bench.dispatcher.planned(
            PlanningTask(header: header, parcel: parcel, gateway: bench.gateway),
            .plan(
                Plan(mode: .single, steps: [.init(number: 1, skill: "a")]),
                .init(input: input, material: nil, isNew: true)
            ),
            now: bench.now
        )
        #expect(bench.taken().said == ["gateway plan"])
        bench.dispatcher.tick(now: bench.now + Dispatcher.repeatInterval - 1)
        #expect(!bench.taken().said.contains("gateway plan"))
        for peer in bench.dispatcher.registry.workers.values { peer.lastHeard = bench.now + 9000 }
        bench.dispatcher.tick(now: bench.now + Dispatcher.repeatInterval)
        #expect(bench.taken().said.contains("gateway plan"))
    }

    @Test func afterAnAbsenceOfTheRouterWorkersAreWaitedForWithTheirJobs() throws {
        var bench = Bench()
        let instance = Identifier.timeOrdered(milliseconds: 5)
        let peer = try bench.worker(credit: 1, instance: instance)
        try bench.submit()
        let job = try #require(bench.taken().dispatches.first).0
        _ = bench.event(job, from: peer)
        bench.dispatcher.graceEnds = bench.now + 3000
        bench.dispatcher.unreachable(peer, now: bench.now)
        #expect(bench.taken().said.isEmpty)
        let held = Registration.Held(execution: job, sequence: 1, state: .running)
        let again = try bench.worker(credit: 0, held: [held], instance: instance)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty && said.isEmpty)
        #expect(bench.event(job, from: again, terminal: .terminal, kind: .finished) == "forward")
        // Who has not come back by then is lost.
        try bench.submit()
        _ = bench.taken()
        bench.dispatcher.unreachable(again, now: bench.now + 3000)
        #expect(bench.dispatcher.registry.workers.isEmpty)
    }

    /// A worker whose connection is reset, with a job that it has begun.
    private func reset(_ bench: inout Bench, instance: Identifier) throws -> (job: Execution, peer: Peer) {
        let peer = try bench.worker(credit: 1, instance: instance)
        let job = try #require(bench.taken().dispatches.first).0
        _ = bench.event(job, from: peer)
        bench.dispatcher.unreachable(peer, now: bench.now)
        return (job, peer)
    }

    @Test(arguments: [true, false]) func aWorkerWhoseConnectionIsResetGoesOnWithWhatItHas(idempotent: Bool) throws {
        var bench = Bench()
        let instance = Identifier.timeOrdered(milliseconds: 5)
        let peer = try bench.worker(credit: 1, idempotent: idempotent, instance: instance)
        let request = try bench.submit()
        bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        let job = try #require(bench.taken().dispatches.first).0
        _ = bench.event(job, from: peer)
        bench.dispatcher.unreachable(peer, now: bench.now)
        bench.now += 300
        bench.dispatcher.tick(now: bench.now)
        let held = Registration.Held(execution: job, sequence: 1, state: .running)
        let again = try bench.worker(credit: 0, idempotent: idempotent, held: [held], instance: instance)
        bench.now += 300
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said.isEmpty)
        #expect(bench.event(job, from: again, terminal: .terminal, kind: .finished) == "forward")
    }

    @Test func aWorkerThatDoesNotComeBackIsLostWithinAHeartbeat() throws {
        var bench = Bench()
        try bench.worker(credit: 0)
        try bench.submit()
        _ = try reset(&bench, instance: .timeOrdered(milliseconds: 5))
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said.isEmpty)
        bench.dispatcher.tick(now: bench.now + 400)
        #expect(bench.taken().said == ["gateway event retrying"])
    }

    @Test func whatAWorkerHasNotTakenUpGoesToAnotherAtOnce() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        let request = try bench.submit()
        _ = bench.taken()
        let other = try bench.worker(credit: 1)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        let job = try #require(bench.dispatcher.jobs[request.job(step: 1)])
        bench.dispatcher.undelivered(job, to: worker, now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.map(\.1) == [other] && said.isEmpty)
        #expect(bench.dispatcher.registry.workers[peer] == nil && job.unseenLosses == 0)
    }

    @Test func aLossThatWasNoneCostsNoAttempt() throws {
        var bench = Bench()
        let instance = Identifier.timeOrdered(milliseconds: 5)
        try bench.worker(credit: 0)
        try bench.submit()
        var ends = 0
        for loss in 1...9 {
            let (job, _) = try reset(&bench, instance: instance)
            bench.now += 500
            bench.dispatcher.tick(now: bench.now)
            let said = bench.taken().said
            ends += said.contains("gateway event failed dead_lettered") ? 1 : 0
            // Five times it is believed, then three losses are three attempts.
            #expect(ends == (loss < 8 ? 0 : 1), "loss \(loss): \(said)")
            guard ends == 0 else { break }
            let held = Registration.Held(execution: job, sequence: 1, state: .running)
            let back = try bench.worker(credit: 0, held: [held], instance: instance)
            _ = bench.taken()
            bench.dispatcher.workerLost(back, reason: "left", now: bench.now)
        }
        #expect(ends == 1)
    }

    @Test func aWorkerThatSaidGoodbyeHasBegunNothingThatItDidNotReport() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1, idempotent: false)
        let request = try bench.submit()
        bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        #expect(bench.taken().dispatches.count == 1)
        bench.dispatcher.workerLost(peer, reason: "left", mayHaveBegun: false, now: bench.now)
        #expect(bench.taken().said.isEmpty)
        _ = try bench.worker(credit: 1, idempotent: false)
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
    }

    @Test func aRegistrationThatIsRefusedGivesTheJobsOfTheFormerOneBack() throws {
        var bench = Bench()
        let peer = try bench.worker("echo", credit: 1)
        _ = try bench.worker("echo", credit: 1)
        try bench.submit()
        let held = try #require(bench.taken().dispatches.first)
        let other = held.1 == peer ? peer : held.1
        #expect(throws: JobError.self) { _ = try bench.worker("", credit: 1, again: other) }
        #expect(bench.taken().dispatches.map(\.0.job) == [held.0.job])
    }

    @Test(arguments: [0, 257])
    func aNameHasALength(_ length: Int) {
        expectRefusal("\"worker\"", worker: String(repeating: "n", count: length), skills: ["a"])
    }

    @Test func aSkillIsRegisteredOnceByAWorker() {
        expectRefusal("\"a\" is registered twice", worker: "w", skills: ["a", "a"])
    }

    private func expectRefusal(_ words: String, worker: String, skills: [String]) {
        var bench = Bench()
        let registration = Registration(
            worker: worker,
            instance: .none,
            host: "h",
            pid: 7,
            product: "t",
            concurrency: 1,
            manifests: skills.map { SkillManifest(id: $0, description: "d") }
        )
        let error = #expect(throws: JobError.self) {
            _ = try bench.dispatcher.registered(registration, peer: Peer(number: 77), credit: 1, now: 1)
        }
        #expect(error?.message.contains(words) == true)
        #expect(bench.dispatcher.registry.workers.isEmpty)
    }
}
