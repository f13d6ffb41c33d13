internal import Lifecycle

/// `skillbus completion`: scripts for shells, made from the table of commands.
enum CompletionCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus completion",
            "print a completion script for a shell",
            operands: "bash|zsh",
            options: [],
            details: """
                  source <(skillbus completion bash)                    # in ~/.bashrc
                  skillbus completion zsh > "${fpath[1]}/_skillbus"     # then start a new shell
                """
        ),
        operands: 1...1
    ) { options in
        switch options.operands[0] {
        case "bash": try Output.text(bash())
        case "zsh": try Output.text(zsh())
        case let shell: throw UsageError("completion is for bash and zsh, not \"\(shell)\"")
        }
        return ExitCode.success
    }

    /// Options whose value is a file or a folder.
    private static let paths: Set<String> = ["file", "state", "ready-file"]

    static func bash() -> String {
        var cases = ""
        for entry in CommandTable.entries {
            let words = entry.command.options.map { "--\($0.name)" } + ["--help"] + operands(entry)
            cases += "        \(entry.word)) words=\"\(words.joined(separator: " "))\" ;;\n"
        }
        let files = paths.sorted().map { "--\($0)" }.joined(separator: "|")
        return """
            # Completion of skillbus for bash.
            _skillbus() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
                COMPREPLY=()
                if [[ $COMP_CWORD -eq 1 ]]; then
                    words="\(CommandTable.entries.map(\.word).joined(separator: " ")) --help --version"
                    COMPREPLY=($(compgen -W "$words" -- "$word"))
                    return
                fi
                case $before in
                    \(files)) COMPREPLY=($(compgen -f -- "$word")); return ;;
                esac
                case ${COMP_WORDS[1]} in
            \(cases)    esac
                COMPREPLY=($(compgen -W "$words" -- "$word"))
            }
            complete -o default -F _skillbus skillbus

            """
    }

    static func zsh() -> String {
        var cases = ""
        for entry in CommandTable.entries {
            cases += "            \(entry.word))\n                _arguments"
            for option in entry.command.options + [.flag("help", short: "h", "show this help")] {
                let value = option.value.map { ":\($0):\(paths.contains(option.name) ? "_files" : "")" } ?? ""
                cases += " \\\n                    '*--\(option.name)[\(quoted(option.help))]\(value)'"
            }
            let words = operands(entry)
            let values = words.isEmpty ? "_files" : "(\(words.joined(separator: " ")))"
            cases += " \\\n                    '*:operand:\(values)' ;;\n"
        }
        let commands = CommandTable.entries
            .map { "        '\($0.word):\(quoted($0.command.summary))'" }.joined(separator: "\n")
        return """
            #compdef skillbus
            # Completion of skillbus for zsh.
            _skillbus() {
                local -a commands
                commands=(
            \(commands)
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                shift words
                (( CURRENT-- ))
                case $command in
            \(cases)    esac
            }
            if [ "$funcstack[1]" = "_skillbus" ]; then _skillbus "$@"; else compdef _skillbus skillbus; fi

            """
    }

    private static func operands(_ entry: CommandEntry) -> [String] {
        switch entry.word {
        case "completion": ["bash", "zsh"]
        case "help": CommandTable.entries.map(\.word)
        default: []
        }
    }

    /// Fit to stand in single quotes and in the brackets of zsh.
    private static func quoted(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "'": result += "'\\''"
            case "[", "]", ":": result += "\\\(character)"
            default: result.append(character)
            }
        }
    }
}
