import SessionStore
import Testing
import Wire

@testable import Gateway

/// One request as a test sees it: short names for what comes in, and what came out so far.
struct Trial {
    static let request = Identifier.timeOrdered(milliseconds: 1_700_000_000_000)
    var progress: RequestProgress
    var out: [Occurrence] = []
    var acknowledged: [Execution] = []

    init(_ plan: Plan? = nil, generation: UInt32 = 1) {
        progress = RequestProgress(request: Trial.request, plan: plan, generation: generation)
    }

    static func plan(_ skills: String..., after: [Int: [String]] = [:]) -> Plan {
        let steps = skills.enumerated().map { index, skill in
            Plan.Step(number: UInt16(index + 1), skill: skill, after: after[index + 1] ?? [])
        }
        return Plan(mode: after.isEmpty ? (steps.count > 1 ? .parallel : .single) : .chain, steps: steps)
    }

    mutating func take(_ effects: RequestProgress.Effects) {
        for occurrence in effects.occurrences { out.add(occurrence) }
        acknowledged += effects.acknowledgements
    }

    mutating func job(
        _ step: UInt16,
        _ first: UInt64,
        _ reports: [Occurrence.Report],
        generation: UInt32 = 1,
        attempt: UInt32 = 1
    ) {
        let execution = Trial.execution(step, generation, attempt)
        take(
            progress.reported(
                execution,
                first: first,
                reports.map { report in
                    switch report {
                    case .finished(let json, _):
                        guard let finished = try? JSONBody.decode(JobFinished.self, from: json) else {
                            Issue.record("the end of a job is no JobFinished")
                            return (report, nil)
                        }
                        return (report, .finished(finished.output))
                    case .failed(let error): return (report, .failed(error))
                    default: return (report, nil)
                    }
                }
            )
        )
    }

    static func execution(_ step: UInt16, _ generation: UInt32 = 1, _ attempt: UInt32 = 1) -> Execution {
        Execution(job: request.job(step: step), generation: generation, attempt: attempt)
    }

    static func finished(_ text: String, parts: [OutputPart] = []) -> Occurrence.Report {
        let output = JobFinished(output: SkillOutput(text: text, parts: parts), engine: "offline", milliseconds: 1)
        guard let json = try? JSONBody.encode(output) else {
            Issue.record("an output that cannot be encoded: \(text)")
            return .finished([], cached: false)
        }
        return .finished(json, cached: false)
    }

    static func failed(_ code: String) -> Occurrence.Report { .failed(JobError(code: code, message: code)) }

    var end: Occurrence.End? {
        let ends = out.compactMap { if case .end(let end) = $0 { end } else { nil } }
        #expect(ends.count <= 1)
        if !ends.isEmpty, case .end? = out.last {} else { #expect(ends.isEmpty, "something came after the end") }
        return ends.first
    }

    var deltas: [String] {
        out.compactMap { if case .job(_, _, _, .delta(let text)) = $0 { text } else { nil } }
    }
}

@Suite struct RequestProgressTests {
    // MARK: (1) one end, and nothing after it

    @Test func oneStepFinishesTheRequest() {
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 1, [.started(JobStarted(worker: "w", engine: "offline"))])
        #expect(trial.end == nil)
        trial.job(1, 2, [.delta("a"), Trial.finished("a")])
        #expect(trial.end == .finished(SkillOutput(text: "a"), errors: []))
        trial.job(1, 4, [.delta("late")])
        trial.take(trial.progress.cancelRequested("too late"))
        trial.take(trial.progress.failed(JobError(code: "timeout", message: "")))
        trial.take(trial.progress.refused(JobError(code: "overloaded", message: ""), generation: 1))
        trial.take(trial.progress.resubmitted())
        #expect(trial.end == .finished(SkillOutput(text: "a"), errors: []))
        #expect(trial.deltas == ["a"])
    }

    @Test func everyStepMustBeOver() {
        var trial = Trial(Trial.plan("a", "b"))
        trial.job(2, 1, [Trial.finished("two")])
        #expect(trial.end == nil)
        trial.job(1, 1, [Trial.finished("one", parts: [OutputPart(kind: "point", text: "p")])])
        let part = OutputPart(kind: "point", text: "p", values: ["step": "s1"])
        #expect(trial.end == .finished(SkillOutput(text: "one\n\ntwo", parts: [part]), errors: []))
    }

    @Test func onlyLastStepsMakeTheOutput() {
        var trial = Trial(Trial.plan("find", "sum", "cite", after: [2: ["s1"], 3: ["s1"]]))
        trial.job(1, 1, [Trial.finished("found")])
        trial.job(2, 1, [Trial.finished("short")])
        trial.job(3, 1, [Trial.failed("skill_failed")])
        let error = StepError(step: "s3", skill: "cite", error: JobError(code: "skill_failed", message: "skill_failed"))
        #expect(trial.end == .finished(SkillOutput(text: "short"), errors: [error]))
    }

    @Test func itFailsWithTheCauseIfNoLastStepFinished() {
        var trial = Trial(Trial.plan("find", "sum", after: [2: ["s1"]]))
        trial.job(1, 1, [Trial.failed("no_documents")])
        trial.job(2, 0, [Trial.failed("dependency_failed")], attempt: 0)
        #expect(trial.end == .failed(JobError(code: "no_documents", message: "no_documents")))
    }

    @Test func whatAFailedStepWasToWorkOnIsNotLost() {
        var trial = Trial(Trial.plan("find", "sum", "cite", after: [2: ["s1"], 3: ["s2"]]))
        trial.job(1, 1, [Trial.finished("found")])
        trial.job(2, 1, [Trial.failed("timeout")])
        trial.job(3, 0, [Trial.failed("dependency_failed")], attempt: 0)
        #expect(
            trial.end == .incomplete(JobError(code: "timeout", message: "timeout"), SkillOutput(text: "found"))
        )
        // Beside a step that finished as well.
        var other = Trial(Trial.plan("a", "find", "sum", after: [3: ["s2"]]))
        other.job(1, 1, [Trial.finished("one")])
        other.job(2, 1, [Trial.finished("two")])
        other.job(3, 1, [Trial.failed("x")])
        let error = StepError(step: "s3", skill: "sum", error: JobError(code: "x", message: "x"))
        #expect(other.end == .finished(SkillOutput(text: "one\n\ntwo"), errors: [error]))
    }

    /// One of five hangs until the time is up, or until nobody can go on with it.
    @Test func whatEndsARequestLeavesWhatItsStepsHaveMade() {
        let error = JobError(code: "timeout", message: "too long")
        for isRefused in [false, true] {
            var trial = Trial(Trial.plan("a", "b", "c", "d", "e"))
            trial.job(3, 1, [.started(JobStarted(worker: "w", engine: "e")), .delta("half")])
            for step: UInt16 in [1, 2, 4, 5] { trial.job(step, 1, [Trial.finished("\(step)")]) }
            #expect(trial.end == nil)
            trial.take(isRefused ? trial.progress.refused(error, generation: 1) : trial.progress.failed(error))
            let failed = StepError(step: "s3", skill: "c", error: error)
            #expect(trial.end == .finished(SkillOutput(text: "1\n\n2\n\n4\n\n5"), errors: [failed]))
            // The step's end is shown as well, and nothing of it comes later.
            let shown = trial.out.contains(
                .job(Trial.execution(3), skill: "c", sequence: 0, .failed(error))
            )
            #expect(shown)
            trial.job(3, 3, [.delta("late"), Trial.finished("late")])
            trial.take(trial.progress.cancelRequested("late"))
            #expect(trial.deltas == ["half"])
            #expect(trial.acknowledged.contains(Trial.execution(3)))
        }
    }

    @Test func aChainThatTakesTooLongKeepsWhatItHas() {
        var trial = Trial(Trial.plan("find", "sum", "cite", after: [2: ["s1"], 3: ["s2"]]))
        trial.job(1, 1, [Trial.finished("found")])
        let error = JobError(code: "timeout", message: "too long")
        trial.take(trial.progress.failed(error))
        #expect(trial.end == .incomplete(error, SkillOutput(text: "found")))
        let codes = trial.out.compactMap { occurrence -> String? in
            if case .job(_, _, _, .failed(let error)) = occurrence { error.code } else { nil }
        }
        #expect(codes == ["timeout", "dependency_failed"])
    }

    @Test func anUnclearRequestIsAskedBackOnce() {
        let candidates = ["a", "b"].map { Plan.Candidate(skill: $0, displayName: $0, score: 0.5) }
        let question = Clarification(between: candidates).error
        var trial = Trial()
        trial.take(trial.progress.refused(question, candidates: candidates, generation: 1))
        trial.take(trial.progress.refused(question, candidates: candidates, generation: 1))
        #expect(trial.out == [.clarify(candidates), .end(.failed(question))])
        // Whoever has cancelled it is not asked any more.
        var cancelled = Trial()
        cancelled.take(cancelled.progress.cancelRequested("user"))
        cancelled.take(cancelled.progress.refused(question, candidates: candidates, generation: 1))
        #expect(cancelled.end == .cancelled(reason: "user"))
        #expect(!cancelled.out.contains(.clarify(candidates)))
    }

    @Test func theRouterMayRefuseIt() {
        var trial = Trial()
        trial.take(trial.progress.planned(Plan(mode: .none, steps: []), generation: 1))
        #expect(trial.end == nil)
        trial.take(trial.progress.refused(JobError(code: "out_of_scope", message: ""), generation: 1))
        #expect(trial.end == .failed(JobError(code: "out_of_scope", message: "")))
    }

    @Test func whatBelongsToAnOlderGenerationRefusesAndPlansNothing() {
        var trial = Trial()
        trial.take(trial.progress.resubmitted())
        #expect(trial.out == [.generation(2)])
        trial.take(trial.progress.refused(JobError(code: "overloaded", message: ""), generation: 1))
        trial.take(trial.progress.planned(Trial.plan("a"), generation: 1))
        #expect(trial.end == nil && trial.progress.plan == nil)
        trial.take(trial.progress.planned(Trial.plan("b"), generation: 2))
        trial.take(trial.progress.planned(Trial.plan("c"), generation: 2))
        #expect(trial.progress.plan == Trial.plan("b"))
    }

    @Test func aPlanThatCannotRunFailsTheRequest() {
        var trial = Trial()
        let circle = Plan(mode: .chain, steps: [Plan.Step(number: 1, skill: "a", after: ["s1"])])
        trial.take(trial.progress.planned(circle, generation: 1))
        guard case .failed(let error) = trial.end else {
            Issue.record("\(trial.out)")
            return
        }
        #expect(error.code == "bad_message")
    }

    // MARK: (2) fences

    @Test func aLaterAttemptFencesTheEarlierOnes() {
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 1, [.delta("1")])
        trial.job(1, 0, [.retrying(JobRetrying(reason: "its worker died", attempt: 2))], attempt: 2)
        trial.job(1, 2, [.delta("late"), Trial.finished("late")])
        trial.job(1, 1, [.delta("2")], attempt: 2)
        trial.job(1, 1, [.delta("3")], generation: 2, attempt: 1)
        trial.job(1, 2, [.delta("late")], generation: 1, attempt: 7)
        #expect(trial.deltas == ["1", "2", "3"])
        #expect(trial.end == nil)
    }

    @Test func anAttemptOfAnOlderGenerationIsKeptUntilALaterOneSpeaks() {
        // A new router adopts what a worker still runs, instead of running it again.
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 1, [.delta("a")])
        trial.take(trial.progress.resubmitted())
        trial.job(1, 2, [.delta("b"), Trial.finished("ab")])
        #expect(trial.deltas == ["a", "b"])
        #expect(trial.end == .finished(SkillOutput(text: "ab"), errors: []))
    }

    // MARK: (3) numbers

    @Test func aJobThatBeginsAnewUnderAnotherRouterSaysSo() {
        var trial = Trial(Trial.plan("a"))
        trial.job(1, 1, [.delta("half")], attempt: 2)
        trial.take(trial.progress.resubmitted())
        trial.out = []
        trial.job(1, 1, [.delta("all of it")], generation: 2)
        let retrying = JobRetrying(reason: "its router was lost", attempt: 1)
        #expect(
            trial.out == [
                .job(Trial.execution(1, 2), skill: "a", sequence: 0, .retrying(retrying)),
                .job(Trial.execution(1, 2), skill: "a", sequence: 1, .delta("all of it")),
            ]
        )
        // Once.
        trial.out = []
        trial.job(1, 2, [.delta("!")], generation: 2)
        #expect(trial.out == [.job(Trial.execution(1, 2), skill: "a", sequence: 2, .delta("!"))])
    }

    @Test func whatCameBeforeIsNotTakenAgain() {
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 1, [.delta("a"), .delta("b")])
        trial.job(1, 2, [.delta("b"), .delta("c")])
        trial.job(1, 1, [.delta("a")])
        trial.job(1, 4, [.delta("d")])
        #expect(trial.deltas.joined() == "abcd")
    }

    @Test func afterAGapThereIsNoMoreTextUntilTheWholeOfIt() {
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 1, [.delta("a"), .delta("b")])
        trial.job(1, 9, [.delta("tail"), .thinking("hm"), .delta("that reads like all")])
        trial.job(1, 12, [.delta("still")])
        #expect(trial.deltas == ["ab"])
        #expect(trial.out.contains(.job(Trial.execution(1), skill: "echo", sequence: 10, .thinking("hm"))))
        trial.job(1, 13, [Trial.finished("ab and the rest")])
        #expect(trial.end == .finished(SkillOutput(text: "ab and the rest"), errors: []))
    }

    @Test func aGapEndsWithItsAttempt() {
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 5, [.delta("tail")])
        trial.job(1, 1, [.delta("anew")], attempt: 2)
        #expect(trial.deltas == ["anew"])
    }

    @Test func deltasThatWaitTogetherAreJoined() {
        var trial = Trial(Trial.plan("echo", "echo"))
        trial.job(1, 1, [.delta("a"), .delta("b")])
        trial.job(1, 3, [.delta("c")])
        trial.job(2, 1, [.delta("x")])
        trial.job(1, 4, [.thinking("hm"), .delta("d")])
        #expect(trial.deltas == ["abc", "x", "d"])
        let first = Occurrence.job(Trial.execution(1), skill: "echo", sequence: 3, .delta("abc"))
        #expect(trial.out.first == first)
    }

    @Test func oneThatTalksWithoutEndIsCutButEnds() {
        var trial = Trial(Trial.plan("echo"))
        for block in 0..<101 {
            trial.job(1, UInt64(block * 1000 + 1), (0..<1000).map { _ in .thinking("x") })
        }
        trial.job(1, 101_001, [Trial.finished("end")])
        #expect(trial.out.count == Limits.eventsPerJob + 2)
        #expect(trial.end == .finished(SkillOutput(text: "end"), errors: []))
    }

    // MARK: (4) jobs outside the plan

    @Test func skillsCalledBySkillsDecideNothing() {
        var trial = Trial(Trial.plan("chat"))
        trial.job(7, 1, [.started(JobStarted(worker: "w", engine: "offline", skill: "calculator")), .delta("4")])
        trial.job(7, 3, [Trial.failed("skill_failed")])
        #expect(trial.end == nil)
        #expect(trial.out.contains(.job(Trial.execution(7), skill: "calculator", sequence: 2, .delta("4"))))
        trial.job(1, 1, [Trial.finished("ok")])
        #expect(trial.end == .finished(SkillOutput(text: "ok"), errors: []))
    }

    @Test func jobsMayReportBeforeThePlanComes() {
        var trial = Trial()
        trial.job(1, 1, [Trial.finished("early")])
        #expect(trial.end == nil)
        trial.take(trial.progress.planned(Trial.plan("echo"), generation: 1))
        #expect(trial.end == .finished(SkillOutput(text: "early"), errors: []))
    }

    // MARK: (5) acknowledgements

    @Test func everyTerminalReportIsAcknowledged() {
        var trial = Trial(Trial.plan("echo"))
        trial.job(1, 1, [.delta("a")])
        #expect(trial.acknowledged.isEmpty)
        trial.job(1, 2, [Trial.finished("a")], attempt: 2)
        trial.job(1, 2, [Trial.finished("a")], attempt: 2)
        trial.job(1, 2, [Trial.finished("a")], attempt: 1)
        #expect(trial.acknowledged.map(\.attempt) == [2, 2, 1])
    }

    // MARK: cancel

    @Test func aCancelEndsWhenEveryJobIsOver() {
        var trial = Trial(Trial.plan("a", "b"))
        trial.take(trial.progress.cancelRequested("the user"))
        trial.take(trial.progress.cancelRequested("again"))
        trial.job(1, 1, [Trial.failed("cancelled")])
        #expect(trial.end == nil)
        trial.job(2, 1, [Trial.finished("was quicker")])
        #expect(trial.end == .cancelled(reason: "the user"))
        #expect(trial.out.filter { $0 == .cancelRequested }.count == 1)
    }

    @Test func aCancelEndsAfterItsGrace() {
        var trial = Trial(Trial.plan("a"))
        trial.take(trial.progress.cancelDue())
        #expect(trial.end == nil)
        trial.take(trial.progress.cancelRequested("the user"))
        trial.take(trial.progress.cancelDue())
        trial.job(1, 1, [Trial.finished("late")])
        #expect(trial.end == .cancelled(reason: "the user"))
        #expect(trial.acknowledged.count == 1)
    }

    @Test func aFailureWhileCancellingIsACancel() {
        var trial = Trial(Trial.plan("a"))
        trial.take(trial.progress.cancelRequested("the user"))
        trial.take(trial.progress.failed(JobError(code: "timeout", message: "")))
        #expect(trial.end == .cancelled(reason: "the user"))
    }

    // MARK: restart, and jobs that must not run twice

    @Test func aRestartGoesOnWhereItWas() {
        var trial = Trial(Trial.plan("find", "sum", after: [2: ["s1"]]), generation: 3)
        trial.progress.restore(Trial.execution(1), lastSequence: 4, outcome: .finished(SkillOutput(text: "found")))
        trial.progress.restore(Trial.execution(2, 1, 2), lastSequence: 2, outcome: nil)
        #expect(trial.progress.finishedSteps.map(\.step) == ["s1"])
        trial.job(2, 2, [.delta("again"), .delta("new")], attempt: 2)
        #expect(trial.deltas == ["new"])
        trial.job(2, 1, [Trial.finished("short")], generation: 4)
        #expect(trial.end == .finished(SkillOutput(text: "short"), errors: []))
    }

    @Test func anEndThatWasDueAtTheRestartComes() {
        var trial = Trial(Trial.plan("echo"))
        trial.progress.restore(Trial.execution(1), lastSequence: 4, outcome: .finished(SkillOutput(text: "done")))
        trial.take(trial.progress.resumed())
        #expect(trial.end == .finished(SkillOutput(text: "done"), errors: []))
    }

    @Test func whatMayHaveRunIsNotRunAgain() {
        var trial = Trial(Trial.plan("pay", "tell", after: [2: ["s1"]]))
        #expect(trial.progress.mayStart(Trial.execution(1, 1, 0)) != nil)
        trial.take(trial.progress.startDenied(Trial.execution(1, 2, 0)))
        guard case .failed(let error) = trial.end else {
            Issue.record("\(trial.out)")
            return
        }
        #expect(error.code == "outcome_unknown")
        #expect(trial.progress.mayStart(Trial.execution(1, 3, 0)) == nil)
    }
}
