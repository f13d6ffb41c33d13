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
                credit(answer)
                return answer
            }
        }
        return nil
    }

    /// Asks the model for a whole answer. Its thoughts are not shown.
    /// - Parameters:
    ///   - request: what is asked.
    ///   - isBeside: whether something that is streamed meanwhile is to stay. A try that failed is then told as progress.
    /// - Returns: the answer.
    /// - Throws: `LLMError`, to be made into words by ``words(for:)``.
    public func answer(_ request: ChatRequest, isBeside: Bool = false) async throws(LLMError) -> ChatAnswer {
        try await client.answer(request) { tell($0, isBeside: isBeside) }
    }

    /// Asks the model once: nothing is tried again, and where it fails nothing is said.
    /// - Throws: `LLMError`, to be made into words by ``words(for:)``.
    public func onlyAnswer(_ request: ChatRequest) async throws(LLMError) -> ChatAnswer {
        var request = request
        request.isTriedAgain = false
        return try await client.answer(request)
    }

    /// Makes several calls, as many at a time as it is worth. Where one fails the others are cancelled: they would only make
    /// something that nobody gets.
    /// - Parameters:
    ///   - count: how many.
    ///   - call: makes the one with a number, from 0 on.
    ///   - done: takes each result, as they come.
    /// - Throws: what the first one that failed threw.
    public func inParallel<Value: Sendable>(
        _ count: Int,
        _ call: @escaping @Sendable (Int) async throws(LLMError) -> Value,
        done: (Int, Value) -> Void
    ) async throws(LLMError) {
        let failure: LLMError? = await withTaskGroup(of: (Int, Result<Value, LLMError>).self) { group in
            var next = 0
            func start() {
                guard next < count else { return }
                let number = next
                next += 1
                group.addTask {
                    do throws(LLMError) { return (number, .success(try await call(number))) } catch {
                        return (number, .failure(error))
                    }
                }
            }
            for _ in 0..<max(1, parallelCalls) { start() }
            for await (number, result) in group {
                switch result {
                case .success(let value): done(number, value)
                case .failure(let error):
                    group.cancelAll()
                    return error
                }
                start()
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Says in the events which model an answer is of.
    public func credit(_ answer: ChatAnswer) { context.engine(ModelAccess.short(answer.engine)) }

    /// Says in the events that the work is done without a model after all, and why. What comes of it is no answer to the same
    /// input later.
    /// - Throws: `CancellationError`, where the work is not wanted any more.
    public func fallBack(after error: LLMError) throws(CancellationError) {
        if error.kind == .cancelled { throw CancellationError() }
        let what = ModelFailure(error, isChinese: isChinese).message
        context.engine(ModelAccess.offline)
        context.provisional()
        context.progress(isChinese ? "\(what)；改用离线方式" : "\(what); going on without a model")
    }

    private func tell(_ retry: Retry, isBeside: Bool = false) {
        let seconds = Double(retry.pause.components.seconds) + Double(retry.pause.components.attoseconds) / 1e18
        let pause = seconds < 1 ? "1" : "\(Int(seconds.rounded(.up)))"
        let what = ModelFailure(retry.error, isChinese: isChinese).message
        let next =
            if let elsewhere = retry.elsewhere {
                isChinese ? "\(what)；改试 \(elsewhere)" : "\(what); trying \(elsewhere)"
            } else {
                isChinese ? "\(what)；约 \(pause) 秒后重试" : "\(what); trying again in about \(pause) s"
            }
        if isBeside { context.progress(next) } else { context.retrying(next) }
    }

    /// The failure as the user is told of it.
    public func words(for error: LLMError) -> any Error {
        if error.kind == .cancelled { return CancellationError() }
        return ModelFailure(error, isChinese: isChinese).skillError
    }
}
