internal import Wire

/// Why the gateway does not do what it was asked: a stable code for programs, words for people.
enum GatewayError: Error, Equatable, Sendable {
    /// No such session, or not this user's.
    case sessionNotFound(String)
    /// The session has been deleted for its age or for the size of the store.
    case sessionPruned(String)
    /// No such request in the session.
    case requestNotFound(String)
    /// No such dead letter, or not this user's.
    case deadLetterNotFound(String)
    /// Something is over its limit: what, the limit, and what came, in bytes.
    case tooLarge(what: String, limit: Int, got: Int)
    /// A field of the request is wrong.
    case invalid(field: String, reason: String)
    /// Another request of the session runs, and this one was not to wait.
    case busy(running: Int)
    /// The idempotency key belongs to a request with other content.
    case idempotencyMismatch(key: String)
    /// The store takes no writes, or cannot be read.
    case storeUnavailable(reason: String)
    /// No router is connected, or it did not answer.
    case noRouter
    /// The process is shutting down.
    case draining
    /// So many open requests are the limit, of a session or of a user.
    case tooManyRequests(limit: Int, of: String)
    /// The request does not wait for an answer of the user.
    case noQuestion
    /// What the router answered instead.
    case refused(JobError)
}

extension GatewayError {
    /// Stable, for programs.
    var code: String {
        switch self {
        case .sessionNotFound: "session_not_found"
        case .sessionPruned: "session_pruned"
        case .requestNotFound: "request_not_found"
        case .deadLetterNotFound: "dead_letter_not_found"
        case .tooLarge: "too_large"
        case .invalid: "invalid"
        case .busy: "busy"
        case .idempotencyMismatch: "idempotency_mismatch"
        case .storeUnavailable: "store_unavailable"
        case .noRouter: JobError.Code.noRouter
        case .draining: JobError.Code.draining
        case .tooManyRequests: "too_many_requests"
        case .noQuestion: "no_question"
        case .refused(let error): error.code
        }
    }

    /// What happened, in one sentence.
    var message: String {
        switch self {
        case .sessionNotFound(let id): "There is no session \(id.prefix(80))."
        case .sessionPruned(let id): "The session \(id.prefix(80)) was not used for long and has been deleted."
        case .requestNotFound(let id): "There is no request \(id.prefix(80)) in this session."
        case .deadLetterNotFound(let id): "There is no dead letter \(id.prefix(80))."
        case .tooLarge(let what, let limit, let got): "The \(what) has \(got) bytes; the limit is \(limit)."
        case .invalid(let field, let reason): "The field \"\(field)\" \(reason)."
        case .busy(let running):
            running == 1
                ? "A request of this session is running." : "\(running) requests of this session are running."
        case .idempotencyMismatch(let key):
            "The idempotency key \"\(key.prefix(80))\" belongs to a request with other content."
        case .storeUnavailable(let reason): "The session store is not available: \(reason)."
        case .noRouter: "No router is connected."
        case .draining: "This gateway is shutting down."
        case .tooManyRequests(let limit, let of): "\(limit) requests of this \(of) have not ended; that is the limit."
        case .noQuestion: "This request does not wait for an answer."
        case .refused(let error): error.message
        }
    }

    /// What the caller can do.
    var hint: String? {
        switch self {
        case .sessionNotFound: "Make one with POST /v1/sessions, or list them with GET /v1/sessions."
        case .sessionPruned: "Make a new one with POST /v1/sessions."
        case .requestNotFound: "GET /v1/sessions/{id} shows the requests that are running."
        case .deadLetterNotFound: "GET /v1/dead-letters lists them."
        case .tooLarge: "Send less, or split it into several requests."
        case .invalid: nil
        case .busy: "Wait for it to end, or send \"when_busy\": \"enqueue\", \"parallel\" or \"interrupt\"."
        case .idempotencyMismatch: "Use a new key for a new request."
        case .storeUnavailable: "Look at the gateway's log; it goes on by itself once the store takes writes again."
        case .noRouter: "Start skillbus-router, or look at SKILLBUS_ROUTERS."
        case .draining: "Try again in a moment."
        case .tooManyRequests: "Wait until some have ended."
        case .noQuestion: "An event \"approval\" of the request says when it does."
        case .refused(let error): error.hint
        }
    }

    /// Seconds after which the same call may succeed; nil if it will not.
    var retryAfter: Int? {
        switch self {
        case .storeUnavailable: 5
        case .noRouter, .draining, .tooManyRequests: 2
        case .refused(let error): error.retryable ? Int(min(max(error.retryAfter ?? 1, 1), 3600).rounded(.up)) : nil
        default: nil
        }
    }
}
