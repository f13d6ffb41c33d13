internal import Synchronization

/// A few threads for work that is too long for a task: what comes while all are busy waits for the first that is free.
/// They start when they are first needed, and stay.
public final class WorkThreads: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
        var idle = 0
    }
    private let state = Mutex(State())
    private let signal = WorkSignal()
    private let name: String
    private let limit: Int

    /// Up to `limit` threads.
    public init(named name: String, limit: Int) {
        self.name = name
        self.limit = max(limit, 1)
    }

    /// Runs the closure on one of the threads, some time.
    public func run(_ work: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.waiting.append(work)
            if state.idle > 0 {
                state.idle -= 1
                signal.signal()
                return false
            }
            guard state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        if mustStart { startThread(named: name) { [self] in serve() } }
    }

    private func serve() {
        while true {
            let work = state.withLock { state -> (@Sendable () -> Void)? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.idle += 1
                return nil
            }
            if let work { work() } else { signal.wait() }
        }
    }
}
