import Bus
import Testing
import Wire

@testable import Router

/// Plans and calls: jobs that begin because of how others end.
struct PlanRunTests {
    private func planned(_ bench: inout Bench, _ plan: Plan, request: Identifier, input: JobInput? = nil) throws {
        let input = input ?? JobInput(session: "s", text: "t")
        let header = Header(.submit, job: request, generation: 1)
        let parcel = Parcel(header: header, body: try JobBody.encode(skill: "", input: input))
        let task = PlanningTask(header: header, parcel: parcel, gateway: bench.gateway)
        bench.dispatcher.planning[request] = .init(generation: 1, bytes: 0)
        bench.dispatcher.planned(
            task,
            .plan(plan, .init(input: input, material: nil, isNew: true)),
            now: bench.now
        )
    }

    private func finish(_ bench: inout Bench, _ execution: Execution, _ peer: Peer, text: String = "out") throws {
        let finished = JobFinished(output: SkillOutput(text: text), engine: "offline", milliseconds: 1)
        _ = bench.event(
            execution,
            from: peer,
            terminal: .terminal,
            kind: .finished,
            payload: try JSONBody.encode(finished)
        )
    }

    @Test func independentStepsRunAtOnce() throws {
        var bench = Bench()
        _ = try bench.worker("a")
        _ = try bench.worker("b")
        let request = Identifier.timeOrdered(milliseconds: 1)
        try planned(
            &bench,
            Plan(mode: .parallel, steps: [.init(number: 1, skill: "a"), .init(number: 2, skill: "b")]),
            request: request
        )
        let (dispatches, said) = bench.taken()
        #expect(said == ["gateway plan"])
        #expect(Set(dispatches.map(\.0.job)) == [request.job(step: 1), request.job(step: 2)])
    }

    @Test func aChainHandsOutputsOn() throws {
        var bench = Bench()
        let a = try bench.worker("a")
        _ = try bench.worker("b")
        let request = Identifier.timeOrdered(milliseconds: 1)
        try planned(
            &bench,
            Plan(
                mode: .chain,
                steps: [.init(number: 1, skill: "a"), .init(number: 2, skill: "b", after: ["s1"])]
            ),
            request: request
        )
        let first = bench.taken().dispatches
        #expect(first.map(\.0.job) == [request.job(step: 1)])
        try finish(&bench, first[0].0, a, text: "found")
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 2)])
        let body = try #require(bench.dispatcher.jobs[request.job(step: 2)]).parcel.body()
        #expect(try JobBody.decode(body).input.previous?.map(\.output.text) == ["found"])
    }

    @Test func aFailedStepSkipsWhatNeedsItAndNothingElse() throws {
        var bench = Bench()
        let a = try bench.worker("a")
        let b = try bench.worker("b", credit: 2)
        let request = Identifier.timeOrdered(milliseconds: 1)
        let steps: [Plan.Step] = [
            .init(number: 1, skill: "a"), .init(number: 2, skill: "b"), .init(number: 3, skill: "b", after: ["s1"]),
            .init(number: 4, skill: "b", after: ["s3"]),
        ]
        try planned(&bench, Plan(mode: .chain, steps: steps), request: request)
        let dispatches = bench.taken().dispatches
        let first = try #require(dispatches.first { $0.0.job.step == 1 })
        let payload = try JSONBody.encode(JobError(code: "x", message: "m"))
        _ = bench.event(first.0, from: a, terminal: [.terminal, .failed], kind: .failed, payload: payload)
        #expect(
            bench.taken().said == ["gateway event failed dependency_failed", "gateway event failed dependency_failed"]
        )
        let second = try #require(dispatches.first { $0.0.job.step == 2 })
        try finish(&bench, second.0, b)
        // Kept for the plan to be sent again, until the gateway has every end.
        #expect(bench.dispatcher.requests.count == 1)
        for job in bench.dispatcher.jobs.values { bench.dispatcher.acknowledged(job.execution) }
        #expect(bench.dispatcher.requests.isEmpty)
        #expect(bench.dispatcher.jobs.isEmpty)
    }

    @Test func oneStepOfFiveThatFailsOrHangsLeavesTheOthersAlone() throws {
        for hangs in [false, true] {
            var bench = Bench()
            let bad = try bench.worker("bad")
            let good = try bench.worker("good", credit: 4)
            let request = Identifier.timeOrdered(milliseconds: 1)
            let skills = ["good", "good", "bad", "good", "good"]
            let steps = skills.enumerated().map { Plan.Step(number: UInt16($0 + 1), skill: $1) }
            let plan = Plan(mode: .parallel, steps: steps)
            #expect(plan.onFailure == .goOn)
            try planned(&bench, plan, request: request)
            let dispatches = bench.taken().dispatches
            #expect(dispatches.count == 5)
            let third = try #require(dispatches.first { $0.0.job.step == 3 }).0
            if !hangs {
                let payload = try JSONBody.encode(JobError(code: "x", message: "m"))
                _ = bench.event(third, from: bad, terminal: [.terminal, .failed], kind: .failed, payload: payload)
            }
            for (execution, _) in dispatches where execution.job.step != 3 { try finish(&bench, execution, good) }
            // Nothing of the others is cancelled, fenced or failed.
            #expect(bench.taken().said == [])
            for (execution, _) in dispatches where execution.job.step != 3 { bench.dispatcher.acknowledged(execution) }
            let left = Set(bench.dispatcher.jobs.keys.map(\.step))
            #expect(left == [3])
            bench.dispatcher.acknowledged(third)
            #expect(bench.dispatcher.requests.isEmpty == !hangs)
        }
    }

    @Test func aResumedPlanStartsWhereItWas() throws {
        var bench = Bench()
        _ = try bench.worker("b")
        let request = Identifier.timeOrdered(milliseconds: 1)
        let plan = Plan(
            mode: .chain,
            steps: [.init(number: 1, skill: "a"), .init(number: 2, skill: "b", after: ["s1"])]
        )
        let input = JobInput(
            session: "s",
            text: "t",
            previous: [.init(step: "s1", skill: "a", output: SkillOutput(text: "kept"))]
        )
        try planned(&bench, plan, request: request, input: input)
        #expect(bench.taken().dispatches.map(\.0.job) == [request.job(step: 2)])
    }

    @Test func aCalledSkillAnswersItsCallerAndDiesWithIt() throws {
        var bench = Bench()
        let caller = try bench.worker("a", credit: 1)
        let callee = try bench.worker("b", credit: 2)
        let request = try bench.submit("a")
        let parent = try #require(bench.taken().dispatches.first?.0)
        let body = try JobBody.encode(skill: "b", input: JobInput(session: "s", text: "t", depth: 1))
        let header = Header(.call, job: parent.job, generation: 1, attempt: 1, sequence: 5)
        let worker = try #require(bench.dispatcher.registry.workers[caller])
        bench.dispatcher.called(header, body: body, frames: [], by: worker, now: bench.now)
        bench.dispatcher.called(header, body: body, frames: [], by: worker, now: bench.now)
        let children = bench.taken().dispatches
        #expect(children.count == 2)
        #expect(children.allSatisfy { $0.0.job.request == request && $0.0.job.step >= 100 })
        try finish(&bench, children[0].0, callee)
        #expect(bench.taken().said == ["worker result"])
        bench.dispatcher.cancelled(request, now: bench.now)
        #expect(bench.taken().said == ["worker cancel", "worker cancel"])
    }

    @Test func aCallOfNobodyIsAnsweredWithTheReason() throws {
        var bench = Bench()
        let caller = try bench.worker("a", credit: 1)
        try bench.submit("a")
        let parent = try #require(bench.taken().dispatches.first?.0)
        let header = Header(.call, job: parent.job, generation: 1, attempt: 1, sequence: 5)
        let worker = try #require(bench.dispatcher.registry.workers[caller])
        let body = try JobBody.encode(skill: "none", input: JobInput(session: "s", text: "t", depth: 1))
        bench.dispatcher.called(header, body: body, frames: [], by: worker, now: bench.now)
        #expect(bench.taken().said == ["worker result"])
        bench.dispatcher.called(header, body: [9, 9], frames: [], by: worker, now: bench.now)
        #expect(bench.taken().said == ["worker result"])
    }
}
