import Bus
import Wire

/// Plans and calls: jobs that begin because of how others end.
extension Dispatcher {
    /// The planner is done with a request.
    mutating func planned(_ task: PlanningTask, _ result: PlanningResult, now: UInt64) {
        if case .open(let choice, let local) = result { return choose(task, choice, local, now: now) }
        let header = task.header
        let id = header.job.request
        // Superseded while it was planned.
        guard let planned = takePlanning(id, generation: header.generation) else { return }
        let gateway = planned.gateway ?? task.gateway
        guard !planned.isCancelled else {
            return refuse(header, gateway, JobError(code: JobError.Code.cancelled, message: "cancelled"))
        }
        guard requests[id] == nil || (requests[id]?.generation ?? 0) < header.generation else { return }
        let plan: Plan
        let input: JobInput
        switch result {
        case .unreadable(let error):
            return refuse(
                header,
                gateway,
                JobError(code: JobError.Code.badMessage, message: error.description)
            )
        case .none(let plan, let nearest):
            send(plan, of: id, header.generation, to: gateway)
            return refuse(header, gateway, outOfScope(nearest))
        case .unclear(let plan, let candidates):
            if plan.scores != nil || plan.decision != nil { send(plan, of: id, header.generation, to: gateway) }
            return ask(header, gateway, Clarification(between: candidates))
        case .open: return
        case .plan(let made, let given):
            plan = made
            input = given.input
            if given.isNew { send(plan, of: id, header.generation, to: gateway) }
            let request = PlannedRequest(
                id: id,
                generation: header.generation,
                gateway: gateway,
                plan: plan,
                input: input,
                material: given.material,
                attachments: task.parcel.attachmentFrames,
                deadline: deadline(header, now: now),
                priority: Priority(header.flags),
                isPlanOurs: given.isNew,
                begun: given.begun,
                now: now
            )
            requests[id] = request
            if header.flags.contains(.elsewhere) { dropCalledClaims(of: id) }
            for previous in input.previous ?? [] {
                request.outputs[previous.step] = previous.output
                request.started.insert(previous.step)
            }
            startReadySteps(of: request, now: now)
        }
    }

    mutating func send(_ plan: Plan, of request: Identifier, _ generation: UInt32, to gateway: GatewayLink) {
        let header = Header(.plan, job: request, generation: generation)
        if let message = try? Outgoing(header, json: plan) { actions.append(.toGateway(gateway, message)) }
    }

    private func outOfScope(_ nearest: [String]) -> JobError {
        let skills = registry.skills.keys.sorted()
        if skills.isEmpty {
            return JobError(
                code: JobError.Code.noWorker,
                message: "no skill has a worker",
                hint: "start a worker, or `skillbus up`",
                retryable: true
            )
        }
        return JobError(
            code: JobError.Code.outOfScope,
            message: "no skill here serves this request",
            hint: "nearest: \((nearest.isEmpty ? skills : nearest).joined(separator: ", ")); or name one yourself"
        )
    }

    /// Starts every step whose needed steps have finished, and gives up those that need one that failed.
    mutating func startReadySteps(of request: PlannedRequest, now: UInt64) {
        for step in request.plan.steps where !request.started.contains(step.id) && !request.failed.contains(step.id) {
            if let cause = step.after.first(where: request.failed.contains) {
                request.failed.insert(step.id)
                skip(step, of: request, because: cause, now: now)
            } else if step.after.allSatisfy({ request.outputs[$0] != nil }) {
                request.started.insert(step.id)
                start(step, of: request, now: now)
            }
        }
        close(request)
    }

    private mutating func start(_ step: Plan.Step, of request: PlannedRequest, now: UInt64) {
        guard let job = job(for: step, of: request, now: now) else {
            request.failed.insert(step.id)
            return skip(step, of: request, because: step.id, now: now)
        }
        add(job, to: request)
        note(request.begun[job.id], of: job)
        if adoptsClaim(job, now: now) { return }
        guard let entry = registry.skills[step.skill] else { return fail(job, unknown(step.skill), now: now) }
        guard job.size <= Limits.message else {
            let message = "the input of \(step.skill) has \(job.size) bytes, the limit is \(Limits.message)"
            return fail(job, JobError(code: "too_large", message: message), now: now)
        }
        if entry.mayCache, isAnswered(job, entry, now: now) { return }
        guard hasRoom(for: job, entry, now: now) else { return fail(job, overloaded(entry), now: now) }
        start(job, entry, now: now)
    }

    private func job(for step: Plan.Step, of request: PlannedRequest, now: UInt64) -> Job? {
        guard let number = step.number else { return nil }
        var input = request.input
        input.plan = nil
        input.explain = nil
        input.canClarify = nil
        input.routing = nil
        input.material = request.material
        // What the user set outweighs what was read from the text.
        var arguments = step.arguments.object ?? [:]
        for (name, value) in request.input.arguments?.object ?? [:] { arguments[name] = value }
        input.arguments = arguments.isEmpty ? nil : .object(arguments)
        let skills = Dictionary(request.plan.steps.map { ($0.id, $0.skill) }) { first, _ in first }
        input.previous = step.after.compactMap { needed in
            request.outputs[needed].map { .init(step: needed, skill: skills[needed] ?? "", output: $0) }
        }
        if input.previous?.isEmpty == true { input.previous = nil }
        guard let body = try? JobBody.encode(skill: step.skill, input: input) else { return nil }
        let id = request.id.job(step: number)
        let parcel = Parcel(
            header: Header(.dispatch, job: id, generation: request.generation, attempt: 1),
            body: body,
            attachments: request.attachments
        )
        return Job(
            id: id,
            skill: step.skill,
            generation: request.generation,
            gateway: request.gateway,
            parcel: parcel,
            deadline: request.deadline,
            now: now,
            request: request,
            priority: request.priority
        )
    }

    private mutating func skip(_ step: Plan.Step, of request: PlannedRequest, because cause: String, now: UInt64) {
        guard let number = step.number else { return }
        let id = request.id.job(step: number)
        let header = Header(.dispatch, job: id, generation: request.generation)
        let job = Job(
            id: id,
            skill: step.skill,
            generation: request.generation,
            gateway: request.gateway,
            parcel: Parcel(header: header, body: []),
            deadline: nil,
            now: now,
            request: request
        )
        add(job, to: request)
        let message = "not run, since step \(cause) did not finish"
        fail(job, JobError(code: JobError.Code.dependencyFailed, message: message), now: now)
    }

    private mutating func add(_ job: Job, to request: PlannedRequest) {
        jobs[job.id] = job
        request.openJobs += 1
    }

    /// A job has ended: its request goes on, or its caller does.
    mutating func passOn(_ job: Job, _ kind: EventKind, _ payload: [UInt8], now: UInt64) {
        cancelCalls(of: job, now: now)
        if let choice = takeChoice(of: job) { return chosen(choice, kind, payload, now: now) }
        if let caller = job.caller {
            let header = Header(
                .result,
                job: job.id,
                generation: job.generation,
                sequence: caller.number,
                value: kind == .finished ? 0 : 1
            )
            actions.append(.toWorker(caller.worker, Outgoing(header, body: payload)))
        }
        guard let request = job.request, requests[request.id] === request else { return }
        let step = "s\(job.id.step)"
        if request.outputs[step] != nil || request.failed.contains(step) {
            // It ran again, since its first end was lost: what came of it then has been used.
        } else if kind == .finished, !request.isNeeded(step) {
            request.outputs[step] = SkillOutput(text: "")
        } else if kind == .finished, let finished = try? JSONBody.decode(JobFinished.self, from: payload) {
            request.outputs[step] = finished.output
        } else {
            request.failed.insert(step)
        }
        startReadySteps(of: request, now: now)
    }

    // MARK: Calls

    /// A skill wants another skill to be run.
    mutating func called(_ header: Header, body: [UInt8], frames: [SharedFrame], by worker: Worker, now: UInt64) {
        let caller = Job.Caller(worker: worker.peer, execution: header.execution, number: header.sequence)
        guard let parent = worker.leases[header.job], parent.execution == header.execution else {
            return answer(caller, JobError(code: JobError.Code.cancelled, message: "the calling job is over"))
        }
        guard let (skill, input) = try? JobBody.decode(body) else {
            return answer(caller, JobError(code: JobError.Code.badMessage, message: "the call cannot be read"))
        }
        guard (input.depth ?? 1) <= Limits.planDepth else {
            return answer(
                caller,
                JobError(code: "too_deep", message: "skills call each other too deep: \(input.depth ?? 1)")
            )
        }
        guard let entry = registry.skills[skill] else { return answer(caller, unknown(skill)) }
        let step = nextCallStep[parent.id.request, default: 100]
        guard step < .max else { return answer(caller, overloaded(entry)) }
        nextCallStep[parent.id.request] = step + 1
        let id = parent.id.request.job(step: step)
        let parcel = Parcel(
            header: Header(.dispatch, job: id, generation: parent.generation, attempt: 1),
            body: body,
            attachments: frames
        )
        let job = Job(
            id: id,
            skill: skill,
            generation: parent.submission,
            gateway: parent.gateway,
            parcel: parcel,
            deadline: parent.deadline,
            now: now,
            caller: caller,
            priority: parent.priority,
            origin: parent.origin
        )
        if entry.mayCache, isAnswered(job, entry, now: now) { return }
        guard hasRoom(for: job, entry, now: now) else {
            leave(job, now: now)
            return answer(caller, overloaded(entry))
        }
        start(job, entry, now: now)
    }

    private mutating func answer(_ caller: Job.Caller, _ error: JobError) {
        let header = Header(.result, job: caller.execution.job, sequence: caller.number, value: 1)
        if let message = try? Outgoing(header, json: error) { actions.append(.toWorker(caller.worker, message)) }
    }

    /// What a job called for is not wanted any more when the job has ended.
    mutating func cancelCalls(of parent: Job, now: UInt64) {
        guard nextCallStep[parent.id.request] != nil else { return }
        for job in jobs.values where job.caller?.execution == parent.execution { cancel(job, now: now) }
    }
}
