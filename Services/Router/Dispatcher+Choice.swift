import Bus
import Wire

/// Requests that want a model to choose the skill. This router asks none: a skill that produces `route` does, by a job like
/// any other, so that the user sees what goes where. Whatever comes of it, or does not within its time, the router's own
/// decision is at hand, and the plan says who decided.
///
///     planned --> job of a skill that chooses --its choice--> plan by the model
///                   \--reason, failure, out of time--------> the router's own plan
extension Dispatcher {
    /// Time for the choice, in milliseconds.
    static let choiceTime: UInt64 = 2000
    /// The kind of data that a skill makes which chooses, and of the part of its output that has the choice.
    static let choiceKind = "route"

    /// A request whose skill is being chosen. It is in ``planning`` still.
    struct Choosing {
        let task: PlanningTask
        let choice: OpenChoice
        let local: PlanningResult
        let job: Identifier
        let until: UInt64
    }

    /// Has a skill ask its model. Where none can, the router's decision counts at once.
    mutating func choose(_ task: PlanningTask, _ choice: OpenChoice, _ local: PlanningResult, now: UInt64) {
        let id = task.header.job.request
        // Superseded or cancelled while it was planned: there is nothing to choose for.
        guard let planned = planning[id], planned.generation == task.header.generation, !planned.isCancelled else {
            return planned(task, local, now: now)
        }
        guard let entry = chooser else {
            return decide(task, local, "no skill here asks a model which skill is meant", now: now)
        }
        let step = nextCallStep[id, default: 100]
        let job = step < .max ? job(choosing: choice, task, planned, entry, step: step, now: now) : nil
        guard let job, hasRoom(for: job, entry, now: now) else {
            return decide(task, local, "\(entry.id), which would ask a model, has too much to do", now: now)
        }
        nextCallStep[id] = step + 1
        choosing[id] = Choosing(
            task: task,
            choice: choice,
            local: local,
            job: job.id,
            until: min(now + Dispatcher.choiceTime, job.deadline ?? .max)
        )
        start(job, entry, now: now)
    }

    /// A skill that chooses and has a worker: of several the first by its id.
    private var chooser: SkillEntry? {
        registry.skills.values.filter { entry in
            guard let manifest = entry.manifest, manifest.idempotent, entry.orphanedAt == nil else { return false }
            return manifest.produces.contains(Dispatcher.choiceKind)
        }
        .min { $0.id < $1.id }
    }

    private func job(
        choosing choice: OpenChoice,
        _ task: PlanningTask,
        _ planned: Planning,
        _ entry: SkillEntry,
        step: UInt16,
        now: UInt64
    ) -> Job? {
        let header = task.header
        let input = JobInput(
            session: choice.input.session,
            tenant: choice.input.tenant,
            text: choice.input.text,
            arguments: ["choose": true],
            history: choice.input.history,
            depth: 1,
            privacy: choice.input.privacy,
            approved: choice.input.approved
        )
        guard let body = try? JobBody.encode(skill: entry.id, input: input) else { return nil }
        let id = header.job.request.job(step: step)
        let limit = now + Dispatcher.choiceTime
        return Job(
            id: id,
            skill: entry.id,
            generation: header.generation,
            gateway: planned.gateway ?? task.gateway,
            parcel: Parcel(header: Header(.dispatch, job: id, generation: header.generation, attempt: 1), body: body),
            deadline: min(limit, deadline(header, now: now) ?? limit),
            now: now,
            priority: Priority(header.flags)
        )
    }

    /// Whether a job is one that chooses.
    func isChoice(_ job: Job) -> Bool { !choosing.isEmpty && choosing[job.id.request]?.job == job.id }

    /// What waits for the end of a job that chooses, once.
    mutating func takeChoice(of job: Job) -> Choosing? {
        guard isChoice(job) else { return nil }
        return choosing.removeValue(forKey: job.id.request)
    }

    /// A job that chooses has ended.
    mutating func chosen(_ choosing: Choosing, _ kind: EventKind, _ payload: [UInt8], now: UInt64) {
        guard kind == .finished, let finished = try? JSONBody.decode(JobFinished.self, from: payload) else {
            let error = try? JSONBody.decode(JobError.self, from: payload)
            return decide(choosing.task, choosing.local, error?.message ?? "the model was not asked", now: now)
        }
        let values = finished.output.parts.first { $0.kind == Dispatcher.choiceKind }?.values ?? [:]
        guard let skill = values["skill"]?.string else {
            let reason = values["reason"]?.string ?? "the model named no skill"
            return decide(choosing.task, choosing.local, reason, now: now)
        }
        guard let entry = registry.skills[skill], entry.orphanedAt == nil else {
            let reason = "the model named \"\(skill.prefix(64))\", which is no skill here"
            return decide(choosing.task, choosing.local, reason, now: now)
        }
        let choice = choosing.choice
        var plan = Plan.single(skill, arguments: choice.arguments[skill] ?? [:])
        plan.scores = choice.scores
        plan.decision = Plan.Decision(by: values["model"]?.string ?? finished.engine)
        let given = PlanningResult.Given(input: choice.input, material: choice.material, isNew: true)
        planned(choosing.task, .plan(plan, given), now: now)
    }

    /// The router's own decision, with the reason why it counts.
    private mutating func decide(_ task: PlanningTask, _ local: PlanningResult, _ reason: String, now: UInt64) {
        let decision = Plan.Decision(by: Plan.Decision.local, reason: reason)
        switch local {
        case .plan(var plan, let given):
            plan.decision = decision
            planned(task, .plan(plan, given), now: now)
        case .none(var plan, let nearest):
            plan.decision = decision
            planned(task, .none(plan, nearest: nearest), now: now)
        case .unclear(var plan, let candidates):
            plan.decision = decision
            planned(task, .unclear(plan, candidates), now: now)
        case .unreadable, .open: planned(task, local, now: now)
        }
    }

    /// What is asked for a request under a lower generation is over with that.
    mutating func dropChoice(of id: Identifier, before generation: UInt32, now: UInt64) {
        guard let waiting = choosing[id], waiting.task.header.generation < generation else { return }
        planning[id] = nil
        supersede(id, now: now)
    }

    /// Those that have waited long enough.
    mutating func endChoosing(now: UInt64) {
        for (id, waiting) in choosing where now >= waiting.until {
            choosing[id] = nil
            if let job = jobs[waiting.job] { cancel(job, now: now) }
            let reason = "no answer of a model within \(Dispatcher.choiceTime / 1000) s"
            decide(waiting.task, waiting.local, reason, now: now)
        }
    }
}
