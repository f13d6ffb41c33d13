internal import Glibc
internal import Lifecycle
internal import Synchronization

/// The threads that skills run on, apart from the bus thread, which must always have time for heartbeats.
///
/// Waking a thread costs more than a small job does. So the jobs of one turn of the bus thread are handed over with one
/// wake-up, and what they report goes back with one: as long as the bus thread is going to look by itself within a
/// millisecond (``release()``), a report waits until the queue is empty. A job that runs for long holds up neither: the
/// bus thread then wakes another thread for those behind it.
final class SkillExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var head = 0
        var threads = 0
        var idle = 0
        /// Whether the bus thread is handing jobs over and will say when it is done.
        var isCollecting = false
        /// Whether the bus thread will look again within a millisecond.
        var isWatched = false

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
                return state.isCollecting ? .none : help(&state)
            }
        )
    }

    /// From the bus thread: more jobs are about to come; nobody need be woken before ``release()``.
    func collect() { state.withLock { $0.isCollecting = true } }

    /// From the bus thread, at each turn and before it takes what is to be sent: lets what was collected run, and helps
    /// where jobs wait behind a long one.
    /// - Returns: Whether the bus thread must turn again within a millisecond.
    func release() -> Bool {
        let (help, isWatched) = state.withLock { state -> (Help, Bool) in
            let isNew = state.isCollecting
            state.isCollecting = false
            guard !state.isEmpty else {
                state.isWatched = false
                return (.none, false)
            }
            let help = self.help(&state)
            state.isWatched = isNew || help != .none
            return (help, state.isWatched)
        }
        give(help)
        return isWatched
    }

    /// Has the bus thread send what skills have said: now, or when the queue is empty.
    func reportSoon() {
        let mayWait = state.withLock { $0.isWatched && !$0.isEmpty }
        if mayWait {
            owesReport.store(true, ordering: .sequentiallyConsistent)
        } else {
            report()
        }
    }

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
}
