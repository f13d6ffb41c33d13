internal import Bus
internal import Synchronization
internal import Wire

/// The tasks that run executions, each of them many, one after the other: to make a task costs more than a small job.
///
/// While something waits, one task is on its way to take it, whatever the others do: a job that waits or computes holds
/// no other up. A task that has been cancelled with its job ends with it, for nothing else could run in it.
final class ExecutionTasks: Sendable {
    /// An execution, what it works on, and who can run it. A class, since it is handed on several times and a copy would
    /// have a reference to count for each field of the input.
    final class Work: Sendable {
        let runner: any ExecutionRunner
        let execution: WorkerExecution
        let input: JobInput
        let frames: [SharedFrame]

        init(runner: any ExecutionRunner, execution: WorkerExecution, input: JobInput, frames: [SharedFrame]) {
            self.runner = runner
            self.execution = execution
            self.input = input
            self.frames = frames
        }
    }

    private struct State {
        var waiting: [Work] = []
        var head = 0
        /// Tasks that are on their way here.
        var coming = 0
        /// Tasks that have nothing to do.
        var idle: [CheckedContinuation<Void, Never>] = []

        var isEmpty: Bool { head == waiting.count }

        mutating func next() -> Work? {
            guard head < waiting.count else { return nil }
            defer {
                head += 1
                if head == waiting.count {
                    waiting.removeAll(keepingCapacity: waiting.count <= 1024)
                    head = 0
                }
            }
            return waiting[head]
        }

        /// Whether another one must be sent for: one is on its way as long as something waits.
        mutating func needsHelp() -> Bool {
            guard !isEmpty, coming == 0 else { return false }
            coming = 1
            return true
        }
    }

    private let state = Mutex(State())
    private let executor: SkillExecutor

    /// Makes no task yet.
    init(on executor: SkillExecutor) { self.executor = executor }

    /// Takes an execution.
    func add(_ work: Work) {
        let needsHelp = state.withLock { state in
            state.waiting.append(work)
            return state.needsHelp()
        }
        if needsHelp { sendForHelp() }
    }

    private func sendForHelp() {
        if let idle = state.withLock({ $0.idle.popLast() }) { return idle.resume() }
        let handle = TaskHandle()
        handle.set(Task(executorPreference: executor) { [self] in await serve(handle) })
    }

    private func serve(_ handle: TaskHandle) async {
        var isComing = true
        while true {
            let (work, needsHelp) = state.withLock { state -> (Work?, Bool) in
                if isComing { state.coming -= 1 }
                return (state.next(), state.needsHelp())
            }
            if needsHelp { sendForHelp() }
            guard let work else {
                await rest()
                isComing = true
                continue
            }
            guard await work.runner.run(work, in: handle) else { return }
            isComing = executor.mustYield
            if isComing {
                state.withLock { $0.coming += 1 }
                await Task.yield()
            }
        }
    }

    /// Returns when there may be something to do. The task counts as one that is coming then.
    private func rest() async {
        await withCheckedContinuation { continuation in
            let mustGoOn = state.withLock { state in
                guard state.isEmpty else {
                    state.coming += 1
                    return true
                }
                state.idle.append(continuation)
                return false
            }
            if mustGoOn { continuation.resume() }
        }
    }
}

/// Runs executions in tasks that are given to it.
protocol ExecutionRunner: AnyObject, Sendable {
    /// Runs an execution to its end in the task with that handle.
    /// - Returns: Whether the task can run another one: it has not been cancelled, and will not be by this one.
    nonisolated(nonsending) func run(_ work: ExecutionTasks.Work, in task: TaskHandle) async -> Bool
}

/// A task that can be cancelled before it is known.
final class TaskHandle: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
    }
    private let state = Mutex(State())

    /// Says which task it is.
    func set(_ task: Task<Void, Never>) {
        let isLate = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isLate { task.cancel() }
    }

    /// Cancels it, now or as soon as it is known.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
