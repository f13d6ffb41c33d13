internal import Transfers
internal import Wire

/// Reads the body of an answer, as it comes, into events. Streamed or not is told by what is there, not by what was asked
/// for or what the header says.
struct AnswerReader: Sendable {
    private enum Form { case unknown, events, document }

    /// Bytes of text, thoughts and arguments of one answer at most.
    private static let longest = 16 << 20

    private let endpoint: Endpoint
    private let promptEstimate: Int
    private let isShown: Bool
    private var form = Form.unknown
    private var parser = ServerSentEventParser(limit: 8 << 20)
    private var document: [UInt8] = []
    private var splitter = ThoughtSplitter()
    private var tools = ToolCallAssembler()
    private var answer = ChatAnswer()
    private var hasUsage = false
    private var size = 0

    /// Whether the endpoint has said that this was all.
    private(set) var isDone = false
    /// Whether it has said why it ended. Only a count of tokens may follow.
    var hasFinished: Bool { answer.finishReason != nil }
    /// Whether anything has come of the answer or of thoughts.
    private(set) var hasContent = false

    /// - Parameters:
    ///   - endpoint: whose answer it is.
    ///   - promptEstimate: tokens that were asked, where the endpoint counts none.
    ///   - isShown: whether somebody sees the answer while it comes.
    init(_ endpoint: Endpoint, promptEstimate: Int, isShown: Bool) {
        self.endpoint = endpoint
        self.isShown = isShown
        self.promptEstimate = promptEstimate
        answer.endpoint = endpoint.origin
        answer.model = endpoint.model
    }

    /// Takes the next bytes of the body. Events that came before an error are in `events` all the same.
    mutating func feed(_ bytes: [UInt8], _ events: inout [ChatEvent]) throws(LLMError) {
        if form == .unknown {
            document += bytes
            let start = document.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            guard let first = document.dropFirst(start).first(where: { $0 != 0x20 && !(0x09...0x0D ~= $0) }) else {
                return
            }
            form = first == 0x7B || first == 0x5B ? .document : .events
            guard form == .events else { return }
            let all = document
            document = []
            return try read(all, &events)
        }
        if form == .document {
            guard document.count + bytes.count <= 2 * Self.longest else { throw tooLong() }
            document += bytes
            return
        }
        try read(bytes, &events)
    }

    private mutating func read(_ bytes: [UInt8], _ events: inout [ChatEvent]) throws(LLMError) {
        let received: [ServerSentEvent]
        do { received = try parser.feed(bytes) } catch { throw tooLong() }
        for event in received where !isDone { try take(event, &events) }
    }

    private mutating func take(_ event: ServerSentEvent, _ events: inout [ChatEvent]) throws(LLMError) {
        let data = event.data.trimmed
        if data.elementsEqual("[DONE]".utf8) {
            isDone = true
            return
        }
        // Some keep a connection alive with events that have nothing in them.
        if data.isEmpty || data.elementsEqual("null".utf8) { return }
        if event.type == "error" {
            let json = try? JSONBody.decode(JSONValue.self, from: data)
            let words = Fault.words(data, endpoint)
            throw failed(
                Fault.inAnswer(json.flatMap { Fault($0) } ?? Fault(.string(words)) ?? Fault(message: words), endpoint)
            )
        }
        let body: CompletionBody
        do {
            body = try Self.decode(data)
        } catch {
            throw bad("an event that is not what it should be: \(error.reason)")
        }
        try take(body, &events)
    }

    private struct NotReadable: Error { var reason: String }

    private static func decode(_ bytes: ArraySlice<UInt8>) throws(NotReadable) -> CompletionBody {
        // The decoder guesses at other encodings where it finds zeros.
        guard (try? UTF8Span(validating: bytes.span)) != nil, !bytes.contains(0) else {
            throw NotReadable(reason: "it is no UTF-8")
        }
        if let usual = ChunkScanner.read(bytes) { return usual }
        do { return try JSONBody.decode(CompletionBody.self, from: bytes) } catch {
            if case .body(_, let reason) = error { throw NotReadable(reason: reason) }
            throw NotReadable(reason: "\(error)")
        }
    }

    private mutating func take(_ body: CompletionBody, _ events: inout [ChatEvent]) throws(LLMError) {
        if let fault = body.fault { throw failed(Fault.inAnswer(fault, endpoint)) }
        if let model = body.model, !model.isEmpty, model != answer.model {
            answer.model = endpoint.key?.hidden(in: model) ?? model
        }
        if let usage = body.usage {
            answer.usage = usage
            hasUsage = true
        }
        if let piece = body.piece, !piece.isEmpty {
            hasContent = true
            size += piece.text.utf8.count + piece.thinking.utf8.count + piece.refusal.utf8.count
            for call in piece.calls {
                size += call.arguments.utf8.count + call.name.utf8.count
                guard tools.take(call) else { throw bad("more calls of tools than there can be") }
            }
            guard size <= Self.longest else { throw tooLong() }
            if piece.isReasoningContent { answer.reasoningContent += piece.thinking }
            if !piece.thinking.isEmpty { add(.thinking(piece.thinking), &events) }
            answer.refusal += piece.refusal
            if !piece.text.isEmpty {
                for part in splitter.feed(piece.text) { add(part, &events) }
            }
        }
        if let reason = body.finishReason { answer.finishReason = reason }
    }

    private mutating func add(_ part: ThoughtSplitter.Part, _ events: inout [ChatEvent]) {
        switch part {
        case .thinking(let text):
            answer.thinking += text
            events.append(.thinking(text))
        case .text(let text):
            answer.text += text
            events.append(.text(text))
        case .thoughtEnded:
            // What has been shown as text stays text.
            guard form == .document || !isShown else { return }
            answer.thinking += answer.text
            answer.text = ""
            events = events.map { if case .text(let text) = $0 { .thinking(text) } else { $0 } }
        }
    }

    /// Takes the end of the body, clean or not, and returns the answer.
    /// - Throws: `LLMError`, `truncated` for what had neither a reason for its end nor a `[DONE]`.
    mutating func end(_ cut: String?, _ events: inout [ChatEvent]) throws(LLMError) -> ChatAnswer {
        if form == .document {
            try readDocument(cut, &events)
        } else if cut == nil, !isDone, let rest = parser.end() {
            // What no empty line has ended is taken if it is whole.
            let data = rest.data.trimmed
            if data.elementsEqual("[DONE]".utf8) {
                isDone = true
            } else if let body = try? Self.decode(data) {
                try take(body, &events)
            }
        }
        for part in splitter.end() { add(part, &events) }
        guard isDone || hasFinished else {
            throw failed(truncated(cut ?? "the connection was closed without a word"))
        }
        return state(isWhole: true)
    }

    private mutating func readDocument(_ cut: String?, _ events: inout [ChatEvent]) throws(LLMError) {
        if let cut { throw failed(truncated(cut)) }
        let body: CompletionBody
        do { body = try Self.decode(document[...]) } catch { throw bad("no JSON answer: \(error.reason)") }
        document = []
        if body.fault == nil, !body.hasChoice { throw bad("an answer without a choice") }
        try take(body, &events)
        isDone = true
    }

    private func state(isWhole: Bool) -> ChatAnswer {
        var answer = answer
        let isCut = answer.isCutByLength || answer.finishReason == "content_filter"
        answer.toolCalls = tools.calls(areComplete: isWhole && !isCut)
        if !hasUsage {
            let written = TokenEstimate.tokens(in: answer.text) + TokenEstimate.tokens(in: answer.thinking)
            let called = answer.toolCalls.reduce(0) { $0 + TokenEstimate.tokens(in: $1.name + $1.arguments) }
            answer.usage = Usage(prompt: promptEstimate, completion: written + called, isEstimate: true)
        }
        return answer
    }

    /// The error with what had come before it.
    func failed(_ error: LLMError) -> LLMError {
        var error = error
        if hasContent { error.partial = state(isWhole: false) }
        return error
    }

    private func truncated(_ reason: String) -> LLMError {
        Fault.tidy(LLMError(.truncated, "the answer was cut off: \(reason)"), endpoint)
    }

    private func bad(_ reason: String) -> LLMError { failed(Fault.tidy(LLMError(.badResponse, reason), endpoint)) }

    private func tooLong() -> LLMError { bad("an answer of more than \(Self.longest) bytes") }
}
