import Bus
import Testing
import Wire

@testable import Router

/// Requests that want a model to choose the skill: a skill is asked, and whatever comes of it, they are planned once.
struct ChoiceTests {
    private let request = Identifier.timeOrdered(milliseconds: 1)

    /// The planner is done with a request that wants a model to choose.
    private func open(
        _ bench: inout Bench,
        local: (inout PlanningResult) -> Void = { _ in },
        request: Identifier? = nil,
        generation: UInt32 = 1,
        deadline: UInt64 = 0
    ) throws {
        let request = request ?? self.request
        let input = JobInput(session: "s", text: "t", privacy: .allow, routing: .model)
        let header = Header(.submit, job: request, generation: generation, value: deadline)
        let parcel = Parcel(header: header, body: try JobBody.encode(skill: "", input: input))
        let task = PlanningTask(header: header, parcel: parcel, gateway: bench.gateway)
        bench.dispatcher.planning[request] = .init(generation: generation, bytes: 0)
        var own = PlanningResult.plan(.single("own"), .init(input: input, material: "m", isNew: true))
        local(&own)
        let choice = OpenChoice(input: input, material: "m", arguments: ["other": ["n": 3]], scores: nil)
        bench.dispatcher.planned(task, .open(choice, local: own), now: bench.now)
    }

    private func end(_ bench: inout Bench, _ execution: Execution, _ peer: Peer, _ values: [String: JSONValue]) throws {
        var part = OutputPart(kind: "route")
        part.values = values
        let output = SkillOutput(text: "", parts: [part])
        let finished = JobFinished(output: output, engine: "offline", milliseconds: 1)
        let payload = try JSONBody.encode(finished)
        _ = bench.event(execution, from: peer, terminal: .terminal, kind: .finished, payload: payload)
    }

    private func bench() throws -> (Bench, asker: Peer) {
        var bench = Bench()
        try bench.worker("own")
        try bench.worker("other")
        let asker = try bench.worker("asker", produces: ["text", "route"])
        return (bench, asker)
    }

    private func plan(_ bench: Bench) -> Plan? { bench.dispatcher.requests[request]?.plan }

    @Test func theSkillThatTheModelNamesRuns() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let asked = bench.taken()
        #expect(asked.said.isEmpty && asked.dispatches.map(\.0.job) == [request.job(step: 100)])
        let body = try #require(bench.dispatcher.jobs[request.job(step: 100)]).parcel.body()
        let (skill, input) = try JobBody.decode(body)
        #expect(skill == "asker" && input.arguments == ["choose": true] && input.privacy == .allow)
        try end(&bench, asked.dispatches[0].0, asker, ["skill": "other", "model": "big"])
        let taken = bench.taken()
        #expect(taken.said.contains("gateway plan") && taken.dispatches.map(\.0.job) == [request.job(step: 1)])
        #expect(plan(bench)?.decision == Plan.Decision(by: "big"))
        #expect(plan(bench)?.steps == [Plan.Step(number: 1, skill: "other", arguments: ["n": 3])])
        let step = try JobBody.decode(try #require(bench.dispatcher.jobs[request.job(step: 1)]).parcel.body()).input
        #expect(step.routing == nil && step.material == "m")
        #expect(bench.dispatcher.planning.isEmpty && bench.dispatcher.choosing.isEmpty)
    }

    @Test(
        arguments: [
            (["reason": "no model"], "no model"), ([:], "the model named no skill"),
            (["skill": "nowhere"], "the model named \"nowhere\", which is no skill here"),
        ] as [([String: JSONValue], String)]
    )
    func whatIsNoChoiceLeavesItToTheRouter(_ values: [String: JSONValue], _ reason: String) throws {
        var (bench, asker) = try bench()
        try open(&bench)
        try end(&bench, bench.taken().dispatches[0].0, asker, values)
        #expect(plan(bench)?.steps.map(\.skill) == ["own"])
        #expect(plan(bench)?.decision == Plan.Decision(by: "local", reason: reason))
    }

    @Test func aFailureLeavesItToTheRouter() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let payload = try JSONBody.encode(JobError(code: "x", message: "it broke"))
        let execution = bench.taken().dispatches[0].0
        _ = bench.event(execution, from: asker, terminal: [.terminal, .failed], kind: .failed, payload: payload)
        #expect(plan(bench)?.decision == Plan.Decision(by: "local", reason: "it broke"))
    }

    @Test func whoeverCannotBeAskedIsNotWaitedFor() throws {
        var bench = Bench()
        try bench.worker("own")
        try open(&bench)
        #expect(plan(bench)?.decision?.reason == "no skill here asks a model which skill is meant")
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
    }

    @Test func afterTwoSecondsTheRouterDecides() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let execution = bench.taken().dispatches[0].0
        bench.now += 1900
        bench.dispatcher.tick(now: bench.now)
        #expect(plan(bench) == nil)
        bench.now += 101
        bench.dispatcher.tick(now: bench.now)
        #expect(plan(bench)?.decision == Plan.Decision(by: "local", reason: "no answer of a model within 2 s"))
        #expect(bench.taken().said.contains("worker cancel"))
        // What comes later changes nothing.
        try end(&bench, execution, asker, ["skill": "other", "model": "big"])
        #expect(bench.taken().dispatches.isEmpty && plan(bench)?.steps.map(\.skill) == ["own"])
    }

    @Test func nobodyWaitsForAFreeSlot() throws {
        var bench = Bench()
        try bench.worker("own")
        try bench.worker("asker", credit: 0, produces: ["route"])
        try open(&bench)
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
        #expect(plan(bench)?.decision?.reason == "asker, which would ask a model, has no free slot")
        #expect(bench.dispatcher.choosing.isEmpty && bench.dispatcher.planning.isEmpty)
    }

    /// A slot that is promised to another router may come within a moment; longer nobody waits for it.
    @Test func aSlotThatAnotherRouterHasIsWaitedForShortly() throws {
        var bench = Bench()
        try bench.worker("own")
        let asker = try bench.worker("asker", credit: 0, produces: ["route"])
        let worker = try #require(bench.dispatcher.registry.workers[asker])
        worker.sharesSlots = true
        try open(&bench)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.credited(worker, free: 1, seen: 0, now: bench.now)
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 100)])
        // It has its two seconds now.
        bench.now += 1900
        bench.dispatcher.tick(now: bench.now)
        #expect(plan(bench) == nil)

        var other = Bench()
        try other.worker("own")
        let peer = try other.worker("asker", credit: 0, produces: ["route"])
        other.dispatcher.registry.workers[peer]?.sharesSlots = true
        try open(&other)
        other.now += Dispatcher.slotTime
        other.dispatcher.tick(now: other.now)
        #expect(other.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
        #expect(plan(other)?.decision?.reason == "asker, which would ask a model, has no free slot")
    }

    /// Others are planned meanwhile, however many choices are waited for, and whatever they carry.
    @Test func choicesHoldUpNoOtherRequest() throws {
        var bench = Bench()
        try bench.worker("own")
        try bench.worker("asker", credit: 2, produces: ["route"])
        try open(&bench)
        bench.dispatcher.planning[request] = .init(generation: 1, bytes: Limits.queuedBytesPerSkill + 1)
        try bench.submit("")
        #expect(bench.taken().said.last == "plan")
        // What waits for choices is bounded as well: the next one is decided here.
        let second = Identifier.timeOrdered(milliseconds: 2)
        try open(&bench, request: second)
        #expect(bench.dispatcher.requests[second]?.plan.decision?.by == "local")
    }

    // MARK: One call, and no more

    /// What comes in for the one who was asked is that: whatever happens to it, nobody is asked again.
    private func check(_ bench: inout Bench, _ reason: String) {
        let taken = bench.taken()
        #expect(taken.dispatches.map(\.0.job) == [request.job(step: 1)])
        #expect(plan(bench)?.steps.map(\.skill) == ["own"])
        #expect(plan(bench)?.decision?.by == "local" && plan(bench)?.decision?.reason?.contains(reason) == true)
        #expect(bench.dispatcher.choosing.isEmpty && bench.dispatcher.planning.isEmpty)
    }

    @Test func aFailureThatMayPassIsOne() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let payload = try JSONBody.encode(JobError(code: "busy", message: "not now", retryable: true))
        let execution = bench.taken().dispatches[0].0
        let flags: Header.Flags = [.terminal, .failed, .retryable]
        #expect(bench.event(execution, from: asker, terminal: flags, kind: .failed, payload: payload) == "forward")
        check(&bench, "not now")
    }

    @Test(arguments: [true, false]) func aLostWorkerIsNotReplaced(hasBegun: Bool) throws {
        var (bench, asker) = try bench()
        try bench.worker("asker", produces: ["text", "route"])
        try open(&bench)
        let (execution, peer) = bench.taken().dispatches[0]
        #expect(peer == asker || bench.dispatcher.registry.workers[peer] != nil)
        if hasBegun { _ = bench.event(execution, from: peer) }
        bench.dispatcher.workerLost(peer, reason: "its worker died", now: bench.now)
        check(&bench, "its worker died")
    }

    @Test func aWorkerThatDoesNotTakeItIsNotReplaced() throws {
        for code in [JobError.Code.draining, "busy"] {
            var (bench, _) = try bench()
            try bench.worker("asker", produces: ["text", "route"])
            try open(&bench)
            let (execution, peer) = bench.taken().dispatches[0]
            let worker = try #require(bench.dispatcher.registry.workers[peer])
            bench.dispatcher.refused(execution, by: worker, JobError(code: code, message: "no"), now: bench.now)
            check(&bench, "no")
        }
    }

    @Test func aWorkerThatLeavesIsNotReplaced() throws {
        var (bench, _) = try bench()
        try bench.worker("asker", produces: ["text", "route"])
        try open(&bench)
        let (execution, peer) = bench.taken().dispatches[0]
        _ = bench.event(execution, from: peer)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.released(execution, by: worker, now: bench.now)
        check(&bench, "its worker is shutting down")
    }

    /// The plan runs already: the end of the choice that the gateway missed is of no use to anybody.
    @Test func aChoiceWhoseEndIsLostIsNotMadeAgain() throws {
        var (bench, _) = try bench()
        try bench.worker("asker", produces: ["text", "route"])
        try open(&bench)
        let (execution, peer) = bench.taken().dispatches[0]
        try end(&bench, execution, peer, ["skill": "other", "model": "big"])
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
        bench.dispatcher.repeatUnanswered(request)
        bench.dispatcher.workerLost(peer, reason: "its worker died", now: bench.now)
        bench.now += 1000
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().dispatches.isEmpty)
        #expect(bench.dispatcher.jobs[request.job(step: 100)] == nil)
    }

    // MARK: Time and size

    @Test func aChoiceTakesHalfOfTheTimeAtMost() throws {
        var (bench, _) = try bench()
        try open(&bench, deadline: 1000)
        let job = try #require(bench.dispatcher.jobs[request.job(step: 100)])
        #expect(job.deadline == bench.now + 500)
        bench.now += 500
        bench.dispatcher.tick(now: bench.now)
        #expect(plan(bench)?.decision?.reason == "no answer of a model within 0.5 s")
        // Where that is too little for any answer, nobody is asked.
        var (short, _) = try self.bench()
        try open(&short, deadline: 199)
        #expect(plan(short)?.decision?.reason == "there is no time to ask a model")
    }

    @Test func whatAChooserSaysIsBounded() throws {
        let long = String(repeating: "长", count: 100_000)
        let said: [[String: JSONValue]] = [
            ["reason": .string(long)], ["skill": .string(long)], ["skill": "other", "model": .string(long)],
        ]
        for values in said {
            var (bench, asker) = try bench()
            try open(&bench)
            try end(&bench, bench.taken().dispatches[0].0, asker, values)
            let decision = try #require(plan(bench)?.decision)
            #expect(decision.by.utf8.count <= Limits.shortString)
            #expect((decision.reason ?? "").utf8.count <= 2 * Limits.shortString)
            #expect(decision.by == "local" || decision.by.hasPrefix("长"))
        }
        var (bench, asker) = try bench()
        try open(&bench)
        let payload = try JSONBody.encode(JobError(code: "x", message: long))
        let execution = bench.taken().dispatches[0].0
        _ = bench.event(execution, from: asker, terminal: [.terminal, .failed], kind: .failed, payload: payload)
        #expect((plan(bench)?.decision?.reason ?? long).utf8.count <= 2 * Limits.shortString)
    }

    @Test func aCancelEndsItOnce() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let execution = bench.taken().dispatches[0].0
        bench.dispatcher.cancelled(request, now: bench.now)
        #expect(bench.taken().said == ["worker cancel"])
        let payload = try JSONBody.encode(JobError(code: "cancelled", message: "cancelled"))
        _ = bench.event(execution, from: asker, terminal: [.terminal, .failed], kind: .failed, payload: payload)
        #expect(bench.taken().said == ["gateway nack cancelled"])
        #expect(bench.dispatcher.planning.isEmpty && bench.dispatcher.choosing.isEmpty && plan(bench) == nil)
    }

    @Test func aHigherGenerationBeginsAnew() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let execution = bench.taken().dispatches[0].0
        bench.dispatcher.superseded(request, generation: 2, now: bench.now)
        try open(&bench, generation: 2)
        #expect(bench.event(execution, from: asker, terminal: .terminal, kind: .finished) == "fence")
        bench.now += 2001
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.dispatcher.requests[request]?.generation == 2 && plan(bench)?.steps.map(\.skill) == ["own"])
    }

    @Test func aHigherGenerationThatIsRefusedLeavesNothingBehind() throws {
        var (bench, asker) = try bench()
        try open(&bench)
        let execution = bench.taken().dispatches[0].0
        bench.gateway.unacknowledged = Limits.unacknowledgedEnds
        try bench.submit("", request: request, generation: 2)
        #expect(bench.taken().said.contains { $0.hasPrefix("gateway nack") })
        #expect(bench.event(execution, from: asker, terminal: .terminal, kind: .finished) == "fence")
        #expect(bench.dispatcher.planning.isEmpty && bench.dispatcher.choosing.isEmpty)
        #expect(bench.dispatcher.jobs.isEmpty && bench.dispatcher.nextCallStep.isEmpty)
    }

    @Test func anUnclearTextIsStillAskedAbout() throws {
        var (bench, asker) = try bench()
        let candidates = ["own", "other"].map { Plan.Candidate(skill: $0, displayName: $0, score: 0.5) }
        try open(&bench, local: { $0 = .unclear(Plan(mode: .none, steps: []), candidates) })
        try end(&bench, bench.taken().dispatches[0].0, asker, ["reason": "no model"])
        let said = bench.taken().said
        #expect(said.filter { $0.hasPrefix("gateway plan") || $0.hasPrefix("gateway nack") }.count == 2)
        #expect(bench.questions.first?.candidates.map(\.skill) == ["own", "other"])
    }
}
