import Synchronization
import Testing
import ThreadSanitizer

@testable import Bus

/// That `make test-tsan` sees what it should, and only that.
@Suite(.enabled(if: thread_sanitizer_is_on())) struct ThreadSanitizerTests {
    /// Runs a closure on four threads at once, until all have ended.
    private static func onFourThreads(_ body: @escaping @Sendable () -> Void) throws {
        let done = Count()
        for number in 1...4 {
            runThread(named: "race \(number)") {
                body()
                done.value.subtract(1, ordering: .acquiringAndReleasing)
            }
        }
        while done.value.load(ordering: .acquiring) > 0 {}
    }

    private final class Count: Sendable {
        let value = Atomic(4)
    }

    private final class Unguarded: @unchecked Sendable { var count = 0 }

    @Test func aRaceIsReported() async {
        // With the exit code that the sanitizer has by default.
        await #expect(processExitsWith: .exitCode(66)) {
            let unguarded = Unguarded()
            try Self.onFourThreads { for _ in 0..<10_000 { unguarded.count += 1 } }
        }
    }

    @Test func whatIsBehindAContendedMutexIsNone() async {
        await #expect(processExitsWith: .success) {
            let numbers = Box()
            try Self.onFourThreads {
                for number in 0..<10_000 {
                    numbers.values.withLock { $0.count > 100 ? $0.removeAll() : $0.append(number) }
                }
            }
        }
    }

    private final class Box: Sendable { let values = Mutex([Int]()) }
}
