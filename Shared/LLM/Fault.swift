internal import Transfers
internal import Wire

/// An error as an endpoint tells it, whichever of the many shapes it has.
struct Fault {
    var message: String?
    var code: String?
    var type: String?

    /// Characters of a message that are kept.
    private static let longest = 500

    /// An error of which only words are known.
    init(message: String) { self.message = message }

    /// Reads an error object, a string, a list of them, or an object around it. Nil where there is none.
    init?(_ json: JSONValue) {
        switch json {
        case .string(let text): message = text
        case .array(let elements):
            // FastAPI lists what is wrong with a request; Gemini puts its one error into a list.
            let faults = elements.prefix(5).compactMap { Fault($0) }
            guard let first = faults.first else { return nil }
            self = first
            message = faults.compactMap(\.message).joined(separator: "; ")
        case .object(let members):
            if let inner = members["error"], inner != .null {
                guard let fault = Fault(inner) else { return nil }
                self = fault
                if message == nil { message = members["message"]?.string }
                return
            }
            if let detail = members["detail"], detail != .null, let fault = Fault(detail) {
                self = fault
                return
            }
            message = members["message"]?.string ?? members["msg"]?.string
            if let place = members["loc"]?.array, let text = message {
                let path = place.compactMap { $0.string ?? $0.integer.map(String.init) }.joined(separator: ".")
                message = path.isEmpty ? text : "\(path): \(text)"
            }
            code = Self.word(members["code"])
            type = members["type"]?.string ?? members["status"]?.string
            guard message != nil || code != nil || type != nil else { return nil }
        default: return nil
        }
    }

    private static func word(_ json: JSONValue?) -> String? { json?.string ?? json?.integer.map(String.init) }

    /// The error of an answer that is refused by its status.
    static func refusal(_ head: TransferHead, _ body: [UInt8], _ endpoint: Endpoint) -> LLMError {
        let json = try? JSONBody.decode(JSONValue.self, from: body)
        let fault = json.flatMap { Fault($0) }
        var error = LLMError(.refused(head.status), "status \(head.status)")
        if let message = fault?.message ?? plain(body, head, endpoint), !message.isEmpty { error.message = message }
        if 300...399 ~= head.status {
            error.message = "it redirects, which is not followed: set the address that it names"
        }
        error.code = fault?.code
        error.type = fault?.type
        error.cause = cause(error, status: head.status)
        error.retryAfter = error.isTransient ? RetryHint.seconds(head, json) : nil
        return tidy(error, endpoint)
    }

    /// The error of one that stands where an answer should.
    static func inAnswer(_ fault: Fault, _ endpoint: Endpoint) -> LLMError {
        var error = LLMError(.stream, fault.message ?? fault.code ?? fault.type ?? "an error without words")
        error.code = fault.code
        error.type = fault.type
        error.cause = cause(error, status: 200)
        return tidy(error, endpoint)
    }

    /// Short, on one line, and without the key.
    static func tidy(_ error: LLMError, _ endpoint: Endpoint) -> LLMError {
        var error = error
        func clean(_ text: String) -> String {
            let hidden = endpoint.key?.hidden(in: text) ?? text
            var line = ""
            for scalar in hidden.unicodeScalars.prefix(longest) {
                line.unicodeScalars.append(scalar.properties.generalCategory == .control ? " " : scalar)
            }
            return hidden.unicodeScalars.count > longest ? line + "…" : line
        }
        error.message = clean(error.message)
        error.code = error.code.map(clean)
        error.type = error.type.map(clean)
        error.endpoint = endpoint.origin
        return error
    }

    /// The start of what an endpoint says in no form that is known. Never with a part of the key at its end, which
    /// nobody would recognise any more.
    static func words(_ bytes: some Collection<UInt8>, _ endpoint: Endpoint) -> String {
        let start = String(decoding: bytes.prefix(4000), as: UTF8.self)
        guard bytes.count > 4000, let key = endpoint.key else { return start }
        let hidden = key.hidden(in: start)
        return String(hidden.unicodeScalars.dropLast(key.bare.utf8.count))
    }

    /// The first line of a body that is no JSON and no page.
    private static func plain(_ body: [UInt8], _ head: TransferHead, _ endpoint: Endpoint) -> String? {
        guard head.value("content-type")?.contains("html") != true else { return nil }
        let text = words(body, endpoint)
        guard let line = text.split(whereSeparator: \.isNewline).first, !line.hasPrefix("<"), !line.hasPrefix("{")
        else {
            return nil
        }
        return String(line)
    }

    private static func cause(_ error: LLMError, status: Int) -> LLMError.Cause? {
        let words = "\(error.code ?? "") \(error.type ?? "") \(error.message)".lowercased()
        let overflow = [
            "context_length_exceeded", "exceed_context_size", "maximum context length", "context size",
            "context length", "contextwindowexceeded", "context window", "prompt is too long", "too many tokens",
        ]
        if status < 500, overflow.contains(where: words.contains) { return .contextOverflow }
        switch status {
        case 401, 403: return .key
        case 404: return .notFound
        case 429: return words.contains("insufficient_quota") || words.contains("billing") ? .quota : .rateLimit
        case 503, 529: return .overloaded
        default: break
        }
        if words.contains("model_not_found") { return .notFound }
        if words.contains("invalid_api_key") || words.contains("api key not valid") { return .key }
        return nil
    }
}
