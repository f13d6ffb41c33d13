internal import Synchronization

/// Keeps lines that are always the same from filling a disk: so many of one message in a minute, and in the next the number of those that were left out.
final class RepeatLimit: Sendable {
    /// Lines of one message within the time.
    private static let most = 20
    private static let time = Duration.seconds(60)
    /// Messages that are told apart; a program has fewer, unless it builds them.
    private static let messages = 256

    private struct Count {
        var since: ContinuousClock.Instant
        var written = 0
        var suppressed = 0
    }
    private let counts = Mutex<[String: Count]>([:])

    /// Messages that are counted now.
    var known: Int { counts.withLock { $0.count } }

    /// Whether a line may be written: nil if not, else how many of it were left out before.
    func admit(_ message: String, at now: ContinuousClock.Instant) -> Int? {
        counts.withLock { counts in
            if counts.count >= RepeatLimit.messages, counts[message] == nil {
                counts = counts.filter { now - $0.value.since < RepeatLimit.time }
                if counts.count >= RepeatLimit.messages { counts = [:] }
            }
            var count = counts[message] ?? Count(since: now)
            defer { counts[message] = count }
            if now - count.since >= RepeatLimit.time {
                let suppressed = count.suppressed
                count = Count(since: now, written: 1)
                return suppressed
            }
            guard count.written < RepeatLimit.most else {
                count.suppressed += 1
                return nil
            }
            count.written += 1
            return 0
        }
    }
}
