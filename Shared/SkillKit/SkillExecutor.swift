internal import Bus
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// Runs skills: the short ones on the bus thread between its turns, the others on threads of their own.
///
/// Waking a thread and being woken by it costs more than a small job does. So the bus thread works itself as long as
/// jobs are short; when one is not, another thread takes the bus over (``BusWork``), and for a while jobs go to threads
/// of their own. These are handed the jobs of one turn with one wake-up, and what they report goes back with one: as
/// long as the bus thread is going to look by itself within a millisecond, a report waits until the queue is empty.
final class SkillExecutor: TaskExecutor, BusWork {
    /// How long the bus thread works before it looks for messages, in nanoseconds.
    private static let stretch: UInt64 = 300_000
    /// For how long the bus thread does not work itself after a job that was long, in milliseconds.
    private static let caution: UInt64 = 250

    private struct State {
        var jobs: [UnownedJob] = []
        var head = 0
        var threads = 0
        var idle = 0
        /// Whether the bus thread is handing jobs over and will ask for its next step when it is done.
        var isCollecting = false
        /// Whether the bus thread will look again within a millisecond.
        var isWatched = false
        /// Whether the bus thread is working on jobs.
        var isPerforming = false
        /// When the bus thread may work on jobs again.
        var performFrom: UInt64 = 0

        var isEmpty: Bool { head == jobs.count }

        mutating func next() -> UnownedJob? {
            guard head < jobs.count else { return nil }
            defer {
                head += 1
                if head == jobs.count {
                    jobs.removeAll(keepingCapacity: true)
                    head = 0
                }
            }
            return jobs[head]
        }
    }

    private enum Help { case none, wake, start }

    private let state = Mutex(State())
    private let work = WorkSignal()
    private let owesReport = Atomic(false)
    private let stretchEnd = Atomic<UInt64>(0)
    private let limit: Int
    private let report: @Sendable () -> Void

    /// Makes an executor with no thread yet.
    /// - Parameters:
    ///   - threads: How many there may be.
    ///   - report: Tells the bus thread that there is something to send.
    init(threads: Int, report: @escaping @Sendable () -> Void) {
        limit = max(threads, 1)
        self.report = report
    }

    /// As many threads as there are processors, since skills compute.
    static var defaultThreads: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 2) }

    /// Takes a piece of work. From any thread.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        give(
            state.withLock { state in
                state.jobs.append(job)
                return state.isCollecting || state.isPerforming ? .none : help(&state)
            }
        )
    }

    /// From the bus thread: more jobs are about to come; nobody need be woken before ``next(now:mayPerform:)``.
    func collect() { state.withLock { $0.isCollecting = true } }

    /// Has the bus thread send what skills have said: now, or when it turns by itself.
    func reportSoon() {
        let mayWait = state.withLock { $0.isPerforming || $0.isWatched && !$0.isEmpty }
        if mayWait {
            owesReport.store(true, ordering: .sequentiallyConsistent)
        } else {
            report()
        }
    }

    /// Whether a task that could go on should let others come first: always, unless the bus thread has begun to work
    /// and has time left.
    var mustYield: Bool { Monotonic.nanoseconds > stretchEnd.load(ordering: .relaxed) }

    private func help(_ state: inout State) -> Help {
        if state.idle > 0 {
            state.idle -= 1
            return .wake
        }
        guard state.threads < limit else { return .none }
        state.threads += 1
        return .start
    }

    private func give(_ help: Help) {
        switch help {
        case .none: break
        case .wake: work.signal()
        case .start: startThread(named: "skill") { [self] in run() }
        }
    }

    private func run() {
        while true {
            if let job = state.withLock({ $0.next() }) {
                job.runSynchronously(on: asUnownedTaskExecutor())
                continue
            }
            if owesReport.exchange(false, ordering: .sequentiallyConsistent) {
                report()
                continue
            }
            let mayRest = state.withLock { state in
                guard state.isEmpty else { return false }
                state.idle += 1
                return true
            }
            if mayRest { work.wait() }
        }
    }

    // MARK: The bus thread

    func next(now: UInt64, mayPerform: Bool) -> BusWorkStep {
        let (help, step) = state.withLock { state -> (Help, BusWorkStep) in
            let isNew = state.isCollecting
            state.isCollecting = false
            let wasWatched = state.isWatched
            state.isWatched = false
            // A report may have waited for this turn after what was to be sent had been taken: then another one.
            guard !state.isEmpty else { return (.none, wasWatched ? .waitShortly : .wait) }
            if mayPerform, now >= state.performFrom {
                state.isPerforming = true
                return (.none, .perform)
            }
            let help = self.help(&state)
            state.isWatched = isNew || help != .none
            return (help, state.isWatched || wasWatched ? .waitShortly : .wait)
        }
        give(help)
        return step
    }

    func perform() {
        let end = Monotonic.nanoseconds + SkillExecutor.stretch
        stretchEnd.store(end, ordering: .relaxed)
        while let job = state.withLock({ $0.isPerforming ? $0.next() : nil }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
            if Monotonic.nanoseconds > end { return }
        }
    }

    @discardableResult
    func performed() -> Bool {
        state.withLock { state in
            state.isPerforming = false
            return !state.isEmpty
        }
    }

    func overran(now: UInt64) {
        state.withLock { state in
            state.isPerforming = false
            state.performFrom = now + SkillExecutor.caution
        }
    }
}
