internal import Synchronization
internal import Transfers

/// What happens while a model answers, from the first try to the end. Each iteration is a call of its own.
public struct ChatStream: AsyncSequence, Sendable {
    let client: LLMClient
    let request: ChatRequest

    /// Makes the call once the first event is asked for.
    public func makeAsyncIterator() -> Iterator { Iterator(client, request) }

    /// Where a call stands.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private let client: LLMClient
        private let request: ChatRequest
        private let deadline: ContinuousClock.Instant
        private var plan: RetryPlan?
        private var attempt: Attempt?
        private var ready: ArraySlice<ChatEvent> = []
        private var failure: LLMError?
        private var pause: Duration?
        private var isOver = false
        /// How long a count of tokens may take to come once the answer has come whole.
        private static let settling = Duration.seconds(2)

        init(_ client: LLMClient, _ request: ChatRequest) {
            self.client = client
            self.request = request
            let own = ContinuousClock.now + .seconds(client.timeouts.total)
            deadline = request.deadline.map { Swift.min($0, own) } ?? own
        }

        /// Waits for the next event; nil after ``ChatEvent/finished(_:)``.
        /// - Throws: `LLMError`, with what had come in `partial`.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LLMError) -> ChatEvent? {
            while true {
                if let event = ready.popFirst() { return event }
                if let failure {
                    self.failure = nil
                    isOver = true
                    throw failure
                }
                if isOver { return nil }
                do throws(LLMError) {
                    try await advance()
                } catch {
                    fail(error)
                }
            }
        }

        /// Makes one step: begins a try, or takes what has come of it. The try itself is never copied, or every piece would
        /// copy all that came before it.
        private mutating func advance() async throws(LLMError) {
            guard let call = attempt?.call else { return try await begin() }
            guard attempt?.hasHead == true else { return try await open(call) }
            let bytes: [UInt8]?
            do throws(TransferError) { bytes = try await call.exchange.next() } catch { return try broken(error) }
            guard let bytes else { return try finish(cut: nil) }
            var events: [ChatEvent] = []
            defer { ready = events[...] }
            try attempt?.reader.feed(bytes, &events)
            if attempt?.reader.isDone == true {
                try finish(cut: nil)
                events += ready
            } else if attempt?.reader.hasFinished == true {
                call.exchange.setDeadline(after: Self.settling)
            } else if attempt?.reader.hasContent == true {
                call.exchange.setDeadline(after: .seconds(client.timeouts.idle))
            }
        }

        private mutating func begin() async throws(LLMError) {
            if let pause {
                self.pause = nil
                do { try await Task.sleep(for: pause) } catch { throw LLMError(.cancelled, "cancelled") }
            }
            let plan: RetryPlan
            if let known = self.plan {
                plan = known
            } else {
                plan = try RetryPlan(
                    client.endpoints,
                    allowsOutside: request.allowsOutside,
                    rounds: client.rounds,
                    deadline: deadline
                )
                self.plan = plan
            }
            var limit = request.maxTokens
            if let budget = request.budget {
                let left = budget.remaining - request.estimatedTokens
                guard left > 0 else { throw LLMError(.budget, "the budget of tokens is spent") }
                limit = Swift.min(limit ?? left, left)
            }
            let endpoint = plan.endpoint
            let body = try request.body(model: endpoint.model, client.dialects[plan.place], maxTokens: limit)
            guard await client.gate.enter() else { throw LLMError(.cancelled, "cancelled") }
            let seconds = plan.remaining
            guard seconds > 0 else {
                client.gate.leave()
                throw Fault.tidy(LLMError(.timeout(.total), "no time is left for the call"), endpoint)
            }
            let transfer = client.transfer(
                "POST",
                "/chat/completions",
                endpoint,
                body,
                allowsOutside: request.allowsOutside,
                seconds: seconds
            )
            // An answer in one piece comes when all of it has been made.
            let patience = request.isStreamed ? client.timeouts.firstToken : client.timeouts.total
            let exchange = Exchange(transfer, deadline: .seconds(patience))
            attempt = Attempt(
                call: Call(exchange, client.gate, endpoint),
                reader: AnswerReader(
                    endpoint,
                    promptEstimate: request.estimatedTokens,
                    isShown: request.isShown
                )
            )
        }

        private mutating func open(_ call: Call) async throws(LLMError) {
            let head: TransferHead
            var refusal: [UInt8]?
            do throws(TransferError) {
                head = try await call.exchange.head()
                if !(200...299 ~= head.status) { refusal = try await call.exchange.body(limit: 1 << 20) ?? [] }
            } catch {
                throw client.failure(error, call.endpoint, .firstToken)
            }
            if let refusal { throw Fault.refusal(head, refusal, call.endpoint) }
            attempt?.hasHead = true
        }

        /// The exchange ended before its body had.
        private mutating func broken(_ error: TransferError) throws(LLMError) {
            guard let attempt else { return }
            switch error {
            case .interrupted(let reason): try finish(cut: reason)
            case .late where attempt.reader.hasFinished: try finish(cut: nil)
            default:
                let phase: LLMError.Phase = attempt.reader.hasContent ? .idle : .firstToken
                throw attempt.reader.failed(client.failure(error, attempt.call.endpoint, phase))
            }
        }

        private mutating func finish(cut: String?) throws(LLMError) {
            guard var attempt else { return }
            var events: [ChatEvent] = []
            defer { ready = events[...] }
            let answer = try attempt.reader.end(cut, &events)
            request.budget?.charge(answer.usage)
            attempt.call.end()
            self.attempt = nil
            events.append(.finished(answer))
            isOver = true
        }

        /// Decides whether another try follows.
        private mutating func fail(_ error: LLMError) {
            let hasStreamed = attempt?.reader.hasContent ?? false
            // Closes its connection.
            attempt = nil
            if let partial = error.partial { request.budget?.charge(partial.usage) }
            var error = error
            error.attempts = plan?.attempts ?? 1
            if error.kind != .cancelled, !hasStreamed, plan != nil {
                if let place = plan?.place, client.dialects.learn(error, at: place) { return }
                if request.isTriedAgain, let retry = plan?.next(after: error) {
                    pause = retry.pause
                    ready.append(.retrying(retry))
                    return
                }
            }
            failure = error
        }
    }
}

/// One try.
private struct Attempt: Sendable {
    let call: Call
    var reader: AnswerReader
    var hasHead = false
}

/// An exchange and its place among those that run. Let go of, the one is closed and the other is free.
private final class Call: Sendable {
    let exchange: Exchange
    let endpoint: Endpoint
    private let gate: CallGate
    private let hasEnded = Atomic(false)

    init(_ exchange: Exchange, _ gate: CallGate, _ endpoint: Endpoint) {
        self.exchange = exchange
        self.endpoint = endpoint
        self.gate = gate
    }

    /// The answer has come whole: the connection may serve another call.
    func end() {
        hasEnded.store(true, ordering: .relaxed)
        exchange.leave()
    }

    deinit {
        if !hasEnded.load(ordering: .relaxed) { exchange.cancel() }
        gate.leave()
    }
}
