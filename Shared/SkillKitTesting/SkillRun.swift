public import SkillKit
internal import Synchronization
public import Wire

/// Runs a skill without a bus, as a test of it would.
public struct SkillRun: Sendable {
    /// Every event, in order, from `started` to `finished` or `failed`.
    public let events: [SkillEvent]

    /// The output, if it finished.
    public var output: SkillOutput? {
        if case .finished(let output)? = events.last { output } else { nil }
    }

    /// The error, if it failed.
    public var error: SkillError? {
        if case .failed(let error)? = events.last { error } else { nil }
    }

    /// The text that was streamed.
    public var streamedText: String {
        events.map { if case .textDelta(let text) = $0 { text } else { "" } }.joined()
    }

    /// Runs the skill on an input and waits for its end. `calls` answers the calls that it makes of other skills, `skills`
    /// are those that it finds, `plan` is what the router makes of a text, `approved` are outside parties that the user has
    /// allowed before, and `allows` answers the question whether data may go to another, where the policy is to ask.
    public init<S: Skill>(
        _ skill: S,
        _ input: SkillInput,
        arguments: JSONValue = [:],
        timeout: Duration = .seconds(60),
        privacy: PrivacyPolicy = .localOnly,
        approved: [String] = [],
        calls: @escaping @Sendable (String, JobInput) async throws(SkillError) -> SkillOutput = {
            name,
            _ throws(SkillError) in
            throw SkillError("unknown_skill", "no skill \(name) here")
        },
        skills: [SkillManifest] = [],
        plan: @escaping @Sendable (Query) async throws(SkillError) -> Plan = { _ in Plan(mode: .none, steps: []) },
        allows: @escaping @Sendable (Disclosure) async -> Bool = { _ in false }
    ) async {
        let recorder = Recorder(calls: calls, manifests: skills, plan: plan, allows: allows)
        recorder.report(.started(engine: skill.engine))
        let job = Identifier(high: 0x0190_0000_0000_7000, low: 0x8000_0000_0000_0001)
        let context = SkillContext(
            session: "test",
            execution: Execution(job: job, generation: 1, attempt: 1),
            idempotencyKey: job.description,
            deadline: .now + timeout,
            privacy: privacy,
            approved: approved,
            reporter: recorder
        )
        do {
            let output = try await skill.run(input, arguments, context)
            recorder.report(.finished(output))
        } catch let error as SkillError {
            recorder.report(.failed(error))
        } catch {
            recorder.report(.failed(SkillError(JobError.Code.skillFailed, "\(error)")))
        }
        events = recorder.taken
    }
}

private final class Recorder: SkillReporter {
    private let events = Mutex<[SkillEvent]>([])
    private let calls: @Sendable (String, JobInput) async throws(SkillError) -> SkillOutput
    private let manifests: [SkillManifest]
    private let plan: @Sendable (Query) async throws(SkillError) -> Plan
    private let allows: @Sendable (Disclosure) async -> Bool

    init(
        calls: @escaping @Sendable (String, JobInput) async throws(SkillError) -> SkillOutput,
        manifests: [SkillManifest],
        plan: @escaping @Sendable (Query) async throws(SkillError) -> Plan,
        allows: @escaping @Sendable (Disclosure) async -> Bool
    ) {
        self.calls = calls
        self.manifests = manifests
        self.plan = plan
        self.allows = allows
    }

    var taken: [SkillEvent] { events.withLock { $0 } }
    func report(_ event: SkillEvent) { events.withLock { $0.append(event) } }
    func call(
        _ skill: String,
        _ input: JobInput,
        _ files: [SkillInput.Attachment]
    ) async throws(SkillError) -> SkillOutput {
        try await calls(skill, input)
    }
    func ask(_ disclosure: Disclosure) async throws(SkillError) -> Bool { await allows(disclosure) }
    func skills() async throws(SkillError) -> [SkillManifest] { manifests }
    func route(_ query: Query) async throws(SkillError) -> Plan { try await plan(query) }
}
