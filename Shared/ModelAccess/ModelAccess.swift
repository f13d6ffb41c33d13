public import LLM
public import Lifecycle
public import SkillKit
internal import Text
internal import Wire

/// What a skill may ask of models, and the one place where it is decided whether a call may leave this host: by the
/// session's policy, and after the user was told or asked.
public struct ModelAccess: Sendable {
    /// The engine of work without a model.
    public static let offline = "offline"
    /// No model at all.
    public static let none = ModelAccess(client: nil)

    private let client: LLMClient?

    /// Access to the endpoints of a client; nil for none.
    public init(client: LLMClient?) { self.client = client }

    /// The endpoints that the environment names, as ``LLM/LLMClient/fromEnvironment(_:)`` reads them.
    /// - Throws: `LLMError` of the kind `configuration`.
    public static func fromEnvironment(
        _ variables: [String: String] = Environment.all
    ) throws(LLMError) -> ModelAccess {
        ModelAccess(client: try .fromEnvironment(variables))
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

    /// What does the work unless an execution says otherwise: a model on this host. Whether one outside may be asked, each
    /// session says for itself.
    public var engine: String { client?.endpoints.first { $0.isLocal }.map(Self.name) ?? Self.offline }

    /// The endpoints outside that may be asked in sessions that allow it, as their disclosures name them: what a skill that
    /// asks models says in its manifest. None where the first is on this host, since none outside is asked then.
    public var sendsDataTo: [String] {
        guard let endpoints = client?.endpoints, endpoints.first?.isLocal == false else { return [] }
        return endpoints.filter { !$0.isLocal }.reduce(into: []) { origins, endpoint in
            if !origins.contains(endpoint.origin) { origins.append(endpoint.origin) }
        }
    }

    /// Whether there are endpoints, usable or not.
    public var isConfigured: Bool { client != nil }

    /// The endpoint that the user would be asked about, or that may not be asked at all, before ``model(for:sending:isChinese:)``
    /// returned one; nil if it would not wait. For who has no time for a question.
    public func asksAbout(_ context: SkillContext) -> String? {
        guard let client, let first = client.endpoints.first, !first.isLocal else { return nil }
        return client.endpoints.first { !$0.isLocal && !context.mayDisclose(to: $0.origin) }?.origin
    }

    /// The first endpoint's model, or where it is.
    public var name: String { client?.endpoints.first.map(Self.name) ?? Self.offline }

    /// The model for an execution; nil where there is none that it may use, which its events then say. Before it is one
    /// outside, the user sees to whom what goes, and is asked where the session wants that.
    /// - Parameters:
    ///   - context: of the execution.
    ///   - bytes: How much of the user's data will be sent.
    ///   - isChinese: The user's language.
    /// - Returns: The model; nil for "work offline".
    /// - Throws: `SkillError` `cancelled`, when the execution is over before the user has answered.
    public func model(
        for context: SkillContext,
        sending bytes: Int,
        isChinese: Bool
    ) async throws(SkillError) -> SkillModel? {
        guard let client else { return nil }
        // One outside is not even a last resort of one here: the user would not know.
        if client.endpoints.first?.isLocal ?? true {
            return SkillModel(client: client, allowsOutside: false, context: context, isChinese: isChinese)
        }
        do throws(SkillError) {
            for endpoint in client.endpoints where !endpoint.isLocal {
                let purpose = isChinese ? "由模型处理" : "to be worked on by a model"
                try await context.disclose(party: endpoint.origin, bytes: bytes, purpose: purpose)
            }
            return SkillModel(client: client, allowsOutside: true, context: context, isChinese: isChinese)
        } catch {
            switch error.code {
            case JobError.Code.localOnly: break
            // For this once: the next one is asked again.
            case JobError.Code.notAllowed: context.provisional()
            default: throw error
            }
        }
        if client.endpoints.contains(where: { $0.isLocal }) {
            return SkillModel(client: client, allowsOutside: false, context: context, isChinese: isChinese)
        }
        let origin = client.endpoints.first?.origin ?? ""
        context.engine(Self.offline)
        context.progress(
            isChinese
                ? "未使用模型 \(origin)：本次会话的内容不得离开本机，因此改用离线方式（--privacy ask 或 allow 可允许）"
                : "the model at \(origin) is not used, since this session's text may not leave this host "
                    + "(--privacy ask or allow lets it)"
        )
        return nil
    }

    static func name(_ endpoint: Endpoint) -> String {
        short(endpoint.model.isEmpty ? endpoint.origin : endpoint.model)
    }

    /// A model's name as it is shown, since an endpoint may call it whatever it likes.
    public static func short(_ name: String) -> String { String(name.start(ofBytes: Limits.shortString)) }
}
