internal import Glibc
internal import Lifecycle
internal import SessionClient
internal import Synchronization
internal import Wire

/// `skillbus chat`: a conversation in one session.
enum ChatCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus chat",
            "talk in a session, with history",
            options: [
                .value("session", "ID", "go on with a session; else a new one is made"),
                .value("skill", short: "s", "NAME", "the skill that serves every line that names none"),
                RequestOptions.privacy,
                RequestOptions.noCache,
                RequestOptions.routing,
                RequestOptions.debug,
                .value("state", "DIR", "where the history of the prompt is kept", environment: "SKILLBUS_STATE"),
                CommonOptions.url,
            ],
            details: """
                At the prompt:
                  @SKILL TEXT   has this skill serve the text
                  /routing WHO  has the router (local) or a model (model) choose the skills from now on
                  /skills       lists the skills
                  /session      shows the session's id, for `skillbus resume`
                  /help         shows this
                  /quit         leaves, as Ctrl-D does

                Ctrl-C cancels the running request; when none runs, a second one leaves.
                """
        ),
        operands: 0...0,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        var session = try options.name("session")
        let skill = try options.name("skill")
        let policy = try RequestOptions.policy(options)
        var routing = try RequestOptions.routing(options)
        let isNew = session == nil
        let isDebug = options.flag("debug")
        // Asked for even if not needed: who cannot be answered is told before the first line, not after.
        var seq = try await session.asyncMap { try await client.snapshot(of: $0).seq }
        if isNew {
            session = try await client.createSession(privacy: policy ?? (ApprovalPrompt.isPossible ? .ask : nil))
        }
        guard let session else { return ExitCode.failure }

        let isInteractive = isTerminal(0)
        let prompt = Prompt(
            isInteractive ? (options.value("state") ?? Environment.stateFolder) + "/chat-history" : nil
        )
        if isInteractive {
            printError("skillbus \(Product.version), session \(session). /help lists the commands, Ctrl-D leaves.")
        }
        let choice = isInteractive ? SkillChoice(prompt: prompt) : nil
        var last = ExitCode.success
        let pressed = Mutex(false)
        Interrupts.shared.handle { _ in
            let isSecond = pressed.withLock { pressed in
                defer { pressed = true }
                return pressed
            }
            guard isInteractive, !isSecond else {
                prompt.restoreTerminal()
                leave(ExitCode.interrupted)
            }
            prompt.say("Ctrl-C again, or Ctrl-D, leaves.")
        }
        while true {
            guard let line = try await prompt.next(isInteractive ? "› " : "") else {
                if isInteractive { printError("") }
                return isInteractive ? ExitCode.success : last
            }
            // Before anything of the answer is seen: a Ctrl-C after it is the first again.
            pressed.withLock { $0 = false }
            switch ChatLine(line, skill: skill) {
            case .empty: break
            case .quit: return isInteractive ? ExitCode.success : last
            case .help: printError(entry.command.details)
            case .session: try Output.line(session)
            case .skills:
                do {
                    let table = SkillsCommand.table(try await client.skills(), isVerbose: false)
                    for line in table.lines(Output.style, columns: Output.isTerminal ? Terminal.columns : nil) {
                        try Output.line(line)
                    }
                } catch let error as ClientError {
                    last = report(error)
                }
            case .routing(let chosen):
                if let chosen { routing = chosen }
                printError(routing == .model ? "a model chooses the skills" : "the router chooses the skills")
            case .wrong(let words):
                printError("skillbus: \(Terminal.line(words))")
                last = ExitCode.usage
            case .request(var request):
                request.cache = !options.flag("no-cache")
                request.routing = routing
                request.explain = isDebug
                if !isNew { request.privacy = policy }
                let choice = request.skill == nil ? choice : nil
                request.canClarify = choice != nil
                let run = RequestRun(
                    client: client,
                    session: session,
                    after: seq,
                    request: request,
                    asJSON: false,
                    isDebug: isDebug,
                    limit: nil,
                    choice: choice
                )
                do {
                    last = try await run()
                    if last == ExitCode.interrupted { printError("cancelled") }
                    seq = try await client.snapshot(of: session).seq
                } catch let error as OutputClosed {
                    throw error
                } catch {
                    last = report(error)
                }
            }
        }
    }
}

/// What a line at the prompt means.
enum ChatLine: Sendable {
    case empty
    case quit
    case help
    case skills
    case session
    /// Who chooses the skills from now on; nil to be told who does.
    case routing(Routing?)
    case request(NewRequest)
    case wrong(String)

    /// Reads a line; the skill serves one that names none.
    init(_ line: String, skill: String?) {
        let text = String(line.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        switch text.first {
        case nil: self = .empty
        case "/":
            switch text {
            case "/quit", "/exit", "/q": self = .quit
            case "/help", "/?": self = .help
            case "/skills": self = .skills
            case "/session": self = .session
            case "/routing": self = .routing(nil)
            case _ where text.hasPrefix("/routing "):
                let word = text.split { $0.isWhitespace }.dropFirst().joined(separator: " ")
                if let routing = Routing(rawValue: word) {
                    self = .routing(routing)
                } else {
                    self = .wrong("/routing is local or model, not \"\(word.prefix(40))\"")
                }
            default:
                let near = nearestName(to: text, in: ["/quit", "/help", "/skills", "/session", "/routing"])
                self = .wrong(
                    "no command \(text.prefix(40))\(near.map { ": did you mean \($0)?" } ?? "; /help lists them")"
                )
            }
        case "@":
            let parts = text.dropFirst().split(maxSplits: 1) { $0.isWhitespace }
            guard parts.count == 2, text.dropFirst().first?.isWhitespace == false else {
                self = .wrong("say which skill and what: @SKILL TEXT")
                return
            }
            self = .request(NewRequest(String(parts[1]), skill: String(parts[0])))
        default:
            guard text.utf8.count <= Limits.requestText else {
                self = .wrong("a line may have \(Limits.requestText) bytes; use `skillbus ask --file` for more")
                return
            }
            self = .request(NewRequest(text, skill: skill))
        }
    }
}

extension Optional {
    fileprivate func asyncMap<Value>(_ body: (Wrapped) async throws -> Value) async throws -> Value? {
        if let self { try await body(self) } else { nil }
    }
}
