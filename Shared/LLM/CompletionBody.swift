internal import Wire

/// A chunk of a streamed answer, or a whole one: what is needed of it, whatever else is there and whatever is missing.
struct CompletionBody: Decodable {
    /// What came of the first choice; nil for a chunk of another one, or of none.
    var piece: Piece?
    /// Why the first choice ended, if it did.
    var finishReason: String?
    var usage: Usage?
    var fault: Fault?
    var model: String?
    /// Whether there is a choice at all, of whatever number.
    var hasChoice = false

    private enum Key: String, CodingKey {
        case choices, usage, error, model, object, detail, message
    }

    /// One that says nothing.
    init() {}

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        if let choices = try members.decodeIfPresent([Choice].self, forKey: .choices) {
            hasChoice = !choices.isEmpty
            for choice in choices where choice.index == 0 {
                if var known = piece {
                    known.append(choice.piece)
                    piece = known
                } else {
                    piece = choice.piece
                }
                finishReason = choice.finishReason ?? finishReason
            }
        }
        usage = (try? members.decodeIfPresent(UsageBody.self, forKey: .usage))?.usage
        model = try? members.decodeIfPresent(String.self, forKey: .model)
        if let error = try members.decodeIfPresent(JSONValue.self, forKey: .error) {
            fault = Fault(error) ?? Fault(.string("an error without words"))
        } else if !hasChoice, usage == nil, !members.contains(.choices),
            members.contains(.message) || members.contains(.detail)
        {
            // vLLM's older form has the error's members where an answer's should be.
            fault = Fault(try JSONValue(from: decoder))
        }
    }
}

/// What one chunk adds to an answer.
struct Piece {
    var text = ""
    var thinking = ""
    /// Whether the thought is a field that has to be sent back with the results of tools.
    var isReasoningContent = false
    var refusal = ""
    var calls: [CallPiece] = []

    var isEmpty: Bool { text.isEmpty && thinking.isEmpty && refusal.isEmpty && calls.isEmpty }

    mutating func append(_ other: Piece) {
        text += other.text
        thinking += other.thinking
        if other.isReasoningContent { isReasoningContent = true }
        refusal += other.refusal
        calls += other.calls
    }
}

private struct Choice: Decodable {
    var index = 0
    var piece = Piece()
    var finishReason: String?

    private enum Key: String, CodingKey {
        case index, delta, message
        case finishReason = "finish_reason"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        index = (try? members.decodeIfPresent(Int.self, forKey: .index)) ?? 0
        let key: Key = members.contains(.delta) ? .delta : .message
        if let content = try members.decodeIfPresent(Content.self, forKey: key) { piece = content.piece }
        let reason = try? members.decodeIfPresent(String.self, forKey: .finishReason)
        // Some send an empty one until the end.
        finishReason = reason?.isEmpty == true ? nil : reason
    }
}

private struct Content: Decodable {
    var piece = Piece()

    private enum Key: String, CodingKey {
        case content, refusal, reasoning
        case reasoningContent = "reasoning_content"
        case toolCalls = "tool_calls"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        do {
            piece.text = try members.decodeIfPresent(String.self, forKey: .content) ?? ""
        } catch {
            for part in (try members.decode(JSONValue.self, forKey: .content)).array ?? [] { take(part) }
        }
        // Where both are there, they say the same.
        if let thought = try? members.decodeIfPresent(String.self, forKey: .reasoningContent), !thought.isEmpty {
            piece.thinking += thought
            piece.isReasoningContent = true
        } else if let thought = try? members.decodeIfPresent(String.self, forKey: .reasoning) {
            piece.thinking += thought
        }
        piece.refusal = (try? members.decodeIfPresent(String.self, forKey: .refusal)) ?? ""
        piece.calls = try members.decodeIfPresent([CallPiece].self, forKey: .toolCalls) ?? []
    }

    /// Mistral: content as a list of parts.
    private mutating func take(_ part: JSONValue) {
        switch part["type"]?.string {
        case "thinking":
            if let text = part["thinking"]?.string { piece.thinking += text }
            for inner in part["thinking"]?.array ?? [] { piece.thinking += inner["text"]?.string ?? "" }
        default: piece.text += part["text"]?.string ?? part.string ?? ""
        }
    }
}

/// What one chunk says of a call of a tool.
struct CallPiece: Decodable {
    var index: Int?
    var id = ""
    var name = ""
    var arguments = ""

    private enum Key: String, CodingKey { case index, id, function, name, arguments }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        index = try? members.decodeIfPresent(Int.self, forKey: .index)
        id = (try? members.decodeIfPresent(String.self, forKey: .id)) ?? ""
        guard let function = try? members.nestedContainer(keyedBy: Key.self, forKey: .function) else { return }
        name = (try? function.decodeIfPresent(String.self, forKey: .name)) ?? ""
        do {
            arguments = try function.decodeIfPresent(String.self, forKey: .arguments) ?? ""
        } catch {
            // An object instead of its text.
            let bytes = try JSONBody.encode(try function.decode(JSONValue.self, forKey: .arguments))
            arguments = String(decoding: bytes, as: UTF8.self)
        }
    }
}

private struct UsageBody: Decodable {
    var usage: Usage?

    private enum Key: String, CodingKey {
        case prompt = "prompt_tokens"
        case completion = "completion_tokens"
        case total = "total_tokens"
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func count(_ key: Key) -> Int? {
            guard let value = try? members.decodeIfPresent(Double.self, forKey: key) else { return nil }
            return value >= 0 ? Int(exactly: value.rounded()) : nil
        }
        let total = count(.total)
        guard count(.prompt) != nil || count(.completion) != nil || total != nil else { return }
        let prompt = count(.prompt) ?? max(0, (total ?? 0) - (count(.completion) ?? 0))
        usage = Usage(prompt: prompt, completion: count(.completion) ?? max(0, (total ?? prompt) - prompt))
    }
}
