public import Wire

/// A skill: one capability behind one protocol. Write this, call ``SkillWorker/run(_:)``, and that is a worker.
///
///     struct Shout: Skill {
///         struct Arguments: SkillArguments { var times: Int? }
///         static let manifest = SkillManifest(id: "shout", description: "Repeats a text in capitals.")
///         func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
///             context.progress("shouting", fraction: 0.5)
///             return SkillOutput(text: String(repeating: input.material.uppercased(), count: arguments.times ?? 1))
///         }
///     }
///
/// The events `started`, `finished` and `failed` come from SkillKit; in between, `execute` reports through its context.
public protocol Skill: Sendable {
    /// The arguments, decoded from the request and described in the manifest. `NoArguments` if there are none.
    associatedtype Arguments: SkillArguments = NoArguments

    /// What the skill says of itself. Its `inputSchema` is replaced by the one derived from `Arguments`.
    static var manifest: SkillManifest { get }

    /// What does the work, shown to the user: `offline`, or a model's name.
    var engine: String { get }

    /// Outside parties that may see the input, by the settings of this worker: what its manifest says then. Lists of skills
    /// show it; what really goes to whom an execution says with `context.disclose`.
    var sendsDataTo: [String] { get }

    /// Does the work. Called once per attempt, at most `concurrency` times at once, each in a context of its own.
    ///
    /// Text that was streamed with `context.text` and the text of the output must be the same; if nothing was
    /// streamed, the whole text is sent at the end. The task is cancelled at the deadline and when the user cancels.
    /// - Throws: A `SkillError` for what the user can act on; anything else is shown as a failure of the skill.
    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput
}

extension Skill {
    /// Work without a model.
    public var engine: String { "offline" }

    /// What the manifest says.
    public var sendsDataTo: [String] { Self.manifest.sendsDataTo }

    /// The manifest with the schema of the arguments in it.
    public static var completeManifest: SkillManifest {
        var complete = manifest
        complete.inputSchema = SchemaDerivation.schema(of: Arguments.self)
        return complete
    }
}

/// Why a skill cannot do what it was asked: words that the user can act on.
public struct SkillError: Error, Hashable, Sendable {
    /// Stable, such as `no_text`.
    public var code: String
    /// What happened.
    public var message: String
    /// What the user can do.
    public var hint: String?
    /// Whether the same input may succeed later; only then is the job tried again.
    public var retryable: Bool

    /// Makes an error.
    public init(_ code: String, _ message: String, hint: String? = nil, retryable: Bool = false) {
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
    }
}
