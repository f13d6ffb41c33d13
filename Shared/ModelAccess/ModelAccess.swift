public import LLM
public import Lifecycle
public import SkillKit

/// What a skill may ask of models, and the one place where it is decided whether a call may leave this host.
public struct ModelAccess: Sendable {
    /// Whether calls may go to endpoints that are not on this host.
    public enum Privacy: String, Sendable, CaseIterable {
        /// They may.
        case allow
        /// They may not.
        case localOnly = "local-only"
    }

    /// The engine of work without a model.
    public static let offline = "offline"
    /// No model at all.
    public static let none = ModelAccess(client: nil)

    private let client: LLMClient?
    private let privacy: Privacy

    /// Access to the endpoints of a client; nil for none.
    public init(client: LLMClient?, privacy: Privacy = .localOnly) {
        self.client = client
        self.privacy = privacy
    }

    /// What the environment describes: the endpoints as ``LLM/LLMClient/fromEnvironment(_:)`` reads them, and
    /// `SKILLBUS_PRIVACY`, which is `allow` or `local-only`, the latter if it is not set.
    /// - Throws: `LLMError` of the kind `configuration`.
    public static func fromEnvironment(
        _ variables: [String: String] = Environment.all
    ) throws(LLMError) -> ModelAccess {
        var privacy = Privacy.localOnly
        if let name = variables["SKILLBUS_PRIVACY"], !name.isEmpty {
            guard let named = Privacy(rawValue: name) else {
                throw LLMError(.configuration, "SKILLBUS_PRIVACY must be allow or local-only; it is \"\(name)\"")
            }
            privacy = named
        }
        return ModelAccess(client: try .fromEnvironment(variables), privacy: privacy)
    }

    /// The access of this process. Ends it with a sentence where the environment makes no sense: a worker that works
    /// without the model it was given would not be what was asked for.
    public static func ofProcess(_ program: String) -> ModelAccess {
        do {
            return try fromEnvironment()
        } catch {
            printError("\(program): \(error)")
            leave(ExitCode.usage)
        }
    }

    /// What does the work unless an execution says otherwise.
    public var engine: String {
        guard let client, let endpoint = usable(client).first else { return Self.offline }
        return Self.name(endpoint)
    }

    /// Whether there are endpoints, usable or not.
    public var isConfigured: Bool { client != nil }

    /// The model for an execution; nil where there is none that it may use. Then the execution is told so in its events,
    /// if there would be one outside.
    public func model(for context: SkillContext, isChinese: Bool) -> SkillModel? {
        guard let client else { return nil }
        guard !usable(client).isEmpty else {
            let origin = client.endpoints.first?.origin ?? ""
            context.engine(Self.offline)
            context.progress(
                isChinese
                    ? "模型 \(origin) 不在本机，而这里只允许本机处理，因此改用离线方式（SKILLBUS_PRIVACY=allow 可允许外部模型）"
                    : "the model at \(origin) is not used: only this host may see the text (SKILLBUS_PRIVACY=allow lets it go there)"
            )
            return nil
        }
        return SkillModel(client: client, allowsOutside: privacy == .allow, context: context, isChinese: isChinese)
    }

    private func usable(_ client: LLMClient) -> [Endpoint] {
        client.endpoints.filter { privacy == .allow || $0.isLocal }
    }

    static func name(_ endpoint: Endpoint) -> String { endpoint.model.isEmpty ? endpoint.origin : endpoint.model }
}
