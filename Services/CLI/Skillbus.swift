internal import Glibc
internal import Lifecycle

/// The program `skillbus`.
@main
struct Skillbus {
    static func main() async {
        openStandardStreams()
        Interrupts.shared.start()
        leave(await run(arguments()))
    }

    /// A standard stream that was closed would become the first file or pipe that this program opens, and be read from
    /// and written to as such. Input is empty then; output still cannot be written, which is told; words are lost.
    private static func openStandardStreams() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest number that is free: this one.
            _ = open("/dev/null", descriptor == 2 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Runs one command line, without the program's name.
    static func run(_ words: [String]?) async -> Int32 {
        do {
            guard let words else { throw UsageError("an argument is not valid UTF-8: Skillbus takes text as UTF-8") }
            guard let first = words.first else {
                printError(CommandTable.overview)
                return ExitCode.usage
            }
            switch first {
            case "--help", "-h":
                try Output.line(CommandTable.overview)
                return ExitCode.success
            case "--version", "-V": return try await VersionCommand.entry.call(Array(words.dropFirst()))
            default: break
            }
            if first.hasPrefix("-") && first != "-" {
                let name = first.prefix { $0 != "=" }
                throw UsageError("unknown option \(name): options come after the command; see skillbus --help")
            }
            guard let entry = CommandTable.entry(first) else {
                let near = nearestName(to: first, in: CommandTable.entries.map(\.word))
                let meant = near.map { "did you mean \"\($0)\"? See" } ?? "see"
                throw UsageError("unknown command \"\(first)\": \(meant) skillbus --help")
            }
            return try await entry.call(Array(words.dropFirst()))
        } catch {
            return report(error)
        }
    }

    /// The words after the program's name; nil if one is not UTF-8. `CommandLine.arguments` would repair it silently.
    private static func arguments() -> [String]? {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let bytes = CommandLine.unsafeArgv[index], let word = String(validatingCString: bytes) else {
                return nil
            }
            words.append(word)
        }
        return words
    }
}
