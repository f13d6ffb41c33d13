internal import Lifecycle
internal import Synchronization

/// SIGINT and SIGTERM, for whoever is running: a command that has something to end first takes them over.
final class Interrupts: Sendable {
    static let shared = Interrupts()

    private let handler = Mutex<(@Sendable (Int32) -> Void)?>(nil)

    /// Starts to listen. Without a handler a signal ends the program at once.
    func start() {
        let signals = terminationSignals()
        Task.detached { [self] in
            for await signal in signals {
                if let handler = handler.withLock({ $0 }) {
                    handler(signal)
                } else {
                    leave(ExitCode.interrupted)
                }
            }
        }
    }

    /// Sets what happens on a signal; nil for the end of the program. Returns what happened before, to be set again.
    @discardableResult
    func handle(_ body: (@Sendable (Int32) -> Void)?) -> (@Sendable (Int32) -> Void)? {
        handler.withLock { handler in
            defer { handler = body }
            return handler
        }
    }
}
