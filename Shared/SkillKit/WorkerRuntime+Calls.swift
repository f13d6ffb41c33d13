internal import Bus
internal import Synchronization
internal import Telemetry
internal import Wire

/// Reports of running skills, and their calls of other skills.
extension WorkerRuntime {
    func report(_ event: SkillEvent, of execution: WorkerExecution) {
        let mustWake: Bool
        switch event {
        case .thinking(let text): mustWake = execution.record(.thinking, text: text)
        case .textDelta(let text): mustWake = execution.record(.delta, text: text)
        case .progress(let message, let fraction):
            guard let payload = try? JSONBody.encode(JobProgress(message: message, fraction: fraction)) else { return }
            guard payload.count <= Limits.event else { return saidTooMuch(execution, "a progress message", payload) }
            mustWake = execution.record(.progress, payload)
        case .partial(let output):
            guard let payload = try? JSONBody.encode(output) else { return }
            guard payload.count <= Limits.event else { return saidTooMuch(execution, "a partial output", payload) }
            mustWake = execution.record(.partial, payload)
        case .disclosure(let disclosure):
            guard let payload = try? JSONBody.encode(disclosure) else { return }
            mustWake = execution.record(.disclosure, payload)
        case .retrying(let reason):
            let retrying = JobRetrying(reason: reason, attempt: execution.execution.attempt)
            guard let payload = try? JSONBody.encode(retrying) else { return }
            guard payload.count <= Limits.event else { return saidTooMuch(execution, "a reason to try again", payload) }
            mustWake = execution.record(.retrying, payload)
        case .engine(let name): return execution.engine(name)
        case .provisional: return execution.provisional()
        case .started, .finished, .failed: return  // the runtime's own to say
        }
        if mustWake { wake(execution) }
    }

    /// Text is sent in pieces; other events cannot be, and are nothing without their rest. The job ends, so that whoever
    /// wrote the skill hears of it.
    private func saidTooMuch(_ execution: WorkerExecution, _ what: String, _ payload: [UInt8]) {
        let skill = execution.skill.manifest.id
        let error = JobError(
            code: JobError.Code.eventTooLarge,
            message: "\(what) of \(skill) has \(payload.count) bytes, the limit is \(Limits.event)",
            hint: "the skill must say less at once"
        )
        execution.stop(error, now: Monotonic.milliseconds)
        fail(execution, error)
    }

    func call(
        _ skill: String,
        _ input: JobInput,
        _ frames: [SharedFrame],
        by execution: WorkerExecution
    ) async -> Result<SkillOutput, SkillError> {
        guard let body = try? JobBody.encode(skill: skill, input: input) else {
            return .failure(SkillError(JobError.Code.badMessage, "the call of \(skill) cannot be encoded"))
        }
        let caller = execution.execution
        let message = Outgoing(
            Header(.call, job: caller.job, generation: caller.generation, attempt: caller.attempt),
            body: body,
            attachments: frames
        )
        do throws(WireError) { try message.check() } catch {
            return .failure(SkillError("too_large", "the call of \(skill) cannot be sent: \(error)"))
        }
        // The caller's slot is free while it waits, or two levels of calls could wait for each other for ever.
        let number = beginWaiting(execution)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let link = execution.route.link
                state.withLock {
                    $0.calls[number] = Call(link: link, execution: execution, continuation: continuation)
                }
                var message = message
                message.header.sequence = number
                do {
                    try client.send(message, to: link)
                } catch {
                    resolve(number, .failure(SkillError(JobError.Code.noRouter, "no router", retryable: true)))
                }
                if Task.isCancelled { resolve(number, .failure(SkillError(JobError.Code.cancelled, "cancelled"))) }
            }
        } onCancel: {
            resolve(number, .failure(SkillError(JobError.Code.cancelled, "cancelled")))
        }
        endWaiting(execution)
        return result
    }

    /// An execution waits for somebody else, and needs no slot for that: it has one, for however much it waits at once.
    /// - Returns: A number for what it waits for.
    func beginWaiting(_ execution: WorkerExecution) -> UInt64 {
        let lends = execution.callBegan()
        let number = state.withLock { state in
            defer { state.nextCall += 1 }
            if lends { state.slotsLent += 1 }
            return state.nextCall
        }
        // The bus thread tells a router of it.
        if lends { client.poke() }
        return number
    }

    /// It goes on.
    func endWaiting(_ execution: WorkerExecution) {
        guard execution.callEnded() else { return }
        state.withLock { $0.slotsLent -= 1 }
        client.poke()
    }

    func resolve(_ number: UInt64, _ result: Result<SkillOutput, SkillError>) {
        let call = state.withLock { $0.calls.removeValue(forKey: number) }
        call?.continuation.resume(returning: result)
    }

    func result(_ header: Header, _ body: [UInt8]) {
        if header.value == 0, let finished = try? JSONBody.decode(JobFinished.self, from: body) {
            if finished.provisional == true { state.withLock { $0.calls[header.sequence] }?.execution.provisional() }
            resolve(header.sequence, .success(finished.output))
        } else if let error = try? JSONBody.decode(JobError.self, from: body) {
            let failure = SkillError(error.code, error.message, hint: error.hint, retryable: error.retryable)
            resolve(header.sequence, .failure(failure))
        }
    }
}
