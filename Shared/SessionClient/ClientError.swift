internal import Transfers
internal import Wire

/// Why a call to a gateway failed, in words that name what to do.
public enum ClientError: Error, Equatable, Sendable {
    /// The address is none that can be used.
    case invalidURL(String, reason: String)
    /// The file that should hold the token does not.
    case noToken(reason: String)
    /// No connection could be made.
    case unreachable(url: String, reason: String)
    /// The connection broke in the middle.
    case interrupted(url: String, reason: String)
    /// The gateway took the request and did not answer in time.
    case timeout(url: String, seconds: Double)
    /// The gateway refused, and said why.
    case problem(Problem)
    /// The answer is none of a gateway.
    case badResponse(url: String, reason: String)
    /// The caller gave up.
    case cancelled

    /// Whether the same call may succeed when it is made again.
    public var isTransient: Bool {
        switch self {
        case .unreachable, .interrupted, .timeout: true
        case .problem(let problem): problem.status == 429 || problem.status >= 500
        case .invalidURL, .noToken, .badResponse, .cancelled: false
        }
    }
}

extension ClientError {
    /// What went wrong with an exchange.
    init(_ error: TransferError, url: String, _ request: TransferRequest) {
        switch error {
        case .invalidURL(let reason): self = .invalidURL(url, reason: reason)
        case .unreachable(let reason): self = .unreachable(url: url, reason: reason)
        case .outside: self = .unreachable(url: url, reason: "it is not on this host")
        case .interrupted(let reason): self = .interrupted(url: url, reason: reason)
        case .timeout(let seconds): self = .timeout(url: url, seconds: seconds)
        case .late: self = .timeout(url: url, seconds: request.seconds ?? 0)
        case .badResponse(let reason): self = .badResponse(url: url, reason: reason)
        case .cancelled: self = .cancelled
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// What was wrong and what to do, in one or two sentences.
    public var description: String {
        switch self {
        case .invalidURL(let url, let reason):
            "\"\(url)\" is not a gateway's address (\(reason)): it must be like http://127.0.0.1:8080"
        case .noToken(let reason): "SKILLBUS_TOKEN_FILE: \(reason)"
        case .unreachable(let url, let reason):
            "no gateway at \(url) (\(reason)): start one with `skillbus up`, or set SKILLBUS_URL"
        case .interrupted(let url, let reason):
            "the connection to \(url) broke (\(reason)): see whether the gateway still runs, then try again"
        case .timeout(let url, let seconds):
            "\(url) did not answer within \(Int(seconds)) s: the gateway is overloaded or hangs; see its log"
        case .problem(let problem): problem.description
        case .badResponse(let url, let reason):
            "what answers at \(url) is not a Skillbus gateway (\(reason)): check SKILLBUS_URL"
        case .cancelled: "cancelled"
        }
    }
}

/// A refusal as problem+json, RFC 9457.
public struct Problem: Equatable, Sendable, CustomStringConvertible {
    /// HTTP status.
    public var status: Int
    /// Stable word for programs, such as `unknown_skill`; may be empty.
    public var code: String
    /// What kind of problem it is.
    public var title: String
    /// What was wrong this time.
    public var detail: String?
    /// What to do.
    public var hint: String?
    /// Seconds to wait before trying again.
    public var retryAfter: Double?

    /// Makes a problem.
    public init(
        status: Int,
        code: String = "",
        title: String,
        detail: String? = nil,
        hint: String? = nil,
        retryAfter: Double? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.hint = hint
        self.retryAfter = retryAfter
    }

    /// Reads the answer of a gateway, or makes the best of one that is not problem+json.
    init(status: Int, retryAfter: Double?, body: [UInt8]) {
        let json = try? JSONBody.decode(JSONValue.self, from: body)
        self.init(
            status: status,
            code: json?["code"]?.string ?? "",
            title: json?["title"]?.string ?? Problem.reason(status),
            detail: json?["detail"]?.string,
            hint: json?["hint"]?.string,
            retryAfter: retryAfter ?? json?["retryAfter"]?.number
        )
    }

    /// The sentences for a person.
    public var description: String {
        var text = detail ?? title
        if let hint, !hint.isEmpty {
            text += text.hasSuffix(".") ? " \(hint)" : ": \(hint)"
        } else if status == 401 {
            text += "; set SKILLBUS_TOKEN to the gateway's token"
        }
        if let retryAfter { text += " (try again in \(max(1, Int(retryAfter.rounded(.up)))) s)" }
        return text
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 400: "the request is not understood"
        case 401: "the gateway wants a token"
        case 403: "not allowed"
        case 404: "not found"
        case 409: "the session is busy"
        case 413: "too large"
        case 422: "the request cannot be served as it is"
        case 429: "too many requests"
        case 503: "the gateway cannot take this now"
        default: "the gateway answered with status \(status)"
        }
    }
}
