import Wire

/// How long jobs of a skill wait for a worker, by what its jobs have taken so far, and how many may wait because of that.
/// A value that reads no clock.
///
/// A burst is queued as long as it will have begun within `longestWait`. A queue that has been standing for that time is
/// no burst: more is asked than can be done. Then only as many may wait as begin within the time of one job, so that what
/// is taken ends in about twice the time that it takes without a queue, and the others know at once. That is over when
/// the queue has been short for a while.
struct Backlog {
    /// Milliseconds that may always be waited for: short jobs would not notice more.
    private static let leastWait: Double = 200
    /// Milliseconds for which a queue is short before bursts are queued again.
    private static let calm: UInt64 = 2000
    /// Jobs over which the time that one takes is averaged.
    private static let memory = 16

    /// Milliseconds that a job is at a worker, on average; nil while none has ended.
    private(set) var duration: Double?
    /// Milliseconds from one start to the next.
    private(set) var pace: Double?
    /// Whether more is asked than can be done.
    private(set) var isStanding = false
    private var samples = 0
    private var longSince: UInt64?
    private var shortSince: UInt64?

    /// A job has ended after so many milliseconds at a worker.
    mutating func ended(after time: UInt64) {
        samples = min(samples + 1, Backlog.memory)
        let time = Double(time)
        duration = duration.map { $0 + (time - $0) / Double(samples) } ?? time
    }

    /// Looks at the queue.
    /// - Parameters:
    ///   - waiting: Jobs that wait.
    ///   - running: Jobs that are at workers.
    ///   - longest: Milliseconds that a job of a burst may wait; 0 for as long as it takes.
    ///   - now: Milliseconds of the steady clock.
    /// - Returns: How many jobs may wait.
    mutating func bound(waiting: Int, running: Int, longest: UInt64, now: UInt64) -> Int {
        guard let duration, longest > 0, running > 0 else { return Limits.queuedJobsPerSkill }
        let pace = max(duration, 0.01) / Double(running)
        self.pace = pace
        let short = min(max(duration, Backlog.leastWait), Double(longest))
        let wait = Double(waiting) * pace
        if wait > short / 2 { shortSince = nil } else { shortSince = shortSince ?? now }
        if wait > short { longSince = longSince ?? now } else if !isStanding { longSince = nil }
        if let longSince, now >= longSince + longest { isStanding = true }
        if let shortSince, now >= shortSince + Backlog.calm {
            isStanding = false
            longSince = nil
        }
        let allowed = isStanding ? short : Double(longest)
        // One for each slot at least, or workers would idle between two jobs.
        return min(max(Int(allowed / pace), running), Limits.queuedJobsPerSkill)
    }

    /// Milliseconds until so many waiting jobs have begun; a second where nothing is known.
    func wait(for waiting: Int) -> UInt64 { pace.map { UInt64(Double(waiting) * $0) } ?? 1000 }
}
