internal import Lifecycle

/// `skillbus help [COMMAND]`.
enum HelpCommand {
    static let entry = CommandEntry(
        Command("skillbus help", "show this, or the help of a command", operands: "[COMMAND]", options: []),
        operands: 0...1
    ) { options in
        guard let word = options.operands.first else {
            try Output.line(CommandTable.overview)
            return ExitCode.success
        }
        guard let entry = CommandTable.entry(word) else {
            let near = nearestName(to: word, in: CommandTable.entries.map(\.word))
            throw UsageError("unknown command \"\(word)\"" + (near.map { ": did you mean \"\($0)\"?" } ?? ""))
        }
        try Output.raw(entry.command.help)
        return ExitCode.success
    }
}
