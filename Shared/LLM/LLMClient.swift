internal import Lifecycle
internal import Transfers
internal import Wire

/// How long the parts of a call may take, in seconds.
public struct LLMTimeouts: Sendable, Hashable {
    /// Until there is a connection.
    public var connect = 5.0
    /// Until the first piece of the answer, or of a thought.
    public var firstToken = 120.0
    /// Between two pieces.
    public var idle = 60.0
    /// The whole call, with all that is tried again.
    public var total = 600.0

    /// The usual ones.
    public init() {}
}

/// Talks to model endpoints. A value: copy it freely. Connections are shared; of a call nothing is.
public struct LLMClient: Sendable {
    /// In order of preference.
    public let endpoints: [Endpoint]
    /// How long the parts of a call may take.
    public let timeouts: LLMTimeouts
    /// How many calls run at a time; the others wait.
    public let concurrency: Int
    /// How often an endpoint that may do better later is tried.
    let rounds: Int
    let gate: CallGate
    let dialects: Dialects

    /// Makes a client.
    /// - Parameters:
    ///   - endpoints: in order of preference.
    ///   - timeouts: how long the parts of a call may take.
    ///   - rounds: how often an endpoint that may do better later is tried.
    ///   - concurrency: how many calls run at a time.
    public init(_ endpoints: [Endpoint], timeouts: LLMTimeouts = LLMTimeouts(), rounds: Int = 3, concurrency: Int = 16)
    {
        self.endpoints = endpoints
        self.timeouts = timeouts
        self.rounds = max(1, rounds)
        self.concurrency = max(1, concurrency)
        gate = CallGate(concurrency)
        dialects = Dialects(count: endpoints.count)
    }

    /// Asks a model. What comes of the answer comes as events; the call is made when the first one is asked for, and its
    /// connection is closed as soon as nobody waits for the next one any more.
    public func stream(_ request: ChatRequest) -> ChatStream { ChatStream(client: self, request: request) }

    /// Asks a model and waits for the whole answer.
    /// - Parameters:
    ///   - request: what is asked.
    ///   - retrying: told of every try that failed and is followed by another.
    /// - Returns: the answer.
    /// - Throws: `LLMError`.
    public func answer(
        _ request: ChatRequest,
        retrying: @Sendable (Retry) -> Void = { _ in }
    ) async throws(LLMError) -> ChatAnswer {
        var request = request
        request.isShown = false
        var events = stream(request).makeAsyncIterator()
        while let event = try await events.next() {
            switch event {
            case .finished(let answer): return answer
            case .retrying(let retry): retrying(retry)
            case .thinking, .text: break
            }
        }
        throw LLMError(.cancelled, "cancelled")
    }

    /// The models that the endpoints have, of the first one that says.
    /// - Throws: `LLMError`.
    public func models(allowsOutside: Bool = false) async throws(LLMError) -> [String] {
        let answer = try await call("GET", "/models", nil, allowsOutside: allowsOutside)
        guard let list = answer["data"]?.array ?? answer["models"]?.array else {
            throw LLMError(.badResponse, "no list of models")
        }
        return list.compactMap { $0["id"]?.string ?? $0["name"]?.string }
    }

    /// What texts mean, as vectors, in the order of the texts.
    /// - Parameters:
    ///   - texts: at least one.
    ///   - model: nil for the endpoint's own.
    ///   - allowsOutside: whether the texts may leave this host.
    ///   - budget: what the tokens are taken from.
    /// - Returns: a vector for each text.
    /// - Throws: `LLMError`.
    public func embeddings(
        of texts: [String],
        model: String? = nil,
        allowsOutside: Bool = false,
        budget: TokenBudget? = nil
    ) async throws(LLMError) -> [[Float]] {
        if let budget, budget.remaining <= 0 { throw LLMError(.budget, "the budget of tokens is spent") }
        let input = JSONValue.array(texts.map { .string($0) })
        let answer = try await call("POST", "/embeddings", allowsOutside: allowsOutside) { endpoint in
            ["model": .string(model ?? endpoint.model), "input": input, "encoding_format": "float"]
        }
        let vectors = try EmbeddingList.vectors(answer, count: texts.count)
        let counted = answer["usage"]?["prompt_tokens"]?.integer.map { Int($0) }
        let prompt = counted ?? texts.reduce(0) { $0 + TokenEstimate.tokens(in: $1) }
        budget?.charge(Usage(prompt: prompt, completion: 0, isEstimate: counted == nil))
        return vectors
    }

    private func call(
        _ method: String,
        _ function: String,
        _ body: JSONValue?,
        allowsOutside: Bool
    ) async throws(LLMError) -> JSONValue {
        try await call(method, function, allowsOutside: allowsOutside) { _ in body }
    }

    /// A call with one JSON answer.
    private func call(
        _ method: String,
        _ function: String,
        allowsOutside: Bool,
        _ body: (Endpoint) -> JSONValue?
    ) async throws(LLMError) -> JSONValue {
        var plan = try RetryPlan(
            endpoints,
            allowsOutside: allowsOutside,
            rounds: rounds,
            deadline: .now + .seconds(timeouts.total)
        )
        while true {
            do {
                let endpoint = plan.endpoint
                var bytes: [UInt8]?
                if let json = body(endpoint) { bytes = try? JSONBody.encode(json) }
                let seconds = max(0.001, plan.remaining)
                let request = transfer(
                    method,
                    function,
                    endpoint,
                    bytes,
                    allowsOutside: allowsOutside,
                    seconds: seconds
                )
                return try await once(request, endpoint)
            } catch {
                guard let retry = plan.next(after: error) else {
                    var error = error
                    error.attempts = plan.attempts
                    throw error
                }
                do { try await Task.sleep(for: retry.pause) } catch { throw LLMError(.cancelled, "cancelled") }
            }
        }
    }

    private func once(_ request: TransferRequest, _ endpoint: Endpoint) async throws(LLMError) -> JSONValue {
        guard await gate.enter() else { throw LLMError(.cancelled, "cancelled") }
        defer { gate.leave() }
        let head: TransferHead
        let whole: [UInt8]?
        let exchange = Exchange(request, deadline: .seconds(timeouts.firstToken))
        do throws(TransferError) {
            head = try await exchange.head()
            whole = try await exchange.body(limit: 64 << 20)
        } catch {
            throw self.failure(error, endpoint, .firstToken)
        }
        guard let bytes = whole else {
            throw Fault.tidy(LLMError(.badResponse, "an answer of more than 64 MiB"), endpoint)
        }
        guard 200...299 ~= head.status else { throw Fault.refusal(head, bytes, endpoint) }
        guard let json = try? JSONBody.decode(JSONValue.self, from: bytes) else {
            throw Fault.tidy(LLMError(.badResponse, "the answer is no JSON"), endpoint)
        }
        if let error = json["error"], error != .null, let fault = Fault(error) { throw Fault.inAnswer(fault, endpoint) }
        return json
    }
}

extension LLMClient {
    /// What is sent to an endpoint. Whether it may leave this host is settled here, at the socket.
    func transfer(
        _ method: String,
        _ function: String,
        _ endpoint: Endpoint,
        _ body: [UInt8]?,
        allowsOutside: Bool,
        seconds: Double
    ) -> TransferRequest {
        var headers = [(name: "User-Agent", value: "skillbus/\(Product.version)")] + endpoint.headers
        if body != nil { headers.append(("Content-Type", "application/json")) }
        var request = TransferRequest(
            method,
            endpoint.url(function),
            headers: headers,
            body: body,
            ignoresProxies: endpoint.isLocal
        )
        request.staysOnHost = !allowsOutside
        request.connectSeconds = min(timeouts.connect, seconds)
        request.seconds = seconds
        return request
    }

    /// What a failed exchange means. `phase`: what was being waited for.
    func failure(_ error: TransferError, _ endpoint: Endpoint, _ phase: LLMError.Phase) -> LLMError {
        func seconds(_ value: Double) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }
        let result =
            switch error {
            case .invalidURL(let reason): LLMError(.configuration, "the address cannot be used: \(reason)")
            case .unreachable(let reason): LLMError(.unreachable, "no connection: \(reason)")
            case .outside: LLMError(.outside, "it is not on this host, and this call may not leave it")
            case .interrupted(let reason): LLMError(.truncated, "the connection broke: \(reason)")
            case .timeout(let total):
                LLMError(.timeout(.total), "the call took longer than \(seconds(total.rounded())) s")
            case .late where phase == .firstToken:
                LLMError(.timeout(.firstToken), "nothing came of an answer within \(seconds(timeouts.firstToken)) s")
            case .late:
                LLMError(.timeout(.idle), "it fell silent for \(seconds(timeouts.idle)) s in the middle of its answer")
            case .badResponse(let reason): LLMError(.badResponse, "no HTTP: \(reason)")
            case .cancelled: LLMError(.cancelled, "cancelled")
            }
        return Fault.tidy(result, endpoint)
    }
}

/// The answer of `/embeddings`.
enum EmbeddingList {
    static func vectors(_ answer: JSONValue, count: Int) throws(LLMError) -> [[Float]] {
        var vectors = [[Float]?](repeating: nil, count: count)
        for (place, entry) in (answer["data"]?.array ?? []).enumerated() {
            let index = entry["index"]?.integer.map { Int(clamping: $0) } ?? place
            guard vectors.indices.contains(index) else { throw LLMError(.badResponse, "an embedding of no text") }
            vectors[index] = entry["embedding"].flatMap(vector)
        }
        let whole = vectors.compactMap { $0 }
        guard whole.count == count, Set(whole.map(\.count)).count <= 1 else {
            throw LLMError(.badResponse, "\(whole.count) embeddings came for \(count) texts, or of several sizes")
        }
        return whole
    }

    private static func vector(_ json: JSONValue) -> [Float]? {
        if let numbers = json.array { return numbers.count == 0 ? nil : numbers.map { Float($0.number ?? 0) } }
        return nil
    }
}
