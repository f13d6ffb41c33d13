internal import Bus
internal import Synchronization
internal import Telemetry
internal import Wire

/// The worker's side of the protocol (docs/protocol.md, section 7): registration, credit, heartbeats, executions,
/// deadlines, cancellation, acknowledgement and drain. All messages are read and sent on the bus thread; executions run
/// as tasks and reach it through ``WorkerExecution``.
final class WorkerRuntime: BusClientUser {
    /// What ends the process without a signal.
    enum Ending: Sendable {
        case refused(JobError)
        case drained
    }

    private enum Phase {
        case disconnected
        case registering(since: UInt64)
        case registered
    }

    private struct State {
        var phase = Phase.disconnected
        var heartbeat: UInt64 = 1000
        var liveness: UInt64 = 3
        var lastHeard: UInt64 = 0
        var lastHeartbeat: UInt64 = 0
        var lastResend: UInt64 = 0
        var dispatchSeen: UInt64 = 0
        var executions: [Identifier: WorkerExecution] = [:]
        /// What has something to say.
        var unsent: [WorkerExecution] = []
        /// What has said that it may wait, and when the first of it has waited long enough.
        var waiting: [WorkerExecution] = []
        var waitingEnds: UInt64 = .max
        var slotsInUse = 0
        var slotsLent = 0
        var calls: [UInt64: CheckedContinuation<Result<SkillOutput, SkillError>, Never>] = [:]
        var nextCall: UInt64 = 1
        var isDraining = false
        var drainLimit: UInt64 = .max
        /// When the executions must be looked through for deadlines; until then no turn spends time on that.
        var nextDeadline: UInt64 = .max
        var hasEnded = false
    }

    let skills: [String: HostedSkill]
    private let registration: Registration
    private let client: BusClient
    private let log: Log
    private let state = Mutex(State())
    private let onReady: @Sendable () -> Void
    private let onEnd: @Sendable (Ending) -> Void
    /// How long a cancelled skill may take to stop before its job is ended without it.
    private static let stopGrace: UInt64 = 5000
    private static let resendInterval: UInt64 = 2000
    private static let registerInterval: UInt64 = 2000

    init(
        skills: [HostedSkill],
        registration: Registration,
        client: BusClient,
        log: Log,
        onReady: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable (Ending) -> Void
    ) {
        self.skills = Dictionary(skills.map { ($0.manifest.id, $0) }) { first, _ in first }
        self.registration = registration
        self.client = client
        self.log = log
        self.onReady = onReady
        self.onEnd = onEnd
    }

    // MARK: The bus thread

    func connected() { state.withLock { register(&$0, now: Monotonic.milliseconds) } }

    func disconnected() {
        state.withLock { $0.phase = .disconnected }
        log.info("router lost, reconnecting")
    }

    private func register(_ state: inout State, now: UInt64) {
        state.phase = .registering(since: now)
        state.dispatchSeen = 0
        var registration = registration
        registration.held = state.executions.values.map { execution in
            let isEnded = execution.hasEnded
            return .init(
                execution: execution.execution,
                sequence: execution.lastSequence,
                state: isEnded ? .unacknowledged : .running
            )
        }
        do {
            let free = freeSlots(state)
            try client.send(Outgoing(Header(.register, value: UInt64(free)), json: registration))
        } catch {
            log.error("registration not sent", ["reason": "\(error)"])
        }
    }

    private func freeSlots(_ state: borrowing State) -> Int {
        state.isDraining ? 0 : max(registration.concurrency - state.slotsInUse + state.slotsLent, 0)
    }

    func received(_ message: consuming Incoming) {
        let now = Monotonic.milliseconds
        state.withLock { $0.lastHeard = now }
        let header = message.header
        switch header.type {
        case .dispatch: dispatch(message, now: now)
        case .welcome: welcome(message.body(), now: now)
        case .eventAck:
            _ = try? message.withBody { body throws(WireError) in
                try ExecutionList.forEach(body) { acknowledged($0) }
            }
        case .fenced:
            _ = try? message.withBody { body throws(WireError) in try ExecutionList.forEach(body) { fenced($0) } }
        case .cancel:
            let execution = state.withLock { $0.executions[header.job] }
            execution?.stop(JobError(code: JobError.Code.cancelled, message: "cancelled"))
        case .result: result(header, message.body())
        case .error: problem(message.body(), now: now)
        case .heartbeat, .drain, .goodbye: break
        default: log.warning("unexpected message", ["type": "\(header.type)"])
        }
    }

    func rejected(_ error: WireError) { log.warning("unreadable message", ["reason": "\(error)"]) }

    private func welcome(_ body: [UInt8], now: UInt64) {
        guard let welcome = try? JSONBody.decode(Welcome.self, from: body) else { return }
        state.withLock { state in
            state.phase = .registered
            state.heartbeat = UInt64(max(welcome.heartbeat, 50))
            state.liveness = UInt64(max(welcome.liveness, 2))
            state.lastResend = 0
        }
        log.info("registered", ["router": "\(welcome.router)"])
        onReady()
    }

    private func problem(_ body: [UInt8], now: UInt64) {
        guard let error = try? JSONBody.decode(JobError.self, from: body) else { return }
        if error.code == "unregistered" {
            state.withLock { register(&$0, now: now) }
        } else if error.retryable {
            log.warning("router refuses for now", ["code": "\(error.code)", "reason": "\(error.message)"])
        } else {
            onEnd(.refused(error))
        }
    }

    private func dispatch(_ message: consuming Incoming, now: UInt64) {
        let header = message.header
        let execution = header.execution
        func refuse(_ code: String, _ text: String) {
            let error = JobError(code: code, message: text, retryable: true)
            let nack = Header(
                .nack,
                job: execution.job,
                generation: execution.generation,
                attempt: execution.attempt,
                sequence: header.sequence
            )
            if let nack = try? Outgoing(nack, json: error) { try? client.send(nack) }
        }
        let decoded: (skill: String, input: JobInput)
        do throws(WireError) {
            decoded = try message.withBody { body throws(WireError) in try JobBody.decode(body) }
        } catch {
            state.withLock { $0.dispatchSeen = max($0.dispatchSeen, header.sequence) }
            return refuse(JobError.Code.badMessage, error.description)
        }
        guard let skill = skills[decoded.skill] else {
            state.withLock { $0.dispatchSeen = max($0.dispatchSeen, header.sequence) }
            return refuse(JobError.Code.unknownSkill, "this worker has no skill \(decoded.skill)")
        }
        enum Decision { case start(WorkerExecution), older, again(WorkerExecution), busy, draining }
        let decision: Decision = state.withLock { state in
            state.dispatchSeen = max(state.dispatchSeen, header.sequence)
            if let known = state.executions[execution.job] {
                if known.execution == execution { return .again(known) }
                guard known.execution.isOlder(than: execution) else { return .older }
                known.fence()
                if known.givesSlotBack() { state.slotsInUse -= 1 }
            }
            if state.isDraining { return .draining }
            guard freeSlots(state) > 0 else { return .busy }
            let limit = min(header.value == 0 ? .max : header.value, UInt64(skill.manifest.timeout * 1000))
            let started = WorkerExecution(
                execution: execution,
                skill: skill,
                startTime: now,
                deadline: now + limit
            )
            state.executions[execution.job] = started
            state.slotsInUse += 1
            state.nextDeadline = min(state.nextDeadline, now + limit)
            return .start(started)
        }
        switch decision {
        case .start(let started):
            if started.record(.started, skill.startedPayload) { enqueue(started) }
            run(started, decoded.input, message.attachments)
        case .again(let known): if let terminal = known.sentTerminal { try? client.send(terminal) }
        case .older: break
        case .busy: refuse("busy", "no free slot")
        case .draining: refuse(JobError.Code.draining, "the worker is draining")
        }
    }

    private func acknowledged(_ execution: Execution) {
        state.withLock { state in
            if state.executions[execution.job]?.execution == execution { state.executions[execution.job] = nil }
        }
    }

    private func fenced(_ execution: Execution) {
        let found = state.withLock { state -> WorkerExecution? in
            guard let found = state.executions[execution.job], found.execution == execution else { return nil }
            state.executions[execution.job] = nil
            return found
        }
        guard let found else { return }
        found.fence()
        if found.givesSlotBack() { state.withLock { $0.slotsInUse -= 1 } }
    }

    private func enqueue(_ execution: WorkerExecution) { state.withLock { $0.unsent.append(execution) } }

    func turn(now: UInt64) -> UInt64? {
        let (unsent, waitingEnds) = state.withLock { state -> ([WorkerExecution], UInt64) in
            guard case .registered = state.phase else { return ([], .max) }
            var unsent = state.unsent
            state.unsent = []
            if now >= state.waitingEnds {
                unsent += state.waiting
                state.waiting.removeAll(keepingCapacity: true)
                state.waitingEnds = .max
            }
            return (unsent, state.waitingEnds)
        }
        var next = min(now + 1000, waitingEnds)
        var waiting: [WorkerExecution] = []
        var freed = 0
        for execution in unsent {
            let (message, later) = execution.flush(now: now)
            if let message {
                do { try client.send(message) } catch { log.warning("event not queued", ["reason": "\(error)"]) }
                if execution.givesSlotBack() { freed += 1 }
            } else if let later {
                waiting.append(execution)
                next = min(next, later)
            }
        }
        if !waiting.isEmpty || freed > 0 {
            state.withLock { state in
                state.slotsInUse -= freed
                state.waiting += waiting
                if !waiting.isEmpty { state.waitingEnds = min(state.waitingEnds, next) }
            }
        }
        return min(next, keepTime(now: now))
    }

    /// Everything that happens because time has passed. Returns when to look again.
    private func keepTime(now: UInt64) -> UInt64 {
        var overdue: [WorkerExecution] = []
        var abandoned: [WorkerExecution] = []
        var hasDrained = false
        let next = state.withLock { state -> UInt64 in
            var next = now + state.heartbeat
            switch state.phase {
            case .disconnected: break
            case .registering(let since):
                if now >= since + WorkerRuntime.registerInterval { register(&state, now: now) }
                next = min(next, now + WorkerRuntime.registerInterval)
            case .registered:
                if now >= state.lastHeartbeat + state.heartbeat {
                    state.lastHeartbeat = now
                    sendHeartbeat(state)
                }
                next = min(next, state.lastHeartbeat + state.heartbeat)
                if now >= state.lastResend + WorkerRuntime.resendInterval {
                    // After a registration all of them, else those that have waited long for their acknowledgement.
                    let age = state.lastResend == 0 ? 0 : WorkerRuntime.resendInterval
                    state.lastResend = now
                    for execution in state.executions.values {
                        if let terminal = execution.terminalSent(before: now - min(now, age), now: now) {
                            try? client.send(terminal)
                        }
                    }
                }
            }
            if now >= state.nextDeadline {
                state.nextDeadline = .max
                for execution in state.executions.values {
                    guard let deadline = execution.deadline, !execution.hasEnded else { continue }
                    let end = deadline + WorkerRuntime.stopGrace
                    if now >= end {
                        abandoned.append(execution)
                    } else {
                        if now >= deadline { overdue.append(execution) }
                        state.nextDeadline = min(state.nextDeadline, now >= deadline ? end : deadline)
                    }
                }
            }
            next = min(next, state.nextDeadline)
            if state.isDraining, !state.hasEnded {
                next = min(next, now + 50)
                let isDone = state.executions.isEmpty && state.slotsInUse == 0
                if isDone || now >= state.drainLimit {
                    state.hasEnded = true
                    hasDrained = true
                    release(&state)
                }
            }
            return next
        }
        for execution in overdue {
            execution.stop(
                JobError(
                    code: JobError.Code.timeout,
                    message: "the skill took longer than its limit of \(execution.skill.manifest.timeout) s",
                    retryable: true
                )
            )
        }
        for execution in abandoned { fail(execution, execution.stopReason ?? stuck(execution)) }
        if hasDrained {
            try? client.send(Outgoing(Header(.goodbye)))
            onEnd(.drained)
        }
        return next
    }

    private func stuck(_ execution: WorkerExecution) -> JobError {
        JobError(code: JobError.Code.timeout, message: "the skill did not stop", retryable: true)
    }

    private func sendHeartbeat(_ state: borrowing State) {
        var body: [UInt8] = []
        // Listed until the terminal event is on its way: a leased job that a heartbeat lacks counts as lost.
        for execution in state.executions.values where execution.sentTerminal == nil {
            ExecutionList.append(execution.execution, progress: execution.progress, to: &body)
        }
        let header = Header(.heartbeat, sequence: state.dispatchSeen, value: UInt64(freeSlots(state)))
        try? client.send(Outgoing(header, body: body))
    }

    /// Hands back what is still running when the time for draining is over.
    private func release(_ state: inout State) {
        for execution in state.executions.values where !execution.hasEnded {
            let header = Header(
                .release,
                job: execution.execution.job,
                generation: execution.execution.generation,
                attempt: execution.execution.attempt
            )
            try? client.send(Outgoing(header))
            execution.fence()
            if execution.givesSlotBack() { state.slotsInUse -= 1 }
        }
    }

    // MARK: Executions

    private func run(_ execution: WorkerExecution, _ input: JobInput, _ frames: [SharedFrame]) {
        let task = Task { [self] in
            let context = SkillContext(
                session: input.session,
                execution: execution.execution,
                idempotencyKey: input.idempotencyKey ?? execution.execution.job.description,
                deadline: .now + .milliseconds(Int64(clamping: (execution.deadline ?? 0) - execution.startTime)),
                depth: input.depth ?? 0,
                reporter: Reporter(runtime: self, execution: execution)
            )
            do {
                let skillInput = try SkillInput(input, frames)
                let output = try await execution.skill.execute(skillInput, input.arguments, context)
                execution.returned()
                if let reason = execution.stopReason {
                    fail(execution, reason)
                } else {
                    finish(execution, output)
                }
            } catch {
                execution.returned()
                fail(execution, execution.stopReason ?? JobError(error))
            }
            // Usually the bus thread does that when it sends the end; not if that went out before, or never will.
            if execution.givesSlotBack() { state.withLock { $0.slotsInUse -= 1 } }
        }
        execution.run(task)
    }

    private func finish(_ execution: WorkerExecution, _ output: SkillOutput) {
        if !execution.hasStreamedText, !output.text.isEmpty {
            _ = execution.record(.delta, text: output.text)
        }
        let milliseconds = Monotonic.milliseconds - execution.startTime
        do {
            let payload = try JobFinished(output: output, engine: execution.skill.engine, milliseconds: milliseconds)
                .encoded()
            guard payload.count <= Limits.output else {
                throw WireError.tooLarge(what: "output", limit: Limits.output, got: payload.count)
            }
            if execution.record(.finished, payload) { wake(execution) }
        } catch WireError.tooLarge(let what, let limit, let got) {
            let reason = "the \(what) has \(got) bytes, the limit is \(limit)"
            fail(execution, JobError(code: JobError.Code.outputTooLarge, message: reason))
        } catch {
            fail(execution, JobError(code: JobError.Code.skillFailed, message: "output cannot be encoded: \(error)"))
        }
    }

    private func fail(_ execution: WorkerExecution, _ error: JobError) {
        guard let payload = try? JSONBody.encode(error) else { return }
        // A stop is final: only what the skill itself calls passing is tried again.
        let isRetryable = error.retryable && execution.stopReason == nil
        if execution.record(.failed, payload, isRetryable: isRetryable) { wake(execution) }
    }

    private func wake(_ execution: WorkerExecution) {
        enqueue(execution)
        client.poke()
    }

    // MARK: From outside

    /// Takes nothing new, and ends when what is running has ended and has been acknowledged, or at the limit.
    func drain(within milliseconds: UInt64) {
        state.withLock { state in
            guard !state.isDraining else { return }
            state.isDraining = true
            state.drainLimit = Monotonic.milliseconds + milliseconds
        }
        try? client.send(Outgoing(Header(.drain)))
        client.poke()
    }

    /// Whether a router has taken this worker.
    var isRegistered: Bool {
        state.withLock { state in if case .registered = state.phase { true } else { false } }
    }
}

extension WorkerRuntime {
    fileprivate func report(_ event: SkillEvent, of execution: WorkerExecution) {
        let mustWake: Bool
        switch event {
        case .thinking(let text): mustWake = execution.record(.thinking, text: text)
        case .textDelta(let text): mustWake = execution.record(.delta, text: text)
        case .progress(let message, let fraction):
            guard let payload = try? JSONBody.encode(JobProgress(message: message, fraction: fraction)) else { return }
            mustWake = execution.record(.progress, payload)
        case .partial(let output):
            guard let payload = try? JSONBody.encode(output), payload.count <= Limits.event else { return }
            mustWake = execution.record(.partial, payload)
        case .started, .finished, .failed: return  // the runtime's own to say
        }
        if mustWake { wake(execution) }
    }

    fileprivate func call(
        _ skill: String,
        _ input: JobInput,
        by execution: WorkerExecution
    ) async -> Result<SkillOutput, SkillError> {
        guard let body = try? JobBody.encode(skill: skill, input: input) else {
            return .failure(SkillError(JobError.Code.badMessage, "the call of \(skill) cannot be encoded"))
        }
        let caller = execution.execution
        let number = state.withLock { state in
            defer { state.nextCall += 1 }
            // The caller's slot is free while it waits, or two levels of calls could wait for each other for ever.
            state.slotsLent += 1
            return state.nextCall
        }
        sendCredit()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.calls[number] = continuation }
                let header = Header(
                    .call,
                    job: caller.job,
                    generation: caller.generation,
                    attempt: caller.attempt,
                    sequence: number
                )
                do {
                    try client.send(Outgoing(header, body: body))
                } catch {
                    resolve(number, .failure(SkillError(JobError.Code.noRouter, "no router", retryable: true)))
                }
                if Task.isCancelled { resolve(number, .failure(SkillError(JobError.Code.cancelled, "cancelled"))) }
            }
        } onCancel: {
            resolve(number, .failure(SkillError(JobError.Code.cancelled, "cancelled")))
        }
        state.withLock { $0.slotsLent -= 1 }
        return result
    }

    private func sendCredit() {
        let header = state.withLock { state in
            Header(.credit, sequence: state.dispatchSeen, value: UInt64(freeSlots(state)))
        }
        try? client.send(Outgoing(header))
    }

    private func resolve(_ number: UInt64, _ result: Result<SkillOutput, SkillError>) {
        let continuation = state.withLock { $0.calls.removeValue(forKey: number) }
        continuation?.resume(returning: result)
    }

    fileprivate func result(_ header: Header, _ body: [UInt8]) {
        if header.value == 0, let finished = try? JSONBody.decode(JobFinished.self, from: body) {
            resolve(header.sequence, .success(finished.output))
        } else if let error = try? JSONBody.decode(JobError.self, from: body) {
            let failure = SkillError(error.code, error.message, hint: error.hint, retryable: error.retryable)
            resolve(header.sequence, .failure(failure))
        }
    }
}

private struct Reporter: SkillReporter {
    let runtime: WorkerRuntime
    let execution: WorkerExecution

    func report(_ event: SkillEvent) { runtime.report(event, of: execution) }

    func call(_ skill: String, _ input: JobInput) async throws(SkillError) -> SkillOutput {
        switch await runtime.call(skill, input, by: execution) {
        case .success(let output): return output
        case .failure(let error): throw error
        }
    }
}

extension SkillInput {
    fileprivate init(_ input: JobInput, _ frames: [SharedFrame]) throws(SkillError) {
        let described = input.attachments ?? []
        guard described.count == frames.count else {
            throw SkillError(
                JobError.Code.badMessage,
                "\(described.count) attachments are described, \(frames.count) came"
            )
        }
        self.init(
            text: input.text,
            separatedMaterial: input.material,
            attachments: zip(described, frames).map { description, frame in
                Attachment(name: description.name, mediaType: description.mediaType, data: frame.bytes())
            },
            history: input.history ?? [],
            previous: input.previous ?? []
        )
    }
}

extension JobError {
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as SkillError:
            self.init(code: error.code, message: error.message, hint: error.hint, retryable: error.retryable)
        case is CancellationError: self.init(code: Code.cancelled, message: "cancelled")
        default: self.init(code: Code.skillFailed, message: "the skill failed: \(error)")
        }
    }
}
