import Bus
import Text
import Wire

/// Requests that want a model to choose the skill. This router asks none: a skill that produces `route` does, by a job like
/// any other, so that the user sees what goes where. It is asked once: whatever comes of it, or does not within its time,
/// the router's own decision is at hand, and the plan says who decided. No other request waits for it.
///
///     planned --> job of a skill that chooses --its choice--> plan by the model
///        |          \--reason, failure, lost, out of time---> the router's own plan
///        \--no such skill, no free slot, no time-------------> the router's own plan
extension Dispatcher {
    /// Time for the choice, in milliseconds; half of what the request has left where that is less.
    static let choiceTime: UInt64 = 2000
    /// With less than that no model answers, in milliseconds.
    static let leastChoiceTime: UInt64 = 100
    /// How long a slot is waited for that is promised to another router, in milliseconds.
    static let slotTime: UInt64 = 200
    /// The kind of data that a skill makes which chooses, and of the part of its output that has the choice.
    static let choiceKind = "route"

    /// A request whose skill is being chosen. It is in ``planning`` still.
    struct Choosing {
        let task: PlanningTask
        let choice: OpenChoice
        let local: PlanningResult
        let job: Identifier
        let began: UInt64
        let until: UInt64
        /// Until when it may wait for a slot.
        let slotUntil: UInt64
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
        let time = min(Dispatcher.choiceTime, deadline(task.header, now: now).map { ($0 - now) / 2 } ?? .max)
        guard time >= Dispatcher.leastChoiceTime else {
            return decide(task, local, "there is no time to ask a model", now: now)
        }
        let waiting = planning(isChoosing: true).bytes + planned.bytes
        let step = nextCallStep[id, default: 100]
        guard entry.queue.count == 0, entry.freeWorker() != nil || mayBorrow(of: entry),
            choosing.isEmpty || waiting <= Limits.queuedBytesPerSkill, step < .max,
            let job = job(choosing: choice, task, planned, entry, step: step, until: now + time, now: now)
        else { return decide(task, local, noSlot(entry.id), now: now) }
        nextCallStep[id] = step + 1
        choosing[id] = Choosing(
            task: task,
            choice: choice,
            local: local,
            job: job.id,
            began: now,
            until: now + time,
            slotUntil: now + min(time, Dispatcher.slotTime)
        )
        start(job, entry, now: now)
    }

    /// Requests without a plan: those for which a model is asked, or the others. The planner is done with the former, which
    /// are in nobody's way then.
    func planning(isChoosing: Bool) -> (count: Int, bytes: Int) {
        planning.reduce((0, 0)) { sum, entry in
            (choosing[entry.key] != nil) == isChoosing ? (sum.0 + 1, sum.1 + entry.value.bytes) : sum
        }
    }

    /// Whether a worker may have a slot that it has promised to another router, which it takes back from one without a use
    /// for it.
    private func mayBorrow(of entry: SkillEntry) -> Bool {
        entry.workersInUse.contains {
            $0.sharesSlots && $0.credit == 0 && $0.isolation == .none
                && $0.registration.concurrency > $0.leases.count
        }
    }

    private func noSlot(_ skill: String) -> String { "\(skill), which would ask a model, has no free slot" }

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
        until: UInt64,
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
        return Job(
            id: id,
            skill: entry.id,
            generation: header.generation,
            gateway: planned.gateway ?? task.gateway,
            parcel: Parcel(header: Header(.dispatch, job: id, generation: header.generation, attempt: 1), body: body),
            deadline: until,
            now: now,
            priority: Priority(header.flags),
            isChoice: true
        )
    }

    /// What waits for the end of a job that chooses, once.
    mutating func takeChoice(of job: Job) -> Choosing? {
        guard job.isChoice, choosing[job.id.request]?.job == job.id else { return nil }
        return choosing.removeValue(forKey: job.id.request)
    }

    /// A job that chooses will not be ended by its worker, and no other is asked.
    mutating func endChoice(_ job: Job, _ reason: String, now: UInt64) {
        fail(job, JobError(code: JobError.Code.skillFailed, message: "no answer of a model: \(reason)"), now: now)
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
            let reason = "the model named \"\(skill.start(ofBytes: 64))\", which is no skill here"
            return decide(choosing.task, choosing.local, reason, now: now)
        }
        let choice = choosing.choice
        var plan = Plan.single(skill, arguments: choice.arguments[skill] ?? [:])
        plan.scores = choice.scores
        let model = values["model"]?.string ?? finished.engine
        plan.decision = Plan.Decision(by: String(model.start(ofBytes: Limits.shortString)))
        let given = PlanningResult.Given(input: choice.input, material: choice.material, isNew: true)
        planned(choosing.task, .plan(plan, given), now: now)
    }

    /// The router's own decision, with the reason why it counts.
    private mutating func decide(_ task: PlanningTask, _ local: PlanningResult, _ reason: String, now: UInt64) {
        let reason = String(reason.start(ofBytes: 2 * Limits.shortString))
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
        for (id, waiting) in choosing {
            let job = jobs[waiting.job]
            var waitsForSlot = false
            if case .waiting = job?.state { waitsForSlot = true }
            guard now >= waiting.until || waitsForSlot && now >= waiting.slotUntil else { continue }
            choosing[id] = nil
            if let job { cancel(job, now: now) }
            let time = Dispatcher.seconds(waiting.until - waiting.began)
            let reason = waitsForSlot ? noSlot(job?.skill ?? "") : "no answer of a model within \(time)"
            decide(waiting.task, waiting.local, reason, now: now)
        }
    }

    /// `2 s`, `0.5 s`.
    private static func seconds(_ milliseconds: UInt64) -> String {
        let tenths = (milliseconds + 50) / 100
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}
