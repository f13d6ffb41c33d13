import Wire

/// How long jobs of a skill wait for a worker, by what its jobs have taken so far, and how many may wait because of that.
/// A value that reads no clock.
///
/// A burst is queued as long as it will have begun within `longest`. What tells an overload from a burst is that it goes
/// on: a burst comes, and then the queue becomes shorter. Where a long queue does not become shorter over two windows, and
/// takes ``patience`` by now or has lasted for that, more is asked than can be done. Then only as many may wait as begin
/// within the time of one job, so that what is taken ends in twice the time that it takes without a queue, and the others
/// know at once. That is over when the queue has been short, on average, for a while.
struct Backlog {
    /// Milliseconds that may always be waited for: gateways need some to send more when there is room again.
    private static let leastWait: Double = 50
    /// Milliseconds over which it is averaged how full the queue is.
    private static let calm: Double = 2000
    /// How full it is then, of what gateways fill it up to, before bursts are queued again: where more is asked than can
    /// be done it is nearly full, and a skill that has half as much to do as it can has less.
    private static let calmFullness = 0.5
    /// Jobs over which the time that one takes is averaged.
    private static let memory = 16
    /// Windows in a row in which the queue has not become shorter.
    private static let proof = 2

    /// Milliseconds that a job is at a worker, on average; nil while none has ended.
    private(set) var duration: Double?
    /// Milliseconds from one start to the next.
    private(set) var pace: Double?
    /// Whether more is asked than can be done.
    private(set) var isStanding = false
    private var samples = 0
    private var longSince: UInt64?
    /// Of half the wait that is allowed while more is asked than can be done, how much there was on average.
    private var fullness: Double = 0
    private var lookedAt: UInt64 = 0
    /// Jobs at workers when last something waited: so many can run.
    private var slots = 0
    /// When the running window began, and how many waited then.
    private var window: (start: UInt64, waiting: Int)?
    /// Windows in a row at whose end as many waited as at their beginning, or more.
    private var steady = 0

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
        // Where nothing waits, or no worker is there for a moment, fewer run than can.
        slots = isStanding && (waiting == 0 || running == 0) ? max(running, slots) : running
        guard let duration, longest > 0, slots > 0 else { return Limits.queuedJobsPerSkill }
        let pace = max(duration, 0.01) / Double(slots)
        self.pace = pace
        let short = min(max(duration, Backlog.leastWait), Double(longest))
        let wait = Double(waiting) * pace
        if isStanding {
            fullness += (min(wait / short * 2, 1) - fullness) * min(Double(now - lookedAt) / Backlog.calm, 1)
            if fullness < Backlog.calmFullness { isStanding = false }
        } else if wait <= short {
            (longSince, window, steady) = (nil, nil, 0)
        } else {
            let since = longSince ?? now
            longSince = since
            if now >= since + longest || goesOn(waiting, wait, duration, longest, since, now) {
                isStanding = true
                fullness = 1
                (longSince, window, steady) = (nil, nil, 0)
            }
        }
        lookedAt = now
        let allowed = isStanding ? short : Double(longest)
        // One for each slot at least, or workers would idle between two jobs.
        return min(max(Int(allowed / pace), slots), Limits.queuedJobsPerSkill)
    }

    /// Milliseconds of waiting, or of a queue that does not become shorter, that are no burst any more.
    private static func patience(_ duration: Double, _ longest: UInt64) -> Double {
        min(max(4 * duration, 2000), Double(longest))
    }

    /// Whether as much comes as can be done, or more, while the queue is long already.
    private mutating func goesOn(
        _ waiting: Int,
        _ wait: Double,
        _ duration: Double,
        _ longest: UInt64,
        _ longSince: UInt64,
        _ now: UInt64
    ) -> Bool {
        guard let window else {
            self.window = (now, waiting)
            return false
        }
        // In less time, what is done is too little to be told from chance.
        guard Double(now - window.start) >= max(2 * duration, 200) else { return false }
        steady = waiting >= window.waiting ? steady + 1 : 0
        self.window = (now, waiting)
        guard steady >= Backlog.proof else { return false }
        let patience = Backlog.patience(duration, longest)
        return wait >= patience || Double(now - longSince) >= patience
    }

    /// Milliseconds until so many waiting jobs have begun; a second where nothing is known.
    func wait(for waiting: Int) -> UInt64 { pace.map { UInt64(Double(waiting) * $0) } ?? 1000 }
}
