internal import Lifecycle

/// A command of the program: what parses it, and what it does.
struct CommandEntry: Sendable {
    let command: Command
    /// How many operands it takes; nil for any number.
    let operands: ClosedRange<Int>?
    private let body: @Sendable (ParsedOptions) async throws -> Int32

    init(
        _ command: Command,
        operands: ClosedRange<Int>? = nil,
        _ body: @escaping @Sendable (ParsedOptions) async throws -> Int32
    ) {
        self.command = command
        self.operands = operands
        self.body = body
    }

    /// The word that calls it.
    var word: String { String(command.name.split(separator: " ").last ?? "") }

    /// Parses and runs it.
    func call(_ words: [String]) async throws -> Int32 {
        let options = try command.parse(words)
        if options.wantsHelp {
            try Output.raw(command.help)
            return ExitCode.success
        }
        if let operands, !operands.contains(options.operands.count) {
            let what =
                operands.upperBound == 0
                ? "takes no operand"
                : operands.lowerBound > options.operands.count
                    ? "needs \(command.operands)" : "takes only \(command.operands)"
            throw UsageError("\(command.name) \(what); see \(command.name) --help")
        }
        return try await body(options)
    }
}

/// All commands: parsing, help and completion come from this.
enum CommandTable {
    static let entries: [CommandEntry] = [
        UpCommand.entry,
        AskCommand.entry,
        ChatCommand.entry,
        SkillsCommand.entry,
        RouteCommand.entry,
        SessionsCommand.entry,
        ResumeCommand.entry,
        CancelCommand.entry,
        LogCommand.entry,
        DeadLettersCommand.entry,
        PrivacyCommand.entry,
        ForgetCommand.entry,
        IndexCommand.entry,
        KeysCommand.entry,
        TokensCommand.entry,
        CompletionCommand.entry,
        VersionCommand.entry,
        HelpCommand.entry,
    ]

    static func entry(_ word: String) -> CommandEntry? { entries.first { $0.word == word } }

    /// The help of the program itself.
    static var overview: String {
        let width = entries.map(\.word.count).max() ?? 0
        let lines = entries.map { "  \(Terminal.padded($0.word, to: width))  \($0.command.summary)" }
        return """
            skillbus - ask independent AI skills, over one bus

            Usage: skillbus COMMAND [OPTION...] [OPERAND...]

            Commands:
            \(lines.joined(separator: "\n"))

            `skillbus COMMAND --help` shows a command's options.
            Begin with `skillbus up`, then `skillbus ask "what is 0.1 + 0.2"` in another terminal.

            Environment:
              SKILLBUS_URL    the gateway (default http://127.0.0.1:8080)
              SKILLBUS_TOKEN  a token, where the gateway asks for one; or SKILLBUS_TOKEN_FILE, a file that holds it
              SKILLBUS_STATE  the folder for sessions, indexes and logs
              NO_COLOR        no colours

            Exit codes: 0 done, 1 failed or cancelled, 2 wrong usage, 3 gateway not reached,
            124 --timeout passed, 130 interrupted.
            """
    }
}

/// Options that several commands have.
enum CommonOptions {
    static let url = Option.value(
        "url",
        "URL",
        "the gateway's address",
        environment: "SKILLBUS_URL",
        default: "http://127.0.0.1:8080"
    )
    static let json = Option.flag("json", "print JSON, for programs")
}
