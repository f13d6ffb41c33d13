/// A tool that a model wants called.
public struct ToolCall: Sendable, Hashable {
    /// What its result refers to; made up where the endpoint sent none.
    public var id: String
    /// The tool.
    public var name: String
    /// JSON as the model wrote it; empty for none.
    public var arguments: String
    /// Whether all of it has come. What was cut must not be run.
    public var isComplete: Bool

    /// Makes a call.
    public init(id: String, name: String, arguments: String, isComplete: Bool = true) {
        self.id = id
        self.name = name
        self.arguments = arguments
        self.isComplete = isComplete
    }
}

/// Tokens that a call took.
public struct Usage: Sendable, Hashable {
    /// Of what was asked.
    public var prompt: Int
    /// Of the answer.
    public var completion: Int
    /// Whether the endpoint did not say, and they were guessed by the length of the texts.
    public var isEstimate: Bool

    /// Both together.
    public var total: Int { prompt + completion }

    /// Makes a count.
    public init(prompt: Int, completion: Int, isEstimate: Bool = false) {
        self.prompt = prompt
        self.completion = completion
        self.isEstimate = isEstimate
    }
}

/// What a model answered.
public struct ChatAnswer: Sendable, Hashable {
    /// The answer, without thoughts.
    public var text = ""
    /// What the model thought before.
    public var thinking = ""
    /// What of that came in the field `reasoning_content`, which has to be sent back with the results of tools.
    public var reasoningContent = ""
    /// Why it does not answer, if it says so apart from the answer.
    public var refusal = ""
    /// Tools that it wants called, in its order.
    public var toolCalls: [ToolCall] = []
    /// Why it ended, in the endpoint's word; nil where it said none.
    public var finishReason: String?
    /// Tokens that it took.
    public var usage = Usage(prompt: 0, completion: 0, isEstimate: true)
    /// The model that answered.
    public var model = ""
    /// Scheme, host and port of the endpoint that answered.
    public var endpoint = ""
    /// What answered, for people: the model, or its endpoint where that does not name it.
    public var engine: String { model.isEmpty ? endpoint : model }

    /// Whether the limit of tokens cut it.
    public var isCutByLength: Bool { finishReason == "length" || finishReason == "max_tokens" }

    /// Makes an answer with nothing in it.
    public init() {}
}

/// What happens while a model answers.
public enum ChatEvent: Sendable {
    /// A try failed; the next one follows. Nothing had come of the answer.
    case retrying(Retry)
    /// A piece of a thought.
    case thinking(String)
    /// A piece of the answer.
    case text(String)
    /// The end, with everything.
    case finished(ChatAnswer)
}

/// A try that failed and is followed by another.
public struct Retry: Sendable {
    /// Why.
    public var error: LLMError
    /// How long it waits before the next one.
    public var pause: Duration
    /// The number of the next one, from 2 on.
    public var attempt: Int
    /// Where the next one goes, if it is another endpoint.
    public var elsewhere: String?
}
