import Bus
import Synchronization
import Testing
import Wire

@testable import SkillKit

/// The bus thread's part is played by the test where one is needed; else jobs run on the executor's own threads.
struct ExecutionTasksTests {
    private let executor = SkillExecutor(threads: 2) {}

    /// Runs what it is told to, and notes in which task.
    private final class Runner: ExecutionRunner {
        /// Kept, so that no two of them can be at one address.
        let tasks = Mutex<[TaskHandle]>([])
        private let body: @Sendable (Int) async -> Bool
        private let ended = AsyncStream<Int>.makeStream()

        init(_ body: @escaping @Sendable (Int) async -> Bool) { self.body = body }

        func run(_ work: ExecutionTasks.Work, in task: TaskHandle) async -> Bool {
            tasks.withLock { $0.append(task) }
            let number = Int(work.input.text) ?? 0
            let isIntact = await body(number)
            ended.continuation.yield(number)
            return isIntact
        }

        /// How many tasks have run something.
        var taskCount: Int { Set(tasks.withLock { $0 }.map { ObjectIdentifier($0) }).count }

        /// The numbers of the next executions that end.
        func ends(_ count: Int) async -> [Int] {
            var numbers: [Int] = []
            for await number in ended.stream {
                numbers.append(number)
                if numbers.count == count { break }
            }
            return numbers
        }
    }

    private func add(_ numbers: some Sequence<Int>, to tasks: ExecutionTasks, for runner: Runner) throws {
        let skill = try HostedSkill(WorkerExecutionTests.Quiet(), worker: "w")
        for number in numbers {
            let job = Identifier.timeOrdered(milliseconds: UInt64(number)).job(step: 1)
            tasks.add(
                ExecutionTasks.Work(
                    runner: runner,
                    execution: WorkerExecution(
                        execution: Execution(job: job, generation: 1, attempt: 1),
                        skill: skill,
                        startTime: 0,
                        deadline: 60_000
                    ),
                    input: JobInput(session: "s", text: "\(number)"),
                    frames: []
                )
            )
        }
    }

    @Test(.timeLimit(.minutes(1))) func shortJobsOfATurnRunInOneTask() async throws {
        let tasks = ExecutionTasks(on: executor)
        let runner = Runner { _ in true }
        executor.collect()
        try add(0..<20, to: tasks, for: runner)
        while executor.next(now: 10, mayPerform: true) == .perform {
            executor.perform()
            executor.performed()
        }
        #expect(await runner.ends(20) == Array(0..<20))
        // More only where a processor was taken away for longer than the bus thread works at a stretch.
        #expect(runner.taskCount <= 3)
    }

    @Test(.timeLimit(.minutes(1))) func jobsThatWaitHoldNoOtherUp() async throws {
        let tasks = ExecutionTasks(on: executor)
        let gates = (0..<50).map { _ in AsyncStream<Never>.makeStream() }
        let runner = Runner { number in
            if number < gates.count { for await _ in gates[number].stream {} }
            return true
        }
        try add(0...50, to: tasks, for: runner)
        #expect(await runner.ends(1) == [50])
        for gate in gates.reversed() { gate.continuation.finish() }
        #expect(Set(await runner.ends(50)) == Set(0..<50))
    }

    @Test(.timeLimit(.minutes(1))) func aTaskThatIsNotIntactIsNotUsedAgain() async throws {
        let tasks = ExecutionTasks(on: executor)
        let runner = Runner { _ in false }
        try add(0..<10, to: tasks, for: runner)
        #expect(Set(await runner.ends(10)) == Set(0..<10))
        #expect(runner.taskCount == 10)
    }

    @Test(.timeLimit(.minutes(1))) func everythingRunsHoweverItIsAdded() async throws {
        let tasks = ExecutionTasks(on: executor)
        let runner = Runner { number in
            if number.isMultiple(of: 3) { await Task.yield() }
            return !number.isMultiple(of: 7)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask { try add(part * 250..<(part + 1) * 250, to: tasks, for: runner) }
            }
            try await group.waitForAll()
        }
        #expect(Set(await runner.ends(2000)) == Set(0..<2000))
    }

    @Test func aHandleCancelsATaskThatIsNotKnownYet() async {
        let handle = TaskHandle()
        handle.cancel()
        let task = Task<Void, Never> {}
        handle.set(task)
        #expect(task.isCancelled)
    }
}

extension WorkerExecutionTests {
    @Test func aStopBeforeTheBeginningLetsNothingBegin() {
        execution.stop(JobError(code: "cancelled", message: "m"), now: 1)
        #expect(!execution.begin(in: TaskHandle()))
        #expect(!execution.returned().leavesTaskIntact)
    }

    @Test func aStopAfterTheEndCancelsNoTask() {
        let handle = TaskHandle()
        let task = Task<Void, Never> { try? await Task.sleep(for: .seconds(60)) }
        handle.set(task)
        #expect(execution.begin(in: handle))
        #expect(execution.returned().leavesTaskIntact)
        execution.stop(JobError(code: "cancelled", message: "m"), now: 1)
        execution.fence()
        #expect(!task.isCancelled)
        task.cancel()
    }
}
