internal import Lifecycle
public import Wire

/// One message of a conversation with a model.
public struct ChatMessage: Sendable, Hashable {
    /// Whose it is.
    public enum Role: String, Sendable {
        /// Rules for the model.
        case system
        /// A person.
        case user
        /// The model.
        case assistant
        /// The result of a tool.
        case tool
    }

    /// Whose it is.
    public var role: Role
    /// What is said.
    public var text: String
    /// Tools that the model called.
    public var toolCalls: [ToolCall] = []
    /// The call that this is the result of.
    public var toolCallID: String?
    /// What the model said of its reasoning in a field of its own: DeepSeek wants it back beside its calls of tools.
    public var reasoning = ""

    /// Makes a message.
    public init(_ role: Role, _ text: String) {
        self.role = role
        self.text = text
    }

    /// The result of a tool.
    public static func result(_ text: String, of call: String) -> ChatMessage {
        var message = ChatMessage(.tool, text)
        message.toolCallID = call
        return message
    }

    /// An answer that calls tools, to be followed by their results.
    public static func calls(_ answer: ChatAnswer) -> ChatMessage {
        var message = ChatMessage(.assistant, answer.text)
        message.toolCalls = answer.toolCalls
        message.reasoning = answer.reasoningContent
        return message
    }

    func json(_ dialect: Dialect) -> JSONValue {
        var members: [String: JSONValue] = ["role": .string(role.rawValue), "content": .string(text)]
        if !toolCalls.isEmpty {
            if text.isEmpty { members["content"] = .null }
            members["tool_calls"] = .array(
                toolCalls.map { call in
                    let arguments = call.arguments.isEmpty ? "{}" : call.arguments
                    return [
                        "id": .string(call.id), "type": "function",
                        "function": ["name": .string(call.name), "arguments": .string(arguments)],
                    ]
                }
            )
        }
        members["tool_call_id"] = toolCallID.map { .string($0) }
        if !reasoning.isEmpty, !dialect.lacks.contains(.reasoning) {
            members["reasoning_content"] = .string(reasoning)
        }
        return .object(members)
    }
}

/// A tool that a model may call.
public struct ChatTool: Sendable, Hashable {
    /// Letters, digits, `_` and `-`.
    public var name: String
    /// What it does.
    public var description: String
    /// JSON Schema of its arguments.
    public var parameters: JSONValue

    /// Makes a tool.
    public init(name: String, description: String, parameters: JSONValue) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }

    var json: JSONValue {
        [
            "type": "function",
            "function": [
                "name": .string(name), "description": .string(description), "parameters": parameters,
            ],
        ]
    }
}

/// Whether a model calls tools.
public enum ToolChoice: Sendable, Hashable {
    /// As it sees fit.
    case auto
    /// None.
    case none
    /// At least one.
    case required
    /// This one.
    case named(String)

    var json: JSONValue {
        switch self {
        case .auto: "auto"
        case .none: "none"
        case .required: "required"
        case .named(let name): ["type": "function", "function": ["name": .string(name)]]
        }
    }
}

/// What is asked of a model.
public struct ChatRequest: Sendable {
    /// The conversation.
    public var messages: [ChatMessage]
    /// Whether the answer is to come piece by piece.
    public var isStreamed = true
    /// Tools that may be called.
    public var tools: [ChatTool] = []
    /// Whether they are.
    public var toolChoice: ToolChoice?
    /// 0 for the most likely words; nil for the endpoint's own.
    public var temperature: Double?
    /// Tokens of the answer at most; nil for the endpoint's own limit.
    public var maxTokens: Int?
    /// JSON Schema that the answer must keep to.
    public var schema: JSONValue?
    /// What the tokens are taken from.
    public var budget: TokenBudget?
    /// Whether the call may go to an endpoint that is not on this host.
    public var allowsOutside: Bool
    /// When all must be over, retries and all; nil for the client's own limit.
    public var deadline: ContinuousClock.Instant?

    /// Whether another try follows one that failed.
    public var isTriedAgain = true

    /// Whether somebody sees the answer while it comes.
    var isShown = true

    /// Makes a request that stays on this host.
    public init(_ messages: [ChatMessage], allowsOutside: Bool = false) {
        self.messages = messages
        self.allowsOutside = allowsOutside
    }

    /// The body for an endpoint.
    /// - Throws: `LLMError` when it cannot be written.
    func body(model: String, _ dialect: Dialect, maxTokens: Int?) throws(LLMError) -> [UInt8] {
        var members: [String: JSONValue] = ["messages": .array(messages.map { $0.json(dialect) })]
        if !model.isEmpty { members["model"] = .string(model) }
        members["stream"] = .bool(isStreamed)
        if isStreamed, !dialect.lacks.contains(.streamOptions) { members["stream_options"] = ["include_usage": true] }
        if !tools.isEmpty { members["tools"] = .array(tools.map(\.json)) }
        members["tool_choice"] = toolChoice?.json
        if !dialect.lacks.contains(.temperature) { members["temperature"] = temperature.map { .number($0) } }
        if let maxTokens {
            let name = dialect.lacks.contains(.maxTokens) ? "max_completion_tokens" : "max_tokens"
            members[name] = .integer(Int64(maxTokens))
        }
        if let schema {
            members["response_format"] = [
                "type": "json_schema", "json_schema": ["name": "answer", "schema": schema, "strict": true],
            ]
        }
        do {
            return try JSONBody.encode(JSONValue.object(members))
        } catch {
            throw LLMError(.configuration, "the request cannot be written: \(error)")
        }
    }

    /// About how many tokens it has.
    var estimatedTokens: Int {
        messages.reduce(0) { $0 + 4 + TokenEstimate.tokens(in: $1.text) }
    }
}
