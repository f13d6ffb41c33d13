internal import Transfers

/// A server that speaks the OpenAI protocol, and the model to ask for there.
public struct Endpoint: Sendable {
    /// The model's name, as the server knows it.
    public let model: String
    /// Scheme, host and port, for people. Never with a key.
    public let origin: String
    /// Whether it is on this host by what is written in its address. Names other than `localhost` are not looked up for
    /// this: to ask a name server is to go outside.
    public let isLocal: Bool
    let key: APIKey?
    private let path: String
    private let query: String?

    /// Makes an endpoint.
    /// - Parameters:
    ///   - url: such as `http://127.0.0.1:11434/v1`; with nothing behind the port, `/v1` is meant.
    ///   - model: the model's name.
    ///   - key: nil where none is needed.
    /// - Throws: `LLMError` of the kind `configuration`.
    public init(url: String, model: String, key: APIKey? = nil) throws(LLMError) {
        let address: WebAddress
        do { address = try WebAddress(url) } catch {
            // Not with the text itself: it may have a password in it.
            throw LLMError(
                .configuration,
                "the model endpoint's address is none (\(error.reason)): it must be like http://127.0.0.1:11434/v1"
            )
        }
        guard !address.hasUser else {
            throw LLMError(
                .configuration,
                "the model endpoint's address has a user or password in it: put the key into SKILLBUS_LLM_KEY_FILE"
            )
        }
        guard !address.hasFragment else {
            throw LLMError(.configuration, "the model endpoint's address must not have a fragment")
        }
        guard model.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw LLMError(.configuration, "the model's name has control characters in it")
        }
        var path = address.path
        if path.hasSuffix("/chat/completions") { path.removeLast("/chat/completions".count) }
        self.path = path.isEmpty && address.query == nil ? "/v1" : path
        self.model = model
        self.key = key
        origin = address.origin
        isLocal = address.isLoopback
        query = address.query
    }

    /// The whole address of one of its functions.
    func url(_ function: String) -> String { origin + path + function + (query.map { "?\($0)" } ?? "") }

    /// What every request carries.
    var headers: [(name: String, value: String)] {
        guard let key else { return [] }
        // Azure's servers have versions in their addresses, and another header.
        return query?.contains("api-version=") == true
            ? [("api-key", key.bare)] : [("Authorization", key.bearer)]
    }
}
