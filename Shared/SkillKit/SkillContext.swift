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
    /// What may go to outside parties; ``disclose(party:bytes:purpose:)`` keeps to it.
    public let privacy: PrivacyPolicy
    private let approved: [String]
    private let givenKey: String?
    private let reporter: any SkillReporter

    /// Makes a context that reports to the given place. Without a key the job's identifier is the key.
    public init(
        session: String,
        execution: Execution,
        idempotencyKey: String? = nil,
        deadline: ContinuousClock.Instant,
        depth: Int = 0,
        privacy: PrivacyPolicy = .localOnly,
        approved: [String] = [],
        reporter: any SkillReporter
    ) {
        self.session = session
        self.execution = execution
        givenKey = idempotencyKey
        self.deadline = deadline
        self.depth = depth
        self.privacy = privacy
        self.approved = approved
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

    /// Says that the output is only what can be done now, since something that is set up did not do its part: it is then no
    /// answer to the same input later. A skill is that, too, that has called one which is.
    public func provisional() { reporter.report(.provisional) }

    /// Runs another skill through the bus and returns its output. It shares this execution's deadline and is cancelled
    /// with it. Several calls may run at a time.
    /// - Parameters:
    ///   - skill: its id.
    ///   - text: what it is asked.
    ///   - material: what it is to work on, where that is not the text.
    ///   - arguments: for it, an object.
    ///   - attachments: files that it gets.
    ///   - history: the turns before the text, where it is to know them.
    ///   - summary: what was said before those, in short.
    ///   - previous: outputs that it is to work on, as a step of a plan works on those of the steps before.
    /// - Returns: its output.
    /// - Throws: `SkillError` with the code and the words of the called skill's failure.
    public func call(
        _ skill: String,
        text: String,
        material: String? = nil,
        arguments: JSONValue = [:],
        attachments: [SkillInput.Attachment] = [],
        history: [JobInput.Turn] = [],
        summary: String? = nil,
        previous: [JobInput.Previous] = []
    ) async throws(SkillError) -> SkillOutput {
        guard depth + 1 <= Limits.planDepth else {
            throw SkillError("too_deep", "skills call each other more than \(Limits.planDepth) levels deep")
        }
        var size = text.utf8.count + (material?.utf8.count ?? 0) + ((try? JSONBody.encode(arguments).count) ?? 0)
        if !previous.isEmpty { size += (try? JSONBody.encode(previous).count) ?? 0 }
        if !history.isEmpty { size += (try? JSONBody.encode(history).count) ?? 0 }
        size += attachments.reduce(summary?.utf8.count ?? 0) { $0 + $1.data.count }
        // What is around them takes less than the difference.
        guard size <= Limits.message - Limits.inlineBody else {
            throw SkillError(
                "too_large",
                "the call of \(skill) has \(size) bytes; the limit is \(Limits.message - Limits.inlineBody)"
            )
        }
        let input = JobInput(
            session: session,
            text: text,
            material: material,
            arguments: arguments,
            attachments: attachments.isEmpty ? nil : attachments.map(\.described),
            history: history.isEmpty ? nil : history,
            summary: summary,
            previous: previous.isEmpty ? nil : previous,
            depth: depth + 1,
            privacy: privacy == .localOnly ? nil : privacy,
            approved: approved.isEmpty ? nil : approved
        )
        return try await reporter.call(skill, input, attachments)
    }
}

extension SkillContext {
    /// What skills can be called now: the manifests of those that have a worker at this execution's router, by their ids. The
    /// skill that asks is among them.
    /// - Throws: `SkillError`, `no_router` or `cancelled`.
    public func skills() async throws(SkillError) -> [SkillManifest] { try await reporter.skills() }

    /// The plan that the router would make of a text, with every skill's score. Nothing is run.
    /// - Parameters:
    ///   - text: what a user would write, up to 1 MiB.
    ///   - history: the turns before it.
    ///   - attachments: files that come with it.
    /// - Returns: the plan; of the mode `none` where no skill serves the text.
    /// - Throws: `SkillError`: `no_router`, `overloaded`, `bad_message` for a text that is too long, or `cancelled`.
    public func route(
        _ text: String,
        history: [JobInput.Turn] = [],
        attachments: [SkillInput.Attachment] = []
    ) async throws(SkillError) -> Plan {
        let query = Query(
            ask: .route,
            text: text,
            history: history.isEmpty ? nil : history,
            attachments: attachments.isEmpty ? nil : attachments.map(\.described)
        )
        return try await reporter.route(query)
    }

    /// Whether ``disclose(party:bytes:purpose:)`` would return at once, without a question: for who has no time to wait
    /// for an answer.
    public func mayDisclose(to party: String) -> Bool {
        switch privacy {
        case .allow: true
        case .ask: approved.contains(party)
        case .localOnly: false
        }
    }

    /// To be called before anything is sent to somebody outside: a model, a search engine, any server that is not this
    /// machine's. It returns when that may be done, and the user then sees to whom what goes.
    ///
    /// Where the policy is ``PrivacyPolicy/ask`` it waits for the user, until the deadline; each party is asked about once
    /// for a request.
    /// - Parameters:
    ///   - party: Who gets it, such as `api.example.org`: 1 to 256 bytes.
    ///   - bytes: How much will be sent.
    ///   - purpose: What for, in a few words for people.
    /// - Throws: `SkillError` when nothing may be sent: `local_only` or `not_allowed`; `bad_message` for a party without a
    ///   name; `cancelled` when the execution is over. A skill that can do without the party catches the first two.
    public func disclose(party: String, bytes: Int, purpose: String) async throws(SkillError) {
        let disclosure = Disclosure(party: party, bytes: bytes, purpose: purpose)
        guard disclosure.isValid else {
            throw SkillError(
                JobError.Code.badMessage,
                "an outside party has a name of 1 to \(Limits.shortString) bytes"
            )
        }
        switch privacy {
        case .allow: break
        case .localOnly:
            throw SkillError(
                JobError.Code.localOnly,
                "\(bytes) bytes would have gone to \(party) (\(purpose)), and this session is for this machine only",
                hint:
                    "ask again in a session that allows it: skillbus ask --privacy ask, or \"privacy\" of POST /v1/sessions"
            )
        case .ask where approved.contains(party): break
        case .ask:
            guard try await reporter.ask(disclosure) else {
                throw SkillError(
                    JobError.Code.notAllowed,
                    "you did not allow that \(bytes) bytes go to \(party) (\(purpose))",
                    hint: "ask again and allow it, or use a skill that works on this machine"
                )
            }
        }
        reporter.report(.disclosure(disclosure))
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
    /// Data goes to an outside party now.
    case disclosure(Disclosure)
    /// What was tried failed and is tried again; what was streamed is void.
    case retrying(String)
    /// What does the work.
    case engine(String)
    /// The output will be no answer to the same input later.
    case provisional
    /// It ended well.
    case finished(SkillOutput)
    /// It failed.
    case failed(SkillError)
}

/// Where an execution's events go. The worker's runtime is one; a test has another.
public protocol SkillReporter: Sendable {
    /// Takes an event. Never blocks for long.
    func report(_ event: SkillEvent)
    /// Runs another skill. The input describes the files, in their order.
    func call(
        _ skill: String,
        _ input: JobInput,
        _ files: [SkillInput.Attachment]
    ) async throws(SkillError) -> SkillOutput
    /// Asks the user whether data may go to an outside party, and waits for the answer.
    func ask(_ disclosure: Disclosure) async throws(SkillError) -> Bool
    /// What skills can be called now.
    func skills() async throws(SkillError) -> [SkillManifest]
    /// The plan that a text would get.
    func route(_ query: Query) async throws(SkillError) -> Plan
}

extension SkillReporter {
    /// Where there is no router, there is no skill to be called.
    public func skills() async throws(SkillError) -> [SkillManifest] { [] }

    /// Where there is no router, nobody makes a plan.
    public func route(_ query: Query) async throws(SkillError) -> Plan {
        throw SkillError(JobError.Code.noRouter, "no router", retryable: true)
    }

    /// Where nobody can be asked, nothing is allowed.
    public func ask(_ disclosure: Disclosure) async throws(SkillError) -> Bool { false }
}
