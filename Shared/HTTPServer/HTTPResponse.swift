/// An answer: whole, or as a stream.
public struct HTTPResponse: Sendable {
    /// What comes after the headers.
    public enum Body: Sendable {
        /// All of it.
        case bytes([UInt8])
        /// Written piece by piece by a closure that runs in a task of its own.
        ///
        /// The task is cancelled when the client leaves and when the server stops. In the second case the client is
        /// still there, so the closure may write a last word before it returns; in the first case `write` throws.
        case stream(@Sendable (HTTPBodyWriter) async -> Void)
    }

    /// Status code.
    public var status: Int
    /// Header fields; length, date and connection are added.
    public var headers: HTTPHeaders
    /// Body.
    public var body: Body

    /// Makes a response.
    public init(status: Int, headers: HTTPHeaders = [:], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON document that has been encoded already.
    public static func json(_ bytes: [UInt8], status: Int = 200, headers: HTTPHeaders = [:]) -> HTTPResponse {
        var headers = headers
        headers["Content-Type"] = "application/json"
        return HTTPResponse(status: status, headers: headers, body: .bytes(bytes))
    }
}

/// An error as RFC 9457 has it, `application/problem+json`, with a stable code for programs and a hint for people.
public struct HTTPProblem: Error, Sendable, Equatable {
    /// Status code.
    public var status: Int
    /// Stable, such as `too_large`.
    public var code: String
    /// What happened, in one sentence.
    public var detail: String
    /// What the caller can do.
    public var hint: String?
    /// Further header fields, such as `Allow` and `Retry-After`.
    public var headers: HTTPHeaders

    /// Makes a problem.
    public init(
        _ status: Int,
        _ code: String,
        _ detail: String,
        hint: String? = nil,
        headers: HTTPHeaders = [:]
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.hint = hint
        self.headers = headers
    }

    /// The body.
    public var json: [UInt8] {
        var text = "{\"type\":\"about:blank\",\"title\":"
        text += jsonString(HTTPProblem.title(status))
        text += ",\"status\":\(status),\"detail\":\(jsonString(detail)),\"code\":\(jsonString(code))"
        if let hint { text += ",\"hint\":\(jsonString(hint))" }
        return Array((text + "}").utf8)
    }

    /// The response.
    public var response: HTTPResponse {
        var headers = headers
        headers["Content-Type"] = "application/problem+json"
        return HTTPResponse(status: status, headers: headers, body: .bytes(json))
    }

    /// The status's own words.
    static func title(_ status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Error"
        }
    }
}

/// A JSON string literal.
func jsonString(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": literal += "\\\""
        case "\\": literal += "\\\\"
        case "\n": literal += "\\n"
        case "\r": literal += "\\r"
        case "\t": literal += "\\t"
        case _ where scalar.value < 32:
            let digits = String(scalar.value, radix: 16)
            literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: literal.unicodeScalars.append(scalar)
        }
    }
    return literal + "\""
}
