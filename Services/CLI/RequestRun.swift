internal import Lifecycle
internal import SessionClient
internal import Synchronization
internal import Wire

/// Makes one request and follows it to its end: with a screen or as JSON lines, under a time limit and Ctrl-C.
struct RequestRun: Sendable {
    /// Why the user, or the clock, ended it.
    enum Ending: Sendable, Equatable {
        case timeout
        case interrupted
    }

    let client: GatewayClient
    let session: String
    /// The last event of the session before the request; nil for a new session.
    var after: UInt64?
    var request: NewRequest
    let asJSON: Bool
    var isDebug = false
    var limit: TimeLimit?
    /// Asks which of several skills is meant, where somebody is there to say so.
    var choice: SkillChoice?
    /// After a cancel the end is awaited for so long.
    private static let grace = Duration.seconds(5)

    /// Runs it. Returns the exit code; what failed has been said.
    func callAsFunction() async throws -> Int32 {
        let progress = Progress(client: client, session: session)
        let terminal = try await follow(progress)
        if let choice, progress.ending == nil, let terminal, RequestRun.code(of: terminal) == JobError.Code.ambiguous,
            let candidates = progress.screen?.candidates, !candidates.isEmpty,
            let skill = try await choice(candidates)
        {
            var next = self
            next.request = request.again(with: skill)
            next.after = progress.lastSeq
            // The time in which somebody thought is not the request's.
            next.limit = limit.map { TimeLimit($0.seconds) }
            next.choice = nil
            return try await next()
        }
        return exitCode(terminal, progress.ending)
    }

    /// Makes the request and shows it. Returns the terminal event; nil if it was told to stop before.
    private func follow(_ progress: Progress) async throws -> SessionEvent? {
        let before = Interrupts.shared.handle { _ in
            // A second Ctrl-C does not wait for anything.
            if !progress.end(.interrupted, grace: RequestRun.grace) {
                progress.screen?.close()
                leave(ExitCode.interrupted)
            }
        }
        defer { Interrupts.shared.handle(before) }
        let clock = limit.map { limit in
            Task {
                try await Task.sleep(until: limit.end)
                _ = progress.end(.timeout, grace: RequestRun.grace)
            }
        }
        defer { clock?.cancel() }
        let following = Task {
            // The connection for the events is made while the request is being sent.
            var events = client.events(of: session, after: after).makeAsyncIterator()
            let id = try await client.submit(request, in: session)
            let screen = asJSON ? nil : Screen(request: id)
            progress.begun(id, screen)
            return try await follow(id, &events, progress)
        }
        progress.following(following)
        let result = await following.result
        progress.screen?.close()
        let terminal: SessionEvent?
        do {
            terminal = try result.get()
        } catch let error as ClientError where progress.ending != nil && (error.isTransient || error == .cancelled) {
            terminal = nil
        } catch let error as ClientError where progress.request != nil && error.isTransient {
            let rest = "skillbus resume \(session) --after \(progress.lastSeq)"
            throw CommandFailure(
                "\(error). The request goes on; see the rest with: \(rest)",
                code: ExitCode.unreachable
            )
        }
        if terminal?.type == SessionEvent.Kind.finished, let screen = progress.screen, !screen.isAnswerWhole {
            throw CommandFailure("the answer came to its end, but this program cannot read it: see it with --json")
        }
        return terminal
    }

    /// Shows the request's events up to the terminal one, which it returns; nil if it was told to stop before.
    private func follow(
        _ id: String,
        _ events: inout EventStream.Iterator,
        _ progress: Progress
    ) async throws -> SessionEvent? {
        let screen = progress.screen
        let ticker = screen.map { screen in
            Task {
                while !Task.isCancelled {
                    screen.tick()
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
        }
        defer { ticker?.cancel() }
        let prompt = screen.flatMap { screen in
            ApprovalPrompt.isPossible
                ? ApprovalPrompt(client: client, session: session, request: id, screen: screen) : nil
        }
        defer { prompt?.end() }
        var debug = DebugLines()
        while let update = try await events.next() {
            switch update {
            case .connected: break
            case .disconnected(let error, _): screen?.lost(error)
            case .event(let event):
                progress.saw(event)
                guard event.request == id || event.type == SessionEvent.Kind.gap else { continue }
                if isDebug {
                    for line in debug.lines(event) { say("debug: " + line, screen) }
                }
                if let screen { try screen.show(event) } else { try Output.json(event) }
                if let prompt {
                    prompt.saw(event)
                } else if let question = event.data["question"]?.string, event.type == SessionEvent.Kind.approval {
                    let path = "/v1/sessions/\(session)/requests/\(id)/approval"
                    say("\(question) Nobody is asked here: answer with POST \(path)", screen)
                }
                if event.isTerminal { return event }
            }
        }
        return nil
    }

    private func say(_ words: String, _ screen: Screen?) {
        if let screen { screen.say(words) } else { printError("skillbus: " + Terminal.line(words)) }
    }

    private func exitCode(_ terminal: SessionEvent?, _ ending: Ending?) -> Int32 {
        if terminal?.type == SessionEvent.Kind.finished { return ExitCode.success }
        switch ending {
        case .timeout:
            printError("skillbus: \(limit?.words ?? "no answer"): the request has been cancelled")
            return ExitCode.timeout
        case .interrupted: return ExitCode.interrupted
        case nil: break
        }
        guard let terminal else { return ExitCode.interrupted }
        if !asJSON { printError("skillbus: \(RequestRun.words(for: terminal))") }
        let code = RequestRun.code(of: terminal)
        return code == JobError.Code.timeout && limit != nil ? ExitCode.timeout : ExitCode.failure
    }

    private static func code(of terminal: SessionEvent) -> String? {
        (terminal.data["error"] ?? terminal.data)["code"]?.string
    }

    /// Why a request has no output, in a sentence or two.
    static func words(for terminal: SessionEvent) -> String {
        if terminal.type == SessionEvent.Kind.cancelled {
            let reason = terminal.data["reason"]?.string ?? ""
            return "the request was cancelled" + (reason.isEmpty ? "" : ": \(Terminal.line(reason))")
        }
        let error = terminal.data["error"] ?? terminal.data
        let message = Terminal.line(error["message"]?.string ?? "the request failed")
        let code = error["code"]?.string.map { " (\(Terminal.line($0)))" } ?? ""
        let hint = error["hint"]?.string.map { "\n\(Terminal.line($0))" } ?? ""
        return message + code + hint
    }
}

/// What the tasks of a run share.
private final class Progress: Sendable {
    private struct State {
        var ending: RequestRun.Ending?
        var request: String?
        var screen: Screen?
        var following: Task<SessionEvent?, any Error>?
        var lastSeq: UInt64 = 0
    }
    private let state = Mutex(State())
    private let client: GatewayClient
    private let session: String

    init(client: GatewayClient, session: String) {
        self.client = client
        self.session = session
    }

    var ending: RequestRun.Ending? { state.withLock { $0.ending } }
    var request: String? { state.withLock { $0.request } }
    var screen: Screen? { state.withLock { $0.screen } }
    var lastSeq: UInt64 { state.withLock { $0.lastSeq } }

    func following(_ task: Task<SessionEvent?, any Error>) { state.withLock { $0.following = task } }

    func saw(_ event: SessionEvent) {
        if let seq = event.seq { state.withLock { $0.lastSeq = seq } }
    }

    /// The request has its id. One that is to end already is cancelled now.
    func begun(_ id: String, _ screen: Screen?) {
        let isOver = state.withLock { state in
            state.request = id
            state.screen = screen
            return state.ending != nil
        }
        if isOver { cancel(id) }
    }

    /// Ends the run: the request is cancelled, and its end awaited for a while. False if it is ending already. One that
    /// has no id yet is not awaited when its time is up: the gateway was told the limit too.
    func end(_ ending: RequestRun.Ending, grace: Duration) -> Bool {
        let (isFirst, id) = state.withLock { state in
            let isFirst = state.ending == nil
            if isFirst { state.ending = ending }
            return (isFirst, state.request)
        }
        guard isFirst else { return false }
        if let id { cancel(id) }
        Task {
            if id != nil || ending != .timeout { try? await Task.sleep(for: grace) }
            self.state.withLock { $0.following }?.cancel()
        }
        return true
    }

    private func cancel(_ id: String) {
        Task { [client, session] in try? await client.cancel(id, in: session) }
    }
}
