import Synchronization
import TestSupport

@testable import LLM

/// Answers that a test makes up.
enum Reply {
    static func event(_ json: String) -> String { "data: \(json)\n\n" }
    static func text(_ text: String) -> String { event(#"{"choices":[{"index":0,"delta":{"content":"\#(text)"}}]}"#) }
    static func thought(_ text: String) -> String {
        event(#"{"choices":[{"index":0,"delta":{"reasoning_content":"\#(text)"}}]}"#)
    }
    static let stop = event(#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#)
    static let done = "data: [DONE]\n\n"
}

extension ScriptedServer.Connection {
    /// A whole streamed answer.
    func stream(_ pieces: String...) {
        startStream()
        for piece in pieces { send(piece) }
    }
}

extension ScriptedServer {
    func endpoint(_ model: String = "m", key: APIKey? = nil) throws -> Endpoint {
        try Endpoint(url: url + "/v1", model: model, key: key)
    }
}

/// How often something has happened.
final class Count: Sendable {
    private let number = Mutex(0)
    var value: Int { number.withLock { $0 } }
    @discardableResult
    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}

extension LLMClient {
    /// Asks with one message.
    func say(_ text: String = "hello") async throws(LLMError) -> ChatAnswer {
        try await answer(ChatRequest([ChatMessage(.user, text)]))
    }
}

/// The error of something that must fail.
func failure(_ body: () async throws(LLMError) -> Void) async -> LLMError? {
    do throws(LLMError) {
        try await body()
        return nil
    } catch {
        return error
    }
}
