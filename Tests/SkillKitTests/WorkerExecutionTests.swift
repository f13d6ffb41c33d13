import Bus
import Telemetry
import Testing
import Wire

@testable import SkillKit

/// What one attempt says, and when it is sent.
struct WorkerExecutionTests {
    struct Quiet: Skill {
        static let manifest = SkillManifest(id: "quiet", description: "Says nothing.")
        func execute(
            _ input: SkillInput,
            _ arguments: NoArguments,
            _ context: SkillContext
        ) async throws -> SkillOutput { SkillOutput(text: "") }
    }

    let execution: WorkerExecution

    init() throws {
        let job = Identifier.timeOrdered(milliseconds: 1).job(step: 1)
        execution = WorkerExecution(
            execution: Execution(job: job, generation: 1, attempt: 2),
            skill: try HostedSkill(Quiet(), worker: "w"),
            startTime: 0,
            deadline: 60_000
        )
    }

    private func kinds(_ message: Outgoing?) throws -> [String] {
        let body = try #require(message).body
        var cursor = EventRecordCursor()
        var texts: [String] = []
        while let record = try cursor.next(in: body.span.bytes) {
            texts.append("\(record.kind) \(String(decoding: body[record.payload], as: UTF8.self))")
        }
        return texts
    }

    @Test func smallDeltasWaitForCompanyAndTheEndForNobody() throws {
        #expect(execution.record(.started, []))
        let started = execution.flush(now: 1000).message
        #expect(started?.header.sequence == 1)
        #expect(execution.record(.delta, text: "a"))
        #expect(!execution.record(.delta, text: "b"))
        let early = execution.flush(now: 1001)
        #expect(early.message == nil)
        let due = try #require(early.next)
        #expect(due > 1001)
        #expect(try kinds(execution.flush(now: due).message) == ["delta ab"])
        #expect(execution.record(.delta, text: "c"))
        #expect(execution.flush(now: due + 1).message == nil)
        #expect(execution.record(.finished, Array("{}".utf8)))
        let end = execution.flush(now: due + 1).message
        #expect(try kinds(end) == ["delta c", "finished {}"])
        #expect(end?.header.flags == .terminal)
        #expect(end?.header.sequence == 3)
        #expect(end?.header.value == 2)
    }

    @Test func afterTheEndNothingIsSaid() {
        #expect(execution.record(.failed, [], isRetryable: true))
        #expect(!execution.record(.delta, text: "late"))
        let end = execution.flush(now: 10).message
        #expect(end?.header.flags == [.terminal, .failed, .retryable])
        #expect(execution.flush(now: 20).message == nil)
        #expect(execution.sentTerminal?.header.flags.contains(.resent) == true)
    }

    @Test func whatIsFencedIsSilent() {
        _ = execution.record(.delta, text: "a")
        execution.fence()
        #expect(execution.flush(now: 100).message == nil)
        #expect(!execution.record(.finished, []))
        #expect(execution.sentTerminal == nil)
    }

    @Test func aRouterThatIsAwayCostsABoundedOutbox() throws {
        let piece = String(repeating: "x", count: 200_000)
        for _ in 0..<100 {
            _ = execution.record(.thinking, text: "t")
            _ = execution.record(.delta, text: piece)
        }
        _ = execution.record(.finished, [])
        let message = try #require(execution.flush(now: 1).message)
        #expect(message.body.count < 9 * 1024 * 1024)
        // What was dropped is seen by the numbers.
        #expect(message.header.sequence > 1)
        #expect(message.header.sequence + message.header.value - 1 == 201)
    }

    @Test func aRouterThatIsAwayIsToldOnceHoweverMuchIsSaid() {
        #expect(execution.record(.progress, Array("{}".utf8)))
        for _ in 0..<1000 {
            #expect(!execution.record(.progress, Array("{}".utf8)))
            #expect(!execution.record(.delta, text: "d"))
        }
        #expect(!execution.record(.finished, []))
        #expect(execution.flush(now: 1).message?.header.value == 2002)
    }

    @Test func whatMayWaitIsAskedForAgainWhenItBecomesUrgent() {
        #expect(execution.record(.started, []))
        #expect(!execution.record(.delta, text: "d"))
        #expect(execution.record(.progress, Array("{}".utf8)))
        #expect(!execution.record(.finished, []))
    }

    @Test func anEndThatWasNeverSentHoldsNoSlotOnceItIsFenced() {
        _ = execution.returned()
        #expect(execution.recordEnd(text: "answer", Array("{}".utf8)))
        #expect(!execution.givesSlotBack())
        execution.fence()
        #expect(execution.givesSlotBack())
        #expect(!execution.givesSlotBack())
    }

    @Test func whatIsStoppedHasALimitFromThenOn() {
        #expect(execution.stopLimit == 60_000 + WorkerRuntime.stopGrace)
        #expect(execution.stop(JobError(code: "cancelled", message: "m"), now: 1000))
        #expect(execution.stopLimit == 1000 + WorkerRuntime.stopGrace)
    }

    @Test func aStopIsGivenOnce() {
        #expect(execution.stop(JobError(code: "cancelled", message: "m"), now: 1))
        #expect(!execution.stop(JobError(code: "timeout", message: "m"), now: 2))
        #expect(execution.stopReason?.code == "cancelled")
    }
}

extension WorkerExecution.Flush {
    fileprivate var message: Outgoing? { if case .message(let message, _) = self { message } else { nil } }
    fileprivate var next: UInt64? { if case .later(let time) = self { time } else { nil } }
}

extension WorkerExecutionTests {
    @Test(arguments: [true, false]) func whatIsTooMuchAtOnceEndsTheJobByName(isPartial: Bool) throws {
        let long = String(repeating: "x", count: Limits.event)
        let event = isPartial ? SkillEvent.partial(SkillOutput(text: long)) : .progress(message: long, fraction: nil)
        let registration = Registration(
            worker: "w",
            instance: .none,
            host: "h",
            pid: 1,
            product: "t",
            concurrency: 1,
            manifests: []
        )
        let runtime = WorkerRuntime(
            skills: [],
            registration: registration,
            client: try BusClient(),
            log: Log(service: "test", to: { _ in }),
            onReady: {},
            onEnd: { _ in }
        )
        let task = Task<Void, Never> { try? await Task.sleep(for: .seconds(60)) }
        let handle = TaskHandle()
        handle.set(task)
        #expect(execution.begin(in: handle))
        runtime.report(event, of: execution)
        let said = try kinds(execution.flush(now: 1000).message)
        #expect(said.count == 1 && said[0].hasPrefix("failed ") && said[0].contains("event_too_large"))
        #expect(said[0].contains("\(Limits.event)"))
        #expect(task.isCancelled)
        // What the skill says and returns after that is not heard.
        runtime.report(.textDelta("more"), of: execution)
        runtime.finish(execution, SkillOutput(text: "all"), hasStreamedText: false)
        #expect(execution.flush(now: 2000).message == nil)
    }
}
