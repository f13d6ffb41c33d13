import Bus
import Testing
import Wire

@testable import Router

/// Executions that a worker has of a router that is gone: they go on as the request's that comes here, or are fenced.
struct AdoptionTests {
    private let request = Identifier.timeOrdered(milliseconds: 1)
    private var job: Identifier { request.job(step: 1) }
    private func execution(_ generation: UInt32 = 1, _ attempt: UInt32 = 1, step: UInt16 = 1) -> Execution {
        Execution(job: request.job(step: step), generation: generation, attempt: attempt)
    }
    private func held(_ execution: Execution) -> Registration.Held {
        .init(execution: execution, sequence: 4, state: .running, router: .timeOrdered(milliseconds: 99))
    }

    /// A router that has just started.
    private func young() -> Bench {
        var bench = Bench()
        bench.now = 100
        return bench
    }

    @Test(arguments: [true, false])
    func whatRunsGoesOnWhicheverComesFirst(_ workerComesFirst: Bool) throws {
        var bench = young()
        var peer = Peer(number: 0)
        func workerComes(_ bench: inout Bench) throws {
            peer = try bench.worker(credit: 0, idempotent: false, held: [held(execution())])
        }
        if workerComesFirst { try workerComes(&bench) }
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        if !workerComesFirst { try workerComes(&bench) }
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty)
        #expect(said == ["worker adopted"])
        // Its events are passed on as they are, and its end is the job's.
        #expect(bench.event(execution(), from: peer) == "forward")
        #expect(bench.event(execution(), from: peer, terminal: .terminal, kind: .finished) == "forward")
        bench.dispatcher.acknowledged(execution())
        #expect(bench.taken().said == ["worker eventAck"])
        #expect(bench.dispatcher.jobs.isEmpty && bench.dispatcher.claims.isEmpty)
    }

    @Test func aRequestOfAnotherRouterWaitsForWorkersThatMayHaveIt() throws {
        var bench = young()
        _ = try bench.worker(credit: 1)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.tick(now: 1999)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.tick(now: 2000)
        #expect(bench.taken().dispatches.map(\.0) == [execution(2, 1)])
    }

    @Test func aSkillThatIsNotHereYetIsWaitedForAndItsWorkerKeepsWhatItHas() throws {
        var bench = Bench()
        _ = try bench.worker("other", credit: 1)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        let end = bench.now + Dispatcher.orphanLimit
        bench.dispatcher.tick(now: end - 1)
        #expect(bench.taken().said.allSatisfy { !$0.contains("nack") })
        bench.now = end - 1
        _ = try bench.worker(credit: 0, idempotent: false, held: [held(execution())])
        #expect(bench.taken().said.contains("worker adopted"))
        #expect(bench.dispatcher.jobs[job]?.execution == execution())
    }

    @Test func aSkillThatIsNotHereInTimeIsNoUnknownOne() throws {
        var bench = Bench()
        _ = try bench.worker("other", credit: 1)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        _ = bench.taken()
        bench.now += Dispatcher.orphanLimit
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway nack no_worker"])
        #expect(bench.dispatcher.returning.isEmpty)
    }

    @Test func withoutClaimsItBeginsAHeartbeatAfterItsWorkerHasCome() throws {
        var bench = Bench()
        _ = try bench.worker("other", credit: 1)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        bench.now += 5000
        _ = try bench.worker(credit: 1)
        #expect(bench.taken().dispatches.isEmpty)
        bench.now += 1000
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().dispatches.map(\.0) == [execution(2, 1)])
    }

    @Test func aRouterThatHasBeenThereWaitsOneHeartbeat() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 1)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        bench.dispatcher.tick(now: bench.now + 999)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.tick(now: bench.now + 1000)
        #expect(bench.taken().dispatches.count == 1)
    }

    @Test func aWorkerMayClaimLaterThanItRegisters() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 0)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.claimed([execution()], by: worker, now: bench.now + 10)
        #expect(bench.taken().said == ["worker adopted"])
        #expect(bench.event(execution(), from: peer) == "forward")
    }

    @Test func whatIsClaimedWhileTheJobWaitsForAWorkerIsTakenAsWell() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 0)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        bench.dispatcher.tick(now: bench.now + 1000)
        #expect(bench.taken().dispatches.isEmpty)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.claimed([execution()], by: worker, now: bench.now + 1001)
        #expect(bench.taken().said.contains("worker adopted"))
        bench.dispatcher.credited(worker, free: 1, seen: 0, now: bench.now + 1002)
        #expect(bench.taken().dispatches.isEmpty)
    }

    @Test func aClaimThatComesTooLateIsFenced() throws {
        var bench = young()
        _ = try bench.worker(credit: 1)
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        bench.dispatcher.tick(now: 2000)
        #expect(bench.taken().dispatches.count == 1)
        bench.now = 2001
        _ = try bench.worker(credit: 0, held: [held(execution())])
        #expect(bench.taken().said == ["worker fenced"])
    }

    @Test func anExecutionThatTheGatewayHasSeenALaterOneOfIsFenced() throws {
        var bench = young()
        let peer = try bench.worker(credit: 1, held: [held(execution(1, 1))])
        let body = try JobBody.encode(
            skill: "echo",
            input: JobInput(session: "s", text: "t"),
            begun: [execution(1, 2)]
        )
        let header = Header(.submit, flags: .elsewhere, job: request, generation: 2)
        let parcel = Parcel(header: header, body: body)
        bench.dispatcher.submitted(header, skill: "echo", parcel: parcel, from: bench.gateway, now: bench.now)
        bench.dispatcher.tick(now: 2000)
        let (dispatches, said) = bench.taken()
        #expect(said == ["worker fenced"])
        // Attempts count on from what the gateway has seen.
        #expect(dispatches.map(\.0) == [execution(2, 3)])
        #expect(bench.event(execution(1, 1), from: peer) == "fence")
    }

    @Test func aWorkerOfAnotherSkillTakesNothing() throws {
        var bench = young()
        let peer = try bench.worker("other", credit: 0, held: [held(execution())])
        _ = try bench.worker(credit: 1, instance: .timeOrdered(milliseconds: 2))
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        let (dispatches, said) = bench.taken()
        #expect(said == ["worker fenced"])
        #expect(dispatches.map(\.0) == [execution(2, 1)])
        #expect(bench.event(execution(), from: peer, terminal: .terminal, kind: .finished) == "fence")
    }

    @Test func anOlderClaimIsNotWhatIsWaitedFor() throws {
        var bench = young()
        _ = try bench.worker(credit: 1, held: [held(execution(1, 1))])
        let input = JobInput(session: "s", text: "t")
        let body = try JobBody.encode(skill: "echo", input: input, begun: [execution(1, 2)])
        let header = Header(.submit, flags: .elsewhere, job: request, generation: 2)
        let parcel = Parcel(header: header, body: body)
        bench.dispatcher.submitted(header, skill: "echo", parcel: parcel, from: bench.gateway, now: bench.now)
        #expect(bench.taken().dispatches.isEmpty)
        // The one that has it comes a moment later.
        let peer = try bench.worker(
            credit: 0,
            held: [held(execution(1, 2))],
            instance: .timeOrdered(milliseconds: 2)
        )
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty && Set(said) == ["worker fenced", "worker adopted"])
        #expect(bench.event(execution(1, 2), from: peer) == "forward")
    }

    @Test func ofTwoClaimsTheLaterCounts() throws {
        var bench = young()
        let first = try bench.worker(credit: 0, held: [held(execution(1, 1))])
        let second = try bench.worker(credit: 0, held: [held(execution(1, 2))], instance: .timeOrdered(milliseconds: 2))
        #expect(bench.taken().said == ["worker fenced"])
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        #expect(bench.taken().said == ["worker adopted"])
        #expect(bench.event(execution(1, 1), from: first) == "fence")
        #expect(bench.event(execution(1, 2), from: second) == "forward")
    }

    @Test func nothingOfAClaimIsPassedOnBeforeItsRequestIsHere() throws {
        var bench = young()
        let peer = try bench.worker(credit: 0, held: [held(execution())])
        #expect(bench.event(execution(), from: peer, terminal: .terminal, kind: .finished) == "drop")
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        #expect(bench.event(execution(), from: peer, terminal: .terminal, kind: .finished) == "forward")
    }

    @Test func aClaimWithoutARequestEnds() throws {
        var bench = young()
        _ = try bench.worker(credit: 0, held: [held(execution())])
        #expect(bench.taken().said.isEmpty)
        for worker in bench.dispatcher.registry.workers.values { worker.lastHeard = 100_000 }
        bench.dispatcher.tick(now: bench.now + Dispatcher.claimLimit)
        #expect(bench.taken().said.contains("worker fenced"))
        #expect(bench.dispatcher.claims.isEmpty)
    }

    @Test func aCancelEndsAClaim() throws {
        var bench = young()
        _ = try bench.worker(credit: 0, held: [held(execution())])
        bench.dispatcher.cancelled(request, now: bench.now)
        #expect(bench.taken().said == ["worker fenced"])
    }

    @Test func aWorkerThatDiesWithWhatWasTakenOverIsFollowedByAnother() throws {
        var bench = young()
        let peer = try bench.worker(credit: 0, held: [held(execution())])
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        _ = bench.taken()
        _ = try bench.worker(credit: 1, instance: .timeOrdered(milliseconds: 2))
        bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.map(\.0) == [execution(2, 2)])
        #expect(said == ["gateway event retrying"])
    }

    @Test func whatMustNotRunTwiceAndWasTakenOverEndsUnknownWithItsWorker() throws {
        var bench = young()
        let peer = try bench.worker(credit: 0, idempotent: false, held: [held(execution())])
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        _ = bench.taken()
        _ = try bench.worker(credit: 1, idempotent: false, instance: .timeOrdered(milliseconds: 2))
        bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
        #expect(bench.taken().said == ["gateway event failed outcome_unknown"])
    }

    @Test func aHeartbeatThatWasUnderWayTakesNothingAway() throws {
        var bench = young()
        let peer = try bench.worker(credit: 0, held: [held(execution())])
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.heartbeat(from: worker, free: 0, seen: 0, running: [], now: bench.now + 1)
        #expect(worker.leases.count == 1)
        bench.dispatcher.heartbeat(
            from: worker,
            free: 0,
            seen: 0,
            running: [],
            now: bench.now + Dispatcher.adoptionGrace
        )
        #expect(worker.leases.count == 0)
    }

    @Test func theStepsOfAPlanAreTakenOverEachInItsTurn() throws {
        var bench = young()
        let peer = try bench.worker(credit: 1, held: [held(execution(step: 1)), held(execution(step: 2))])
        let plan = Plan(
            mode: .chain,
            steps: [.init(number: 1, skill: "echo"), .init(number: 2, skill: "echo", after: ["s1"])]
        )
        let input = JobInput(session: "s", text: "t", plan: plan)
        let header = Header(.submit, flags: .elsewhere, job: request, generation: 2)
        let parcel = Parcel(header: header, body: try JobBody.encode(skill: "", input: input))
        bench.dispatcher.planning[request] = .init(generation: 2, bytes: 0)
        bench.dispatcher.planned(
            PlanningTask(header: header, parcel: parcel, gateway: bench.gateway),
            .plan(plan, .init(input: input, material: nil, isNew: false)),
            now: bench.now
        )
        #expect(bench.taken().said == ["worker adopted"])
        let finished = try JobFinished(output: SkillOutput(text: "o"), engine: "e", milliseconds: 1).encoded()
        let end = bench.event(
            execution(step: 1),
            from: peer,
            terminal: .terminal,
            kind: .finished,
            payload: finished
        )
        #expect(end == "forward")
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty && said == ["worker adopted"])
        #expect(bench.event(execution(step: 2), from: peer) == "forward")
    }

    @Test func theSameSubmissionAgainTakesNothingBack() throws {
        var bench = young()
        let peer = try bench.worker(credit: 0, held: [held(execution())])
        try bench.submit("echo", request: request, generation: 2, flags: .elsewhere)
        try bench.submit("echo", request: request, generation: 2, flags: [.elsewhere, .resent])
        #expect(bench.taken().said == ["worker adopted"])
        #expect(bench.event(execution(), from: peer) == "forward")
    }

    @Test func whatAnotherRouterHasIsOverHere() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit("echo", request: request, generation: 1)
        let first = try #require(bench.taken().dispatches.first).0
        bench.dispatcher.superseded(request, generation: 1, now: bench.now)
        #expect(bench.taken().said.isEmpty)
        bench.dispatcher.superseded(request, generation: 2, now: bench.now)
        #expect(bench.taken().said == ["worker fenced"])
        #expect(bench.event(first, from: peer) == "fence")
    }

    @Test func slotsThatAreElsewhereAreAskedFor() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 0)
        bench.dispatcher.registry.workers[peer]?.sharesSlots = true
        try bench.submit()
        #expect(bench.taken().said == ["worker heartbeat"])
        // Not with every job.
        try bench.submit()
        #expect(bench.taken().said.isEmpty)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.credited(worker, free: 8, seen: 0, now: bench.now)
        #expect(bench.taken().dispatches.count == 2)
        bench.dispatcher.tick(now: bench.now + 250)
        #expect(bench.taken().said == ["worker heartbeat"])
    }

    @Test func anEndWhoseSlotGoesElsewhereGivesNoCredit() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let first = try #require(bench.taken().dispatches.first).0
        _ = bench.event(first, from: peer, terminal: [.terminal, .slotMoves], kind: .finished)
        #expect(bench.dispatcher.registry.workers[peer]?.credit == 0)
    }
}
