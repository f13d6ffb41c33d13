internal import Lifecycle
internal import SessionClient

/// The time that a command may take, from when it began.
struct TimeLimit: Sendable {
    /// As the user gave it.
    let seconds: Double
    /// When it is over.
    let end: ContinuousClock.Instant

    init(_ seconds: Double) {
        self.seconds = seconds
        end = .now + .seconds(seconds)
    }

    /// What to say when it has passed.
    var words: String { "no answer within \(seconds < 0.05 ? "\(seconds) s" : StatusLines.seconds(seconds))" }
}

/// Runs a call of the gateway under a time limit.
/// - Throws: what the body throws; `CommandFailure` when the time has passed.
func within<Value: Sendable>(
    _ limit: TimeLimit?,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(until: limit.end)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let value = first else {
            throw CommandFailure(limit.words, code: ExitCode.timeout)
        }
        return value
    }
}
