/// How often a thread lets itself be woken for little: as it comes, until that has been more than some hundred times a second
/// for longer than a moment. Then it rests a little after each, so that what comes meanwhile comes with one wake-up: to wake a
/// thread, and the tasks behind it, costs more than what a piece of an answer needs otherwise.
struct WakePace {
    /// How long a busy thread rests, in microseconds: less than anybody sees.
    static let rest: UInt64 = 8000
    /// What may come without a rest: one event in so many microseconds,
    static let interval: UInt64 = 2000
    /// and so many at once before,
    static let burst: UInt64 = 64
    /// and how many more are counted: after a second of quiet all is forgotten.
    private static let most: UInt64 = 500
    /// From so many bytes an event on it is no piece of a text but a part of something large, which is to come fast.
    private static let large = 1024

    /// What the events of a wake-up have brought.
    var bytes = 0
    /// Whether something could be sent.
    var hasSent = false
    /// When what there was would have been due, one every interval.
    private var due: UInt64 = 0

    /// Counts a wake-up, and begins with the next.
    /// - Parameters:
    ///   - events: how many it had.
    ///   - now: in microseconds, of a clock that only goes forward.
    /// - Returns: microseconds to rest before the next.
    mutating func rest(after events: Int, at now: UInt64) -> UInt64 {
        defer {
            bytes = 0
            hasSent = false
        }
        guard events > 0, !hasSent, bytes < events * Self.large else { return 0 }
        due = min(max(due, now) + UInt64(events) * Self.interval, now + Self.most * Self.interval)
        return due - now > Self.burst * Self.interval ? Self.rest : 0
    }
}
