/// Why a call of a model failed. Never holds a key.
public struct LLMError: Error, Sendable {
    /// What kind of failure it is.
    public enum Kind: Sendable, Hashable {
        /// The settings cannot be used.
        case configuration
        /// The endpoint is not on this host, and the call may not leave it. Nothing was sent.
        case outside
        /// There was no connection.
        case unreachable
        /// It took too long.
        case timeout(Phase)
        /// The endpoint refused, with this HTTP status.
        case refused(Int)
        /// The endpoint reported an error in the middle of an answer.
        case stream
        /// The answer did not come to its end.
        case truncated
        /// What came is not this protocol.
        case badResponse
        /// The budget of tokens is spent.
        case budget
        /// The caller gave up.
        case cancelled
    }

    /// What took too long.
    public enum Phase: String, Sendable, Hashable {
        /// The first piece of an answer.
        case firstToken
        /// The next piece.
        case idle
        /// The whole.
        case total
    }

    /// What is behind a refusal, where it can be told.
    public enum Cause: Sendable, Hashable {
        /// The input is longer than the model can read.
        case contextOverflow
        /// Too many requests for now.
        case rateLimit
        /// Nothing is left of what was paid for. Waiting does not help.
        case quota
        /// The key is missing, wrong, or not enough.
        case key
        /// The endpoint does not know the model, or its address is wrong.
        case notFound
        /// Too much to do, or not ready yet.
        case overloaded
    }

    /// What kind of failure it is.
    public var kind: Kind
    /// What happened, in words: the endpoint's own where there are any.
    public var message: String
    /// What is behind it.
    public var cause: Cause?
    /// The endpoint's word for it.
    public var code: String?
    /// The endpoint's word for its kind.
    public var type: String?
    /// Seconds that the endpoint asks to wait; 0 for at once.
    public var retryAfter: Double?
    /// Scheme, host and port of the endpoint.
    public var endpoint: String?
    /// What had come before; nil for nothing.
    public var partial: ChatAnswer?
    /// How often it was tried.
    public var attempts = 1

    /// Makes an error.
    public init(_ kind: Kind, _ message: String, cause: Cause? = nil) {
        self.kind = kind
        self.message = message
        self.cause = cause
    }

    /// An answer that came to its end and is not what was asked for. Another may be.
    public init(useless answer: ChatAnswer?, _ message: String) {
        self.init(.truncated, message)
        endpoint = answer?.endpoint
    }

    /// Whether the same call may succeed at the same endpoint a little later.
    public var isTransient: Bool {
        switch kind {
        case .unreachable, .timeout(.firstToken), .timeout(.idle), .truncated: true
        case .refused(let status):
            cause != .quota && cause != .contextOverflow
                && (status == 408 || status == 409 || status == 429 || status >= 500 && status != 501 && status != 505)
        case .configuration, .outside, .timeout(.total), .stream, .badResponse, .budget, .cancelled: false
        }
    }

    /// Whether another endpoint may serve the same call.
    public var mayGoElsewhere: Bool {
        switch kind {
        case .unreachable, .timeout(.firstToken), .timeout(.idle), .truncated, .stream, .badResponse, .outside:
            cause != .contextOverflow
        case .refused(let status): isTransient || cause == .quota || [401, 403, 404, 501].contains(status)
        case .configuration, .timeout(.total), .budget, .cancelled: false
        }
    }
}

extension LLMError: CustomStringConvertible {
    /// Where it was, and what happened.
    public var description: String { endpoint.map { "\($0): \(message)" } ?? message }
}
