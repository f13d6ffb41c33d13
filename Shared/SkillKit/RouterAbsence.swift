/// When to say that a worker is not registered with a router: soon, for who has just typed a wrong address, and then
/// rarely, for who reads the log of a week. A value; it reads no clock.
struct RouterAbsence {
    /// How often to look.
    static let interval = Duration.seconds(1)
    /// A router that restarts takes less.
    private static let first = Duration.seconds(10)
    private static let again = Duration.seconds(300)

    private var since: ContinuousClock.Instant
    private var next: ContinuousClock.Instant

    init(since: ContinuousClock.Instant) {
        self.since = since
        next = since + RouterAbsence.first
    }

    /// Notes how it is now. Returns for how many seconds it has not been registered, when that is to be said.
    mutating func look(isRegistered: Bool, at now: ContinuousClock.Instant) -> Int? {
        if isRegistered {
            since = now
            next = now + RouterAbsence.first
            return nil
        }
        guard now >= next else { return nil }
        next = now + RouterAbsence.again
        return Int((now - since).components.seconds)
    }
}
