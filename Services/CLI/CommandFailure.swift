internal import Lifecycle
internal import SessionClient

/// Ends a command with a sentence and an exit code.
struct CommandFailure: Error {
    let code: Int32
    let message: String

    init(_ message: String, code: Int32 = ExitCode.failure) {
        self.code = code
        self.message = message
    }
}

/// Says what went wrong, and gives the exit code for it.
func report(_ error: any Error) -> Int32 {
    switch error {
    case let error as OutputClosed:
        guard let words = error.words else { return ExitCode.success }
        printError("skillbus: \(words)")
        return ExitCode.failure
    case let error as UsageError:
        printError("skillbus: \(Terminal.safe(error.description))")
        return ExitCode.usage
    case let error as CommandFailure:
        printError("skillbus: \(Terminal.safe(error.message))")
        return error.code
    case ClientError.cancelled: return ExitCode.interrupted
    case ClientError.problem(let problem) where problem.code == "session_not_found":
        printError("skillbus: \(Terminal.safe(sessionNotFound(problem)))")
        return ExitCode.failure
    case let error as ClientError:
        printError("skillbus: \(Terminal.safe(error.description))")
        switch error {
        case .unreachable, .interrupted, .timeout: return ExitCode.unreachable
        case .invalidURL, .noToken: return ExitCode.usage
        default: return ExitCode.failure
        }
    default:
        printError("skillbus: \(Terminal.safe("\(error)"))")
        return ExitCode.failure
    }
}

/// The gateway's words, as a sentence of this program, and where the right id is found.
private func sessionNotFound(_ problem: Problem) -> String {
    var words = problem.detail ?? "there is no such session"
    while words.last == "." { words.removeLast() }
    return words.prefix(1).lowercased() + words.dropFirst() + ": `skillbus sessions` lists those that there are"
}
