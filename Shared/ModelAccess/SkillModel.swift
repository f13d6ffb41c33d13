public import LLM
internal import SkillKit
internal import Synchronization
internal import Wire

/// The model as one execution uses it: what happens on the way is told in the execution's events, and a failure is one
/// that the user can act on.
public struct SkillModel: Sendable {
    private let client: LLMClient
    private let allowsOutside: Bool
    private let context: SkillContext
    private let isChinese: Bool
    /// How much of the execution's time is kept for saying that it was not enough.
    private static let reserve = Duration.milliseconds(500)

    init(client: LLMClient, allowsOutside: Bool, context: SkillContext, isChinese: Bool) {
        self.client = client
        self.allowsOutside = allowsOutside
        self.context = context
        self.isChinese = isChinese
    }

    /// Calls that it is worth to make at a time.
    public var parallelCalls: Int { min(4, client.concurrency) }

    /// A request with these messages.
    public func request(_ messages: [ChatMessage]) -> ChatRequest {
        var request = ChatRequest(messages, allowsOutside: allowsOutside)
        request.deadline = context.deadline - Self.reserve
        return request
    }

    /// Asks the model and hands on its answer piece by piece. Thoughts go to the user as such.
    /// - Parameters:
    ///   - request: what is asked.
    ///   - text: takes the pieces; false for enough.
    /// - Returns: the answer; nil if it was enough before its end.
    /// - Throws: `LLMError`, to be made into words by ``words(for:)``.
    public func stream(_ request: ChatRequest, _ text: (String) -> Bool) async throws(LLMError) -> ChatAnswer? {
        var events = client.stream(request).makeAsyncIterator()
        while let event = try await events.next() {
            switch event {
            case .retrying(let retry): tell(retry)
            case .thinking(let thought): context.thinking(thought)
            case .text(let piece): if !text(piece) { return nil }
            case .finished(let answer):
                context.engine(answer.model.isEmpty ? answer.endpoint : answer.model)
                return answer
            }
        }
        return nil
    }

    /// Asks the model for a whole answer. Its thoughts are not shown.
    /// - Throws: `LLMError`, to be made into words by ``words(for:)``.
    public func answer(_ request: ChatRequest) async throws(LLMError) -> ChatAnswer {
        try await client.answer(request) { tell($0) }
    }

    /// Asks the model once: nothing is tried again, and where it fails nothing is said.
    /// - Throws: `LLMError`, to be made into words by ``words(for:)``.
    public func onlyAnswer(_ request: ChatRequest) async throws(LLMError) -> ChatAnswer {
        var request = request
        request.isTriedAgain = false
        return try await client.answer(request)
    }

    private func tell(_ retry: Retry) {
        let seconds = Double(retry.pause.components.seconds) + Double(retry.pause.components.attoseconds) / 1e18
        let pause = seconds < 1 ? "1" : "\(Int(seconds.rounded(.up)))"
        let what = ModelFailure(retry.error, isChinese: isChinese).message
        if let elsewhere = retry.elsewhere {
            context.retrying(isChinese ? "\(what)；改试 \(elsewhere)" : "\(what); trying \(elsewhere)")
        } else {
            context.retrying(isChinese ? "\(what)；约 \(pause) 秒后重试" : "\(what); trying again in about \(pause) s")
        }
    }

    /// The failure as the user is told of it.
    public func words(for error: LLMError) -> any Error {
        if error.kind == .cancelled { return CancellationError() }
        return ModelFailure(error, isChinese: isChinese).skillError
    }
}
