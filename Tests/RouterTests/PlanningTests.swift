import Bus
import Testing
import Wire

@testable import Router

/// Requests between their submission and their plan.
struct PlanningTests {
    private let request = Identifier.timeOrdered(milliseconds: 1)

    private func task(_ bench: Bench, generation: UInt32 = 1) throws -> PlanningTask {
        let header = Header(.submit, job: request, generation: generation)
        let body = try JobBody.encode(skill: "", input: JobInput(session: "s", text: "t"))
        return PlanningTask(header: header, parcel: Parcel(header: header, body: body), gateway: bench.gateway)
    }

    private var result: PlanningResult {
        .plan(
            Plan(mode: .single, steps: [.init(number: 1, skill: "echo")]),
            .init(input: JobInput(session: "s", text: "t"), material: nil, isNew: true)
        )
    }

    @Test func aRequestIsPlannedOnceHoweverOftenItComes() throws {
        var bench = Bench()
        _ = try bench.worker()
        try bench.submit("", request: request, generation: 1)
        try bench.submit("", request: request, generation: 1)
        #expect(bench.taken().said == ["plan"])
        bench.dispatcher.planned(try task(bench), result, now: bench.now)
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 1)])
    }

    @Test func aCancelWhileItIsPlannedEndsIt() throws {
        var bench = Bench()
        _ = try bench.worker()
        try bench.submit("", request: request, generation: 1)
        _ = bench.taken()
        bench.dispatcher.cancelled(request, now: bench.now)
        bench.dispatcher.planned(try task(bench), result, now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty)
        #expect(said == ["gateway nack cancelled"])
        #expect(bench.dispatcher.planning.isEmpty)
    }

    @Test func anUnclearRequestIsAskedBackAndOver() throws {
        var bench = Bench()
        _ = try bench.worker()
        let candidates = [
            Plan.Candidate(skill: "a", displayName: "A", score: 0.7),
            Plan.Candidate(skill: "b", displayName: "B", score: 0.7),
        ]
        for scores in [nil, [Plan.Score(skill: "a", score: 0.7)]] {
            try bench.submit("", request: request, generation: 1)
            _ = bench.taken()
            let plan = Plan(mode: .none, steps: [], scores: scores)
            bench.dispatcher.planned(try task(bench), .unclear(plan, candidates), now: bench.now)
            // With the scores, where they were asked for.
            #expect(bench.taken().said == (scores == nil ? [] : ["gateway plan"]) + ["gateway nack ambiguous"])
            #expect(bench.dispatcher.planning.isEmpty && bench.dispatcher.requests.isEmpty)
            #expect(bench.dispatcher.jobs.isEmpty)
            #expect(bench.questions.last?.candidates == candidates)
        }
        #expect(bench.questions.count == 2)
    }

    @Test func aPlanOfAnOlderSubmissionIsNotRun() throws {
        var bench = Bench()
        _ = try bench.worker()
        try bench.submit("", request: request, generation: 1)
        try bench.submit("", request: request, generation: 2)
        _ = bench.taken()
        bench.dispatcher.planned(try task(bench, generation: 1), result, now: bench.now)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.planned(try task(bench, generation: 2), result, now: bench.now)
        #expect(bench.taken().dispatches.map(\.0.generation) == [2])
    }

    @Test func noMoreWaitForThePlannerThanMay() throws {
        var bench = Bench()
        _ = try bench.worker()
        for _ in 0..<Limits.planning { try bench.submit("") }
        _ = bench.taken()
        try bench.submit("")
        #expect(bench.taken().said == ["gateway nack overloaded"])
    }

    @Test func norMoreBytesThanMay() throws {
        var bench = Bench()
        _ = try bench.worker()
        let header = { Header(.submit, job: .timeOrdered(milliseconds: 1), generation: 1) }
        let text = String(repeating: "t", count: Limits.requestText)
        let body = try JobBody.encode(skill: "", input: JobInput(session: "s", text: text))
        var planned = 0
        for _ in 0..<100 {
            let header = header()
            let parcel = Parcel(header: header, body: body)
            bench.dispatcher.submitted(header, skill: "", parcel: parcel, from: bench.gateway, now: bench.now)
            planned += bench.taken().said.count { $0 == "plan" }
        }
        #expect(planned == Limits.queuedBytesPerSkill / (body.count + Header.size))
        // What has been planned makes room.
        let id = try #require(bench.dispatcher.planning.keys.first)
        #expect(bench.dispatcher.takePlanning(id, generation: 1) != nil)
        let next = header()
        bench.dispatcher.submitted(
            next,
            skill: "",
            parcel: Parcel(header: next, body: body),
            from: bench.gateway,
            now: bench.now
        )
        #expect(bench.taken().said == ["plan"])
    }

    @Test func calledJobsHaveNumbersOfTheirOwnHoweverManyHaveEnded() throws {
        var bench = Bench()
        let caller = try bench.worker("caller", credit: 1)
        let called = try bench.worker("echo", credit: 1)
        let request = try bench.submit("caller")
        let parent = try #require(bench.taken().dispatches.first).0
        var numbers: [UInt16] = []
        for call in 1...3 {
            let header = Header(
                .call,
                job: parent.job,
                generation: parent.generation,
                attempt: parent.attempt,
                sequence: UInt64(call)
            )
            let body = try JobBody.encode(skill: "echo", input: JobInput(session: "s", text: "t", depth: 1))
            let worker = try #require(bench.dispatcher.registry.workers[caller])
            bench.dispatcher.called(header, body: body, frames: [], by: worker, now: bench.now)
            let job = try #require(bench.taken().dispatches.first).0
            numbers.append(job.job.step)
            let finished = try JobFinished(output: SkillOutput(text: "o"), engine: "e", milliseconds: 1).encoded()
            _ = bench.event(job, from: called, terminal: .terminal, kind: .finished, payload: finished)
            bench.dispatcher.acknowledged(job)
        }
        #expect(numbers == [100, 101, 102])
        _ = bench.event(parent, from: caller, terminal: .terminal, kind: .finished)
        bench.dispatcher.acknowledged(parent)
        #expect(bench.dispatcher.nextCallStep.isEmpty)
        #expect(bench.dispatcher.jobs[request.job(step: 1)] == nil)
    }
}
