internal import Bus
internal import Synchronization
internal import Telemetry
internal import Wire

/// Running a skill, and what it says.
extension WorkerRuntime: ExecutionRunner {
    nonisolated(nonsending) func run(_ work: ExecutionTasks.Work, in task: TaskHandle) async -> Bool {
        let execution = work.execution
        let end: WorkerExecution.Return
        do {
            guard execution.begin(in: task) else { throw CancellationError() }
            let input = try SkillInput(work.input, work.frames)
            let context = SkillContext(
                session: work.input.session,
                execution: execution.execution,
                idempotencyKey: work.input.idempotencyKey,
                deadline: .now + .milliseconds(Int64(clamping: execution.deadline - execution.startTime)),
                depth: work.input.depth ?? 0,
                privacy: work.input.privacy ?? .localOnly,
                approved: work.input.approved ?? [],
                reporter: Reporter(
                    runtime: self,
                    execution: execution,
                    files: work.frames.isEmpty ? nil : GivenFiles(files: input.attachments, frames: work.frames)
                )
            )
            let output = try await execution.skill.execute(input, work.input.arguments, context)
            end = execution.returned()
            if end.wasStopped, let reason = execution.stopReason {
                fail(execution, reason)
            } else {
                finish(
                    execution,
                    output,
                    hasStreamedText: end.hasStreamedText,
                    engine: end.engine,
                    isProvisional: end.isProvisional
                )
            }
        } catch {
            end = execution.returned()
            fail(execution, execution.stopReason ?? JobError(error))
        }
        // Usually the bus thread does that when it sends the end; not if that went out before, or never will.
        if execution.givesSlotBack() {
            giveBack(execution)
            client.poke()
        }
        return end.leavesTaskIntact
    }

    func finish(
        _ execution: WorkerExecution,
        _ output: SkillOutput,
        hasStreamedText: Bool,
        engine: String? = nil,
        isProvisional: Bool = false
    ) {
        let milliseconds = Monotonic.milliseconds - execution.startTime
        let engine = engine ?? execution.skill.engine
        do {
            var finished = JobFinished(output: output, engine: engine, milliseconds: milliseconds)
            if isProvisional { finished.provisional = true }
            let payload = try finished.encoded()
            guard payload.count <= Limits.output else {
                throw WireError.tooLarge(what: "output", limit: Limits.output, got: payload.count)
            }
            let text = hasStreamedText || output.text.isEmpty ? nil : output.text
            if execution.recordEnd(text: text, payload) { wake(execution) }
        } catch WireError.tooLarge(let what, let limit, let got) {
            let reason = "the \(what) has \(got) bytes, the limit is \(limit)"
            fail(execution, JobError(code: JobError.Code.outputTooLarge, message: reason))
        } catch {
            fail(execution, JobError(code: JobError.Code.skillFailed, message: "output cannot be encoded: \(error)"))
        }
    }

    func fail(_ execution: WorkerExecution, _ error: JobError) {
        guard let payload = try? JSONBody.encode(error) else { return }
        // A stop is final: only what the skill itself calls passing is tried again.
        let isRetryable = error.retryable && execution.stopReason == nil
        if execution.record(.failed, payload, isRetryable: isRetryable) { wake(execution) }
    }

    func wake(_ execution: WorkerExecution) {
        enqueue(execution)
        executor.reportSoon()
    }
}

private struct Reporter: SkillReporter {
    let runtime: WorkerRuntime
    let execution: WorkerExecution
    /// Nil for an execution that got no files.
    let files: GivenFiles?

    func report(_ event: SkillEvent) { runtime.report(event, of: execution) }

    func call(
        _ skill: String,
        _ input: JobInput,
        _ files: [SkillInput.Attachment]
    ) async throws(SkillError) -> SkillOutput {
        let frames = files.map { self.files?.frame(of: $0) ?? SharedFrame(Message(copying: $0.data)) }
        switch await runtime.call(skill, input, frames, by: execution) {
        case .success(let output): return output
        case .failure(let error): throw error
        }
    }

    func ask(_ disclosure: Disclosure) async throws(SkillError) -> Bool {
        try await runtime.ask(disclosure, by: execution).get()
    }

    func skills() async throws(SkillError) -> [SkillManifest] {
        let answer = try await runtime.query(Query(ask: .skills), by: execution).get()
        do {
            let list = try JSONBody.decode(SkillList.self, from: answer)
            return list.skills.filter { !$0.workers.isEmpty }.map(\.manifest)
        } catch {
            throw SkillError(JobError.Code.badMessage, "the router's list of skills cannot be read: \(error)")
        }
    }

    func route(_ query: Query) async throws(SkillError) -> Plan {
        let answer = try await runtime.query(query, by: execution).get()
        do {
            return try JSONBody.decode(Plan.self, from: answer)
        } catch {
            throw SkillError(JobError.Code.badMessage, "the router's plan cannot be read: \(error)")
        }
    }
}

/// The files of an execution as they came, so that handing one on copies nothing.
private final class GivenFiles: Sendable {
    private let files: [SkillInput.Attachment]
    private let frames: [SharedFrame]

    init(files: [SkillInput.Attachment], frames: [SharedFrame]) {
        self.files = files
        self.frames = frames
    }

    /// The frame with the content of a file, if it is one of these.
    func frame(of file: SkillInput.Attachment) -> SharedFrame? {
        zip(files, frames).first { $0.0.data == file.data }?.1
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
            attachments: described.isEmpty
                ? []
                : zip(described, frames).map { description, frame in
                    Attachment(name: description.name, mediaType: description.mediaType, data: frame.bytes())
                },
            history: input.history ?? [],
            summary: input.summary,
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
