internal import SessionStore
internal import Wire

/// How far one request is: a value that does no I/O and reads no clock. It is told what comes in and says what is to
/// be stored.
///
///     open --plan--> open --every step of the plan is over--> over (finished, failed)
///       |  \--the router refuses, or the time is up--------> over (failed)
///       +--cancel asked for--> cancelling --every job is over, or the grace is up--> over (cancelled)
///
/// Invariants, each a test in RequestProgressTests:
/// (1) Exactly one `end` is ever returned, and nothing after it. One that can never be stored is replaced by another.
/// (2) Nothing of an execution is returned after anything of a later (generation, attempt) of the same job, nor after
///     the job's terminal report.
/// (3) No numbered report is returned twice. After a gap no more text is, until the terminal report, which has the
///     whole output: what is shown of a running job is always the beginning of what it has said.
/// (4) Jobs that are not in the plan, which are skills called by skills, are shown and decide nothing.
/// (5) A terminal report is acknowledged whether it was new or not: its worker must stop sending it.
struct RequestProgress {
    /// What a job came to.
    enum Outcome: Equatable, Sendable {
        case finished(SkillOutput)
        case failed(JobError)

        /// The same as a result.
        var result: Result<SkillOutput, JobError> {
            switch self {
            case .finished(let output): .success(output)
            case .failed(let error): .failure(error)
            }
        }
    }

    private struct Job {
        var execution: Execution
        var lastSequence: UInt64 = 0
        /// Reports of the attempt are missing: text that comes after them would read as if it were all.
        var hasGap = false
        var skill: String
        var count = 0
        var outcome: Outcome?
    }

    private enum Phase: Equatable {
        case open
        case cancelling(reason: String)
        case over
    }

    /// What follows from something that came in.
    struct Effects: Equatable {
        /// To be stored, in order.
        var occurrences: [Occurrence] = []
        /// Executions whose terminal report is to be acknowledged once everything up to here is stored.
        var acknowledgements: [Execution] = []
        /// What the user has answered, for jobs that wait for it.
        var answers: [Answer] = []
        /// Whether the store is to be asked what the user has answered.
        var asksStore = false
    }

    /// Whether data may go to a party, for a job that has asked.
    struct Answer: Equatable {
        let execution: Execution
        let party: String
        let isAllowed: Bool
    }

    /// The request.
    let request: Identifier
    /// Its steps, once they are known.
    private(set) var plan: Plan?
    /// The generation under which it was submitted last.
    private(set) var generation: UInt32
    private var jobs: [UInt16: Job] = [:]
    /// Jobs that must not run twice and may have begun.
    private var granted: Set<UInt16> = []
    private var phase = Phase.open
    /// Whether data may go to outside parties, as far as the user was asked.
    private(set) var approvals = Approvals()

    init(request: Identifier, plan: Plan? = nil, generation: UInt32 = 1) {
        self.request = request
        self.plan = plan
        self.generation = generation
    }

    /// Whether the end has been returned.
    var isOver: Bool { phase == .over }

    /// Whether a cancel has been asked for and the end is still to come.
    var isCancelling: Bool { if case .cancelling = phase { true } else { false } }

    /// Outputs of the steps that have finished, for whoever goes on with the plan.
    var finishedSteps: [JobInput.Previous] {
        (plan?.steps ?? []).compactMap { step in
            guard let number = step.number, case .finished(let output) = jobs[number]?.outcome else { return nil }
            return JobInput.Previous(step: step.id, skill: step.skill, output: output)
        }
    }

    /// The skills that it needs, as far as they are known.
    var skills: [String] { (plan?.steps ?? []).map(\.skill) }

    /// The last execution of each job that has begun and not ended, for a router that takes the request over: workers may
    /// have them still.
    var begunJobs: [Execution] { jobs.values.filter { $0.outcome == nil && $0.execution.attempt > 0 }.map(\.execution) }

    // MARK: What comes in

    /// Puts back what the store knows of a job, after a restart.
    mutating func restore(_ execution: Execution, lastSequence: UInt64, outcome: Outcome?) {
        jobs[execution.job.step] = Job(
            execution: execution,
            lastSequence: lastSequence,
            skill: skill(of: execution.job.step) ?? "",
            count: lastSequence > 0 ? 1 : 0,
            outcome: outcome
        )
    }

    /// The end that was due when the process stopped: every step was over, and the end not yet stored.
    mutating func resumed() -> Effects { ending() }

    /// It is submitted anew.
    mutating func resubmitted() -> Effects {
        guard !isOver else { return Effects() }
        generation += 1
        return Effects(occurrences: [.generation(generation)])
    }

    /// The router has made the plan. Only the first one counts.
    mutating func planned(_ plan: Plan, generation: UInt32) -> Effects {
        guard !isOver, self.plan == nil, generation == self.generation else { return Effects() }
        do {
            try plan.validate()
        } catch {
            let reason = JobError(
                code: JobError.Code.badMessage,
                message: "The router sent a plan that cannot run (\(error)).",
                hint: "Router and gateway may be of different versions."
            )
            return end(.failed(reason))
        }
        self.plan = plan
        for number in Array(jobs.keys) where number <= Limits.planSteps {
            jobs[number]?.skill = plan.skill(of: number) ?? ""
        }
        var effects = Effects(occurrences: [.plan(plan)])
        effects.occurrences += ending().occurrences
        return effects
    }

    /// The router does not take it, or asks which of some skills is meant.
    mutating func refused(
        _ error: JobError,
        candidates: [Plan.Candidate] = [],
        generation: UInt32
    ) -> Effects {
        guard !isOver, generation == self.generation else { return Effects() }
        if case .cancelling(let reason) = phase { return end(.cancelled(reason: reason)) }
        guard candidates.isEmpty else {
            var effects = Effects(occurrences: [.clarify(candidates)])
            effects.occurrences += end(.failed(error)).occurrences
            return effects
        }
        // What must not run twice and may have run is not to be asked for again, whatever the reason.
        let mayHaveRun = granted.contains { jobs[$0]?.outcome == nil }
        return givenUp(mayHaveRun ? .outcomeUnknown : error)
    }

    /// A job of it has reported. `first` is the number of the first report, 0 if the router made them; with those that
    /// end the job comes what it came to.
    mutating func reported(
        _ execution: Execution,
        first: UInt64,
        _ reports: [(report: Occurrence.Report, outcome: Outcome?)]
    ) -> Effects {
        var effects = Effects()
        let number = execution.job.step
        // Without the plan the end of a step could not be told apart from others: the router keeps it and says both again.
        let mayAcknowledge = isOver || plan != nil || number > Limits.planSteps
        if mayAcknowledge, reports.last?.report.isTerminal ?? false { effects.acknowledgements = [execution] }
        guard !isOver, number != 0 else { return effects }
        var job = jobs[number] ?? Job(execution: execution, skill: skill(of: number) ?? "")
        guard job.outcome == nil, !execution.isOlder(than: job.execution) else { return effects }
        if job.execution != execution {
            if job.count > 0, let news = begun(anew: execution, after: job.execution, reports.first?.report) {
                effects.occurrences.add(.job(execution, skill: job.skill, sequence: 0, news))
            }
            job.execution = execution
            job.lastSequence = 0
            job.hasGap = false
        }
        for (index, (report, outcome)) in reports.enumerated() {
            let sequence = first == 0 ? 0 : first &+ UInt64(index)
            if sequence != 0 {
                guard sequence > job.lastSequence else { continue }
                if sequence != job.lastSequence &+ 1 { job.hasGap = true }
                job.lastSequence = sequence
            }
            if job.hasGap, case .delta = report { continue }
            job.count += 1
            // One that talks without end is not stored without end; its terminal report is.
            guard job.count <= Limits.eventsPerJob || report.isTerminal, !report.isEmpty else { continue }
            if case .approval(let disclosure) = report, !mustAsk(disclosure.party, execution, &effects) { continue }
            if job.skill.isEmpty, case .started(let started) = report { job.skill = started.skill ?? "" }
            effects.occurrences.add(.job(execution, skill: job.skill, sequence: sequence, report))
            if let outcome {
                job.outcome = outcome
                break
            }
        }
        jobs[number] = job
        if job.outcome != nil { effects.occurrences += ending().occurrences }
        return effects
    }

    /// Whether the user is to be asked about a party. A question that has its answer is answered.
    private mutating func mustAsk(_ party: String, _ execution: Execution, _ effects: inout Effects) -> Bool {
        switch approvals.asked(party, by: execution) {
        case .ask:
            // Another request of the session may have the answer since.
            effects.asksStore = true
            return true
        case .wait: effects.asksStore = true
        case .answer(let isAllowed):
            effects.answers.append(Answer(execution: execution, party: party, isAllowed: isAllowed))
        }
        return false
    }

    /// The user has answered.
    mutating func answered(_ party: String, isAllowed: Bool) -> Effects {
        let waiting = approvals.answered(party, isAllowed: isAllowed)
        return Effects(answers: waiting.map { Answer(execution: $0, party: party, isAllowed: isAllowed) })
    }

    /// What whoever follows must be told when a job begins anew under another router, which does not know that it had
    /// begun: that what they have seen of it is void.
    private func begun(
        anew execution: Execution,
        after former: Execution,
        _ report: Occurrence.Report?
    ) -> Occurrence.Report? {
        if case .retrying = report { return nil }
        guard execution.generation > former.generation else { return nil }
        return .retrying(JobRetrying(reason: "its router was lost", attempt: execution.attempt))
    }

    /// A job that must not run twice asks whether it may start.
    /// - Returns: Nil if it may not, for what is known here already; the store has the last word.
    mutating func mayStart(_ execution: Execution) -> Effects? {
        let number = execution.job.step
        guard phase == .open, number != 0 else { return nil }
        let known = jobs[number]
        if let known, known.outcome != nil || execution.isOlder(than: known.execution) { return nil }
        let skill = known?.skill ?? skill(of: number) ?? ""
        granted.insert(number)
        return Effects(occurrences: [.grant(execution, skill: skill)])
    }

    /// The store knows of an earlier start of a job that must not run twice: it may have run, and does not run again.
    /// What comes after it cannot run either.
    mutating func startDenied(_ execution: Execution) -> Effects {
        guard !isOver, jobs[execution.job.step]?.outcome == nil else { return Effects() }
        var effects = Effects()
        fail(execution, .outcomeUnknown, &effects)
        for step in plan?.steps ?? [] where step.after.contains(where: { isFailed($0) }) {
            guard let number = step.number, jobs[number]?.outcome == nil else { continue }
            let waiting = Execution(job: request.job(step: number), generation: execution.generation, attempt: 0)
            fail(waiting, .dependencyFailed, &effects)
        }
        effects.occurrences += ending().occurrences
        return effects
    }

    private mutating func fail(_ execution: Execution, _ error: JobError, _ effects: inout Effects) {
        let number = execution.job.step
        var job = jobs[number] ?? Job(execution: execution, skill: skill(of: number) ?? "")
        job.execution = execution
        job.outcome = .failed(error)
        jobs[number] = job
        effects.occurrences.append(.job(execution, skill: job.skill, sequence: 0, .failed(error)))
    }

    private func isFailed(_ step: String) -> Bool {
        guard let number = UInt16(step.dropFirst()), case .failed = jobs[number]?.outcome else { return false }
        return true
    }

    /// Somebody wants it to end.
    mutating func cancelRequested(_ reason: String) -> Effects {
        guard phase == .open else { return Effects() }
        phase = .cancelling(reason: reason)
        return Effects(occurrences: [.cancelRequested])
    }

    /// It was never sent to a router, or the grace after a cancel is up: it ends now.
    mutating func cancelDue() -> Effects {
        guard case .cancelling(let reason) = phase else { return Effects() }
        return end(.cancelled(reason: reason))
    }

    /// The time is up, or nobody was there to do it.
    mutating func failed(_ error: JobError) -> Effects {
        guard !isOver else { return Effects() }
        if case .cancelling(let reason) = phase { return end(.cancelled(reason: reason)) }
        return givenUp(error)
    }

    /// What it is given up for befalls the steps that are not over; what the others have made is not lost by it.
    private mutating func givenUp(_ error: JobError) -> Effects {
        guard let plan, plan.steps.contains(where: { isFinished($0) }) else { return end(.failed(error)) }
        var effects = Effects()
        for step in plan.steps {
            guard let number = step.number, jobs[number]?.outcome == nil else { continue }
            let none = Execution(job: request.job(step: number), generation: generation, attempt: 0)
            let cannotRun = step.after.contains { isFailed($0) }
            fail(jobs[number]?.execution ?? none, cannotRun ? .dependencyFailed : error, &effects)
        }
        effects.occurrences += ending().occurrences
        return effects
    }

    private func isFinished(_ step: Plan.Step) -> Bool {
        guard let number = step.number, case .finished = jobs[number]?.outcome else { return false }
        return true
    }

    /// Something that was returned can never be stored: it ends with that, also where another end was among it.
    mutating func unstorable(_ error: JobError) -> Effects { end(.failed(error)) }

    // MARK: The end

    private mutating func end(_ end: Occurrence.End) -> Effects {
        phase = .over
        return Effects(occurrences: [.end(end)])
    }

    private func skill(of number: UInt16) -> String? { plan?.skill(of: number) }

    /// The end, if every step of the plan is over.
    private mutating func ending() -> Effects {
        guard !isOver, let plan, !plan.steps.isEmpty else { return Effects() }
        var outcomes: [(step: Plan.Step, outcome: Outcome)] = []
        for step in plan.steps {
            guard let number = step.number, let outcome = jobs[number]?.outcome else { return Effects() }
            outcomes.append((step, outcome))
        }
        if case .cancelling(let reason) = phase { return end(.cancelled(reason: reason)) }
        return end(MergedOutput.end(of: outcomes))
    }
}

extension Plan {
    /// The skill of a step; nil for a number that the plan does not have.
    func skill(of number: UInt16) -> String? {
        number >= 1 && Int(number) <= steps.count ? steps[Int(number) - 1].skill : nil
    }
}

extension JobError {
    fileprivate static let outcomeUnknown = JobError(
        code: Code.outcomeUnknown,
        message: "The step was started before, and how that went is not known.",
        hint: "It must not run twice. Look whether it has taken effect, then ask anew if it has not."
    )
    fileprivate static let dependencyFailed = JobError(
        code: Code.dependencyFailed,
        message: "A step that this one needs did not finish."
    )
}
