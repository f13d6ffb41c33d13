internal import Lifecycle
internal import SessionClient
internal import Synchronization
internal import Wire

/// Shows requests: their answers on standard output, what the skills are doing on standard error.
///
/// The status block is only ever drawn below finished lines, and taken away before anything else is written.
final class Screen: Sendable {
    private struct State {
        var view = SessionView()
        var answer = AnswerText()
        /// Of a transcript: the request that is being shown, and whether its question has been.
        var place = 0
        var isBegun = false
        var started: [String: Double] = [:]
        var drawn = 0
        var isAtLineStart = true
        var notice: String?
        var isOver = false
        /// Whether a question stands below: nothing is drawn over it.
        var isHeld = false
    }
    private let state = Mutex(State())
    private let request: String?
    private let begin = ContinuousClock.now
    private let showsStatus = Terminal.movesCursor(2)
    /// What is over sooner needs no status.
    private static let patience = 0.15
    private let style = Style(for: 2)

    /// A screen for one request; or, without an id, for all of a session, one after the other with their questions.
    init(request: String?) { self.request = request }

    /// Whether a request that has been seen has not ended.
    var isBusy: Bool { state.withLock { $0.view.isBusy } }

    /// The skills among which the user may choose.
    var candidates: [RequestView.Candidate] {
        state.withLock { state in request.flatMap { state.view[request: $0] }?.candidates ?? [] }
    }

    /// Whether all of the answer of a finished request has been written.
    var isAnswerWhole: Bool { state.withLock { $0.answer.isWhole } }

    /// Shows one more event.
    func show(_ event: SessionEvent) throws(OutputClosed) {
        let now = now
        try state.withLock { state throws(OutputClosed) in
            state.view.apply(event)
            state.notice = nil
            if event.type == SessionEvent.Kind.gap { note("some events of this session are no longer held", &state) }
            while let view = current(state) {
                if request == nil && !state.isBegun && !view.text.isEmpty {
                    try write(.text("\(state.place == 0 ? "" : "\n")> \(view.text)\n"), &state)
                    state.isBegun = true
                }
                try show(event, view, &state, now)
                guard request == nil, view.state.isTerminal else { break }
                try finish(view, &state)
            }
            draw(&state, now)
        }
    }

    private func show(
        _ event: SessionEvent,
        _ view: RequestView,
        _ state: inout State,
        _ now: Double
    ) throws(OutputClosed) {
        for step in view.steps where step.state == .running && state.started[step.id] == nil {
            state.started[step.id] = now
        }
        if event.request == view.id {
            if event.type == SessionEvent.Kind.retrying, let step = view.steps.first(where: { $0.job == event.job }) {
                note("\(step.skill): \(step.message); trying again", &state)
            }
            if event.type == SessionEvent.Kind.disclosure, let party = event.data["party"]?.string {
                note("data goes to \(party)", &state)
            }
            // Whoever makes the request is asked by others.
            if request == nil, event.type == SessionEvent.Kind.approval, let words = event.data["question"]?.string {
                note(words, &state)
            }
        }
        for piece in state.answer.pieces(for: view) { try write(piece, &state) }
        if view.state.isTerminal && request != nil { state.isOver = true }
    }

    /// Of a transcript: goes on to the next request.
    private func finish(_ view: RequestView, _ state: inout State) throws(OutputClosed) {
        if !state.isAtLineStart { try write(.text("\n"), &state) }
        if let error = view.error { note("\(error.message) (\(error.code))", &state) }
        if view.state == .cancelled { note("the request was cancelled", &state) }
        state.answer = AnswerText()
        state.started = [:]
        state.isBegun = false
        state.place += 1
    }

    private func current(_ state: borrowing State) -> RequestView? {
        if let request { return state.view[request: request] }
        return state.place < state.view.requests.count ? state.view.requests[state.place] : nil
    }

    /// Shows that there is no connection, until the next event.
    func lost(_ error: ClientError) {
        state.withLock { state in
            state.notice = "no connection (\(error)); trying again"
            draw(&state, now)
        }
    }

    /// Says something on a line of its own.
    func say(_ words: String) {
        state.withLock { state in
            note(words, &state)
            draw(&state, now)
        }
    }

    /// Asks something, and draws nothing over it until ``letGo()``.
    func hold(_ question: String) {
        state.withLock { state in
            erase(&state)
            if !state.isAtLineStart && Output.isTerminal { printError("") }
            if Output.isTerminal { state.isAtLineStart = true }
            printError(style.yellow(Terminal.line(question)), terminator: "")
            state.isHeld = true
        }
    }

    /// The question has its answer.
    func letGo() { state.withLock { $0.isHeld = false } }

    /// Moves the clocks on.
    func tick() { state.withLock { draw(&$0, now) } }

    /// Takes the status block away for good.
    func close() {
        state.withLock { state in
            state.isOver = true
            erase(&state)
            if !state.isAtLineStart && Output.isTerminal { printOutput("") }
            state.isAtLineStart = true
        }
    }

    private var now: Double {
        let passed = (ContinuousClock.now - begin).components
        return Double(passed.seconds) + Double(passed.attoseconds) / 1e18
    }

    private func write(_ piece: AnswerText.Piece, _ state: inout State) throws(OutputClosed) {
        erase(&state)
        switch piece {
        case .text(let text):
            try Output.text(text)
            state.isAtLineStart = text.utf8.last == 10
        case .heading(let name):
            // In a pipe the text alone counts; a person wants to know whose it is.
            if Output.isTerminal { try Output.line(Output.style.bold(Terminal.line(name))) }
        case .note(let text): note(text, &state)
        }
    }

    private func note(_ text: String, _ state: inout State) {
        erase(&state)
        if !state.isAtLineStart && Output.isTerminal && isTerminal(2) { printError("") }
        if Output.isTerminal { state.isAtLineStart = true }
        printError(style.yellow("skillbus: " + Terminal.line(text)))
    }

    private func draw(_ state: inout State, _ now: Double) {
        guard showsStatus, now > Screen.patience, request != nil || state.view.isBusy else {
            return erase(&state)
        }
        erase(&state)
        // Below a line that is still being written there is no place; the growing text shows that it goes on.
        guard !state.isOver, !state.isHeld, state.isAtLineStart || !Output.isTerminal, !state.answer.isFlowing else {
            return
        }
        let columns = Terminal.columns
        var lines = StatusLines.lines(
            current(state),
            started: state.started,
            now: now,
            columns: columns,
            style: style
        )
        if let notice = state.notice {
            lines.append(style.yellow(Terminal.fitted(Terminal.line(notice), to: columns - 1)))
        }
        state.drawn = lines.count
        printError(lines.joined(separator: "\n"), terminator: "")
    }

    private func erase(_ state: inout State) {
        guard state.drawn > 0 else { return }
        let up = state.drawn > 1 ? "\u{1b}[\(state.drawn - 1)A" : ""
        printError("\r\(up)\u{1b}[J", terminator: "")
        state.drawn = 0
    }
}
