public import Wire

/// What one execution knows and may say. Made for it alone and released with it.
public struct SkillContext: Sendable {
    /// The session that the request belongs to.
    public let session: String
    /// The job, with generation and attempt.
    public let execution: Execution
    /// The same on every attempt of the job, and different for every other job.
    public var idempotencyKey: String { givenKey ?? execution.job.description }
    /// When the execution will be cancelled.
    public let deadline: ContinuousClock.Instant
    /// How deep the calls of skills by skills are.
    public let depth: Int
    private let givenKey: String?
    private let reporter: any SkillReporter

    /// Makes a context that reports to the given place. Without a key the job's identifier is the key.
    public init(
        session: String,
        execution: Execution,
        idempotencyKey: String? = nil,
        deadline: ContinuousClock.Instant,
        depth: Int = 0,
        reporter: any SkillReporter
    ) {
        self.session = session
        self.execution = execution
        givenKey = idempotencyKey
        self.deadline = deadline
        self.depth = depth
        self.reporter = reporter
    }

    /// Reports how far the work is. `fraction` is between 0 and 1, or nil where it cannot be known.
    public func progress(_ message: String, fraction: Double? = nil) {
        reporter.report(.progress(message: message, fraction: fraction.map { min(max($0, 0), 1) }))
    }

    /// Reports a thought.
    public func thinking(_ text: String) { reporter.report(.thinking(text)) }

    /// Streams the next piece of the answer.
    public func text(_ delta: String) {
        if !delta.isEmpty { reporter.report(.textDelta(delta)) }
    }

    /// Reports the output so far.
    public func partial(_ output: SkillOutput) { reporter.report(.partial(output)) }

    /// Reports that what was tried failed and is tried again, within this attempt. Text that was streamed before is void.
    public func retrying(_ reason: String) { reporter.report(.retrying(reason)) }

    /// Says what does the work, where that is only known now: a model's name, or `offline`. Otherwise it is what the skill
    /// names as its engine.
    public func engine(_ name: String) { reporter.report(.engine(name)) }

    /// Runs another skill through the bus and returns its output. It shares this execution's deadline and is cancelled
    /// with it.
    /// - Throws: `SkillError` with the code and the words of the called skill's failure.
    public func call(
        _ skill: String,
        text: String,
        arguments: JSONValue = [:]
    ) async throws(SkillError) -> SkillOutput {
        guard depth + 1 <= Limits.planDepth else {
            throw SkillError("too_deep", "skills call each other more than \(Limits.planDepth) levels deep")
        }
        let size = text.utf8.count + ((try? JSONBody.encode(arguments).count) ?? 0)
        // What is around them takes less than the difference.
        guard size <= Limits.message - Limits.inlineBody else {
            throw SkillError(
                "too_large",
                "the call of \(skill) has \(size) bytes; the limit is \(Limits.message - Limits.inlineBody)"
            )
        }
        let input = JobInput(session: session, text: text, arguments: arguments, depth: depth + 1)
        return try await reporter.call(skill, input)
    }
}

/// What an execution can say.
public enum SkillEvent: Hashable, Sendable {
    /// It has begun.
    case started(engine: String)
    /// A thought.
    case thinking(String)
    /// How far it is.
    case progress(message: String, fraction: Double?)
    /// The next piece of the answer.
    case textDelta(String)
    /// The output so far.
    case partial(SkillOutput)
    /// What was tried failed and is tried again; what was streamed is void.
    case retrying(String)
    /// What does the work.
    case engine(String)
    /// It ended well.
    case finished(SkillOutput)
    /// It failed.
    case failed(SkillError)
}

/// Where an execution's events go. The worker's runtime is one; a test has another.
public protocol SkillReporter: Sendable {
    /// Takes an event. Never blocks for long.
    func report(_ event: SkillEvent)
    /// Runs another skill.
    func call(_ skill: String, _ input: JobInput) async throws(SkillError) -> SkillOutput
}
