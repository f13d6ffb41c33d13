internal import SkillKit
internal import Wire

/// Calls of skills that are made at the same time.
enum CallGroup {
    /// Makes a call.
    typealias Call = @Sendable () async throws(SkillError) -> SkillOutput
    /// How a call ended.
    typealias Outcome = Result<SkillOutput, SkillError>

    /// Makes the calls.
    /// - Returns: How each ended, in the order of their ends.
    /// - Throws: `CancellationError`.
    static func outcomes<Key: Sendable>(
        of calls: [(key: Key, call: Call)]
    ) async throws -> [(Key, Outcome)] {
        try await withThrowingTaskGroup(of: (Key, Outcome).self) { group in
            for (key, call) in calls {
                group.addTask {
                    do throws(SkillError) { return (key, .success(try await call())) } catch {
                        return (key, .failure(error))
                    }
                }
            }
            var outcomes: [(Key, Outcome)] = []
            for try await outcome in group { outcomes.append(outcome) }
            try Task.checkCancellation()
            return outcomes
        }
    }
}
