internal import SessionClient
internal import Wire

/// What of a request goes to standard output, and when. A value: it is given the request after each event and says
/// what to write.
///
/// (1) Text of two skills is never mixed: it flows as it comes only while a single skill makes the answer; else each
///     step is written when it has finished, in plan order.
/// (2) Text of two attempts is never joined: where a new attempt says what was written already, it goes on from
///     there; where it says something else, a note says so and the answer is written anew.
/// (3) In the end the whole output has been written, whatever the steps said before: what the request's last event has
///     is what counts.
struct AnswerText {
    /// What to write.
    enum Piece: Equatable {
        /// To standard output.
        case text(String)
        /// To a person.
        case note(String)
        /// Before the text of a step, when several make the answer.
        case heading(String)
    }

    private var written = ""
    private var writtenStep: String?
    private var beginnings = 0
    /// Whether `written` is the start of the attempt's text, so that only the rest need be looked at.
    private var isInStep = true
    private var done: Set<String> = []
    private var hasWritten = false
    /// Everything since the answer last began, of all steps.
    private var all = ""
    /// Whether the answer of a finished request has been written, all of it.
    private(set) var isWhole = false

    /// Whether text is in the middle of flowing.
    var isFlowing: Bool { writtenStep.map { !done.contains($0) } ?? false }

    /// What the last event adds.
    mutating func pieces(for request: RequestView) -> [Piece] {
        guard !isWhole else { return [] }
        let steps = request.lastSteps
        var pieces: [Piece] = []
        if steps.count == 1, let step = steps.first {
            if !step.text.isEmpty || step.state == .finished { pieces += flow(step) }
        } else {
            for step in steps where !done.contains(step.id) {
                guard step.state.isTerminal else { break }
                done.insert(step.id)
                if let error = step.error, step.state == .failed {
                    pieces.append(.note("\(step.skill) failed: \(error.message)"))
                }
                guard step.state == .finished, step.text.contains(where: { !$0.isNewline }) else { continue }
                if hasWritten { pieces.append(.text("\n")) }
                hasWritten = true
                pieces += [.heading(step.skill), .text(terminated(step.text))]
            }
        }
        for piece in pieces { keep(piece) }
        if request.state == .finished { pieces += end(request, steps) }
        if request.state == .failed, !isWhole { pieces += rest(request) }
        return pieces
    }

    /// What the steps of a request that failed had made. What flowed of it already counts as written.
    private mutating func rest(_ request: RequestView) -> [Piece] {
        isWhole = true
        guard !hasWritten, let output = request.output, output.text.contains(where: { !$0.isWhitespace }) else {
            return []
        }
        hasWritten = true
        return [.note("not all of it was done; this is what there is"), .text(terminated(output.text))]
    }

    /// What of the output is still to be written. Empty lines around it do not count.
    private mutating func end(_ request: RequestView, _ steps: [StepView]) -> [Piece] {
        guard let output = request.output else {
            // Nothing says what it was, but that each of its steps ended.
            isWhole = !steps.isEmpty && steps.allSatisfy { done.contains($0.id) }
            return []
        }
        isWhole = true
        let whole = terminated(output.text)
        if !hasWritten { return [.text(whole)] }
        let before = String(all.drop { $0.isNewline })
        if terminated(before) == whole { return all.utf8.last == 10 ? [] : [.text("\n")] }
        if startsWith(whole, before) {
            return [.text(String(decoding: whole.utf8.dropFirst(before.utf8.count), as: UTF8.self))]
        }
        return [AnswerText.void, .text(all.utf8.last == 10 ? whole : "\n" + whole)]
    }

    private static let void = Piece.note("what was written so far is void; the whole answer follows")

    private mutating func keep(_ piece: Piece) {
        if piece == AnswerText.void { all = "" }
        if case .text(let text) = piece { all += text }
    }

    private mutating func flow(_ step: StepView) -> [Piece] {
        guard !done.contains(step.id) else { return [] }
        var pieces: [Piece] = []
        let isNew = writtenStep != step.id || beginnings != step.beginnings
        if isNew {
            isInStep = written.isEmpty
            writtenStep = step.id
            beginnings = step.beginnings
        }
        let text = step.text
        if step.state == .finished { isInStep = isInStep && startsWith(text, written) }
        if !isInStep {
            if startsWith(text, written) {
                isInStep = true
            } else if !startsWith(written, text) || step.state == .finished {
                pieces.append(AnswerText.void)
                pieces.append(.text("\n"))
                written = ""
                isInStep = true
            }
        }
        if isInStep {
            let rest = String(decoding: text.utf8.dropFirst(written.utf8.count), as: UTF8.self)
            if !rest.isEmpty {
                written += rest
                hasWritten = true
                pieces.append(.text(rest))
            }
        }
        if step.state == .finished {
            done.insert(step.id)
            hasWritten = true
            if written.utf8.last != 10 { pieces.append(.text("\n")) }
        }
        return pieces
    }

    private func startsWith(_ text: String, _ prefix: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    /// As the gateway does when it merges: no empty lines around, and a line feed at the end.
    private func terminated(_ text: String) -> String {
        var text = text[...]
        while let last = text.last, last.isNewline { text.removeLast() }
        while let first = text.first, first.isNewline { text.removeFirst() }
        return text + "\n"
    }
}
