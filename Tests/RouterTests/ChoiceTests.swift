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
        generation: UInt32 = 1,
        deadline: UInt64 = 0
    ) throws {
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

    @Test func oneThatWaitsForAWorkerIsNotWaitedForLonger() throws {
        var bench = Bench()
        try bench.worker("own")
        try bench.worker("asker", credit: 0, produces: ["route"])
        try open(&bench)
        #expect(bench.taken().dispatches.isEmpty)
        bench.now += 2001
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
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
