internal import Synchronization

/// What an endpoint has refused so far, so that it is not sent again.
struct Dialect: Sendable {
    enum Field: String, CaseIterable, Sendable {
        case streamOptions = "stream_options"
        case maxTokens = "max_tokens"
        case temperature = "temperature"
        case reasoning = "reasoning_content"
    }
    var lacks: Set<Field> = []

    /// The field that an error says it does not know; nil if it says none, or one that is left out already.
    func refused(_ error: LLMError) -> Field? {
        guard case .refused(let status) = error.kind, status == 400 || status == 422, error.cause == nil else {
            return nil
        }
        let words = [
            "unsupported", "not support", "unknown", "unrecognized", "unexpected", "extra", "not allowed",
            "not permitted",
        ]
        let message = error.message.lowercased()
        guard words.contains(where: message.contains) else { return nil }
        return Field.allCases.first { message.contains($0.rawValue) && !lacks.contains($0) }
    }
}

/// The dialects of a client's endpoints. Shared by its calls; holds nothing of them.
final class Dialects: Sendable {
    private let dialects: Mutex<[Dialect]>

    init(count: Int) { dialects = Mutex(Array(repeating: Dialect(), count: count)) }

    subscript(index: Int) -> Dialect {
        dialects.withLock { $0.indices.contains(index) ? $0[index] : Dialect() }
    }

    /// Notes what the error says. True if another try without it makes sense.
    func learn(_ error: LLMError, at index: Int) -> Bool {
        dialects.withLock { dialects in
            guard dialects.indices.contains(index), let field = dialects[index].refused(error) else { return false }
            dialects[index].lacks.insert(field)
            return true
        }
    }
}
