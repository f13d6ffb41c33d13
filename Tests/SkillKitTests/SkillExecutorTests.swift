import Bus
import Synchronization
import Testing

@testable import SkillKit

/// The bus thread's part is played by the test: `next`, then what it says.
struct SkillExecutorTests {
    private let reports = Reports()
    private let executor: SkillExecutor

    final class Reports: Sendable {
        let count = Mutex(0)
    }

    init() {
        executor = SkillExecutor(threads: 2) { [reports] in reports.count.withLock { $0 += 1 } }
    }

    @Test func shortJobsRunOnTheBusThread() async {
        await confirmation { confirm in
            executor.collect()
            let task = Task(executorPreference: executor) { confirm() }
            #expect(executor.next(now: 10, mayPerform: true) == .perform)
            executor.perform()
            executor.performed()
            await task.value
        }
        #expect(executor.next(now: 11, mayPerform: true) == .wait)
    }

    @Test(.timeLimit(.minutes(1))) func withoutSomebodyToTakeOverJobsGoToThreadsOfTheirOwn() async {
        executor.collect()
        let task = Task(executorPreference: executor) { 7 }
        #expect(executor.next(now: 10, mayPerform: false) == .waitShortly)
        #expect(await task.value == 7)
    }

    @Test(.timeLimit(.minutes(1))) func afterALongJobTheNextOnesGoToThreadsForAWhile() async {
        executor.collect()
        let first = Task(executorPreference: executor) {}
        #expect(executor.next(now: 10, mayPerform: true) == .perform)
        executor.overran(now: 20)
        // It is another thread's now: the one that worked takes nothing more.
        executor.perform()
        executor.collect()
        let second = Task(executorPreference: executor) {}
        #expect(executor.next(now: 21, mayPerform: true) == .waitShortly)
        await first.value
        await second.value
        executor.collect()
        let third = Task(executorPreference: executor) {}
        #expect(executor.next(now: 60_000, mayPerform: true) == .perform)
        executor.perform()
        executor.performed()
        await third.value
    }

    @Test func aReportFromTheBusThreadWakesNobody() async {
        executor.collect()
        let task = Task(executorPreference: executor) { [executor] in executor.reportSoon() }
        #expect(executor.next(now: 10, mayPerform: true) == .perform)
        executor.perform()
        executor.performed()
        await task.value
        #expect(reports.count.withLock { $0 } == 0)
        executor.reportSoon()
        #expect(reports.count.withLock { $0 } == 1)
    }
}
