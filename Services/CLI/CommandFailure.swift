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
    case is OutputClosed: return ExitCode.success
    case let error as UsageError:
        printError("skillbus: \(Terminal.safe(error.description))")
        return ExitCode.usage
    case let error as CommandFailure:
        printError("skillbus: \(Terminal.safe(error.message))")
        return error.code
    case ClientError.cancelled: return ExitCode.interrupted
    case let error as ClientError:
        printError("skillbus: \(Terminal.safe(error.description))")
        switch error {
        case .unreachable, .interrupted, .timeout: return ExitCode.unreachable
        case .invalidURL: return ExitCode.usage
        default: return ExitCode.failure
        }
    default:
        printError("skillbus: \(Terminal.safe("\(error)"))")
        return ExitCode.failure
    }
}
