import Bus
import SessionStore
import StoreTesting
import Synchronization
import Telemetry
import TestSupport
import Testing
import Wire

@testable import Gateway

/// The router's side, as a record of what it was told.
final class RouterRecord: OpenRequests.Router {
    struct Record: Sendable {
        var acknowledged: [Execution] = []
        var cancelled: [Identifier] = []
        var answers: [(Execution, Bool)] = []
        var dispatched: [Identifier] = []
        var approvals: [RequestProgress.Answer] = []
    }
    let record = Mutex(Record())
    var now: Record { record.withLock { $0 } }

    func acknowledge(_ executions: [Execution]) { record.withLock { $0.acknowledged += executions } }
    func cancel(_ request: Identifier, generation: UInt32) { record.withLock { $0.cancelled.append(request) } }
    func approve(_ execution: Execution, _ party: String, _ isAllowed: Bool) {
        let answer = RequestProgress.Answer(execution: execution, party: party, isAllowed: isAllowed)
        record.withLock { $0.approvals.append(answer) }
    }
    func answer(mayStart execution: Execution, _ granted: Bool) {
        record.withLock { $0.answers.append((execution, granted)) }
    }
}

/// Open requests over a real store and a recorded router; time passes only as a test says.
final class Bench: Sendable {
    let folder: TemporaryFolder
    let store: UnreliableStore
    let followers = Followers()
    let requests: OpenRequests
    let router = RouterRecord()
    let session = Identifier.timeOrdered(milliseconds: UInt64(Timestamp.now.milliseconds))

    init(patience: OpenRequests.Patience = OpenRequests.Patience()) async throws {
        folder = try TemporaryFolder()
        store = UnreliableStore(try SQLiteSessionStore(folder: folder.path))
        let log = Log(service: "test", to: { _ in })
        requests = OpenRequests(store: store, followers: followers, log: log, patience: patience)
        try await store.createSession(session, owner: "local", at: .now)
        requests.attach(router: router) { [weak self] request in
            guard let self, let (generation, _) = self.requests.beginDispatch(request) else { return }
            self.requests.dispatch(request, generation: generation, now: 0) { _ in
                self.router.record.withLock { $0.dispatched.append(request) }
                return true
            }
        }
    }

    /// Accepts a request of one step, `echo` unless another plan is given.
    func accept(
        _ text: String = "hello",
        enqueued: Bool = false,
        interrupts: Bool = false,
        endsOnDisconnect: Bool = false,
        plan: Plan? = .single("echo"),
        timeout: UInt64 = 1000
    ) async throws -> Identifier {
        let request = Identifier.timeOrdered(milliseconds: UInt64(Timestamp.now.milliseconds))
        let composer = EventComposer(session: session, request: request)
        let router = requests.currentRouter
        let acceptance = Acceptance(
            request: request,
            session: session,
            owner: "local",
            time: .now,
            text: text,
            input: Array("{}".utf8),
            timeout: Int64(timeout),
            whenBusy: enqueued ? .enqueue : .parallel,
            endsOnDisconnect: endsOnDisconnect,
            events: [composer.accepted(text: text, attachments: [], at: .now)],
            router: router
        )
        let outcome = try await withCheckedContinuation { continuation in
            store.accept(acceptance) { [requests, session] result in
                if case .success(.accepted(let number)) = result {
                    requests.accepted(
                        request,
                        session: session,
                        number: number,
                        enqueued: enqueued,
                        interrupts: interrupts,
                        endsOnDisconnect: endsOnDisconnect,
                        plan: plan,
                        router: router,
                        timeout: timeout,
                        now: 0
                    )
                }
                continuation.resume(returning: result)
            }
        }.get()
        guard case .accepted = outcome else { throw JobError(code: "not accepted", message: "\(outcome)") }
        return request
    }

    func report(
        _ request: Identifier,
        _ first: UInt64,
        _ reports: Occurrence.Report...,
        step: UInt16 = 1,
        generation: UInt32 = 1,
        attempt: UInt32 = 1,
        from router: Identifier? = nil
    ) {
        let header = Header(
            .event,
            job: request.job(step: step),
            generation: generation,
            attempt: attempt,
            sequence: first
        )
        let read = reports.map { report -> (report: Occurrence.Report, outcome: RequestProgress.Outcome?) in
            switch report {
            case .finished(let json, _):
                guard let finished = try? JSONBody.decode(JobFinished.self, from: json) else {
                    Issue.record("the end of a job is no JobFinished")
                    return (report, nil)
                }
                return (report, .finished(finished.output))
            case .failed(let error): return (report, .failed(error))
            default: return (report, nil)
            }
        }
        requests.reported(header, read, from: router, now: 0)
    }

    func events() async throws -> [SessionEvent] {
        try await store.events(of: session, owner: "local", after: 0, maxBytes: 1 << 24).events.map {
            try JSONBody.decode(SessionEvent.self, from: $0.json)
        }
    }

    /// Waits until an event of the type is stored for the request.
    @discardableResult
    func event(_ type: String, of request: Identifier) async throws -> SessionEvent? {
        func find() async throws -> SessionEvent? {
            try await events().first { $0.type == type && $0.request == "\(request)" }
        }
        #expect(try await eventually { try await find() != nil }, "no \(type)")
        return try await find()
    }

    func types(of request: Identifier) async throws -> [String] {
        try await events().filter { $0.request == "\(request)" }.map(\.type)
    }
}

@Suite struct OpenRequestsTests {
    let routerOne = Identifier(high: 1, low: 0)
    let routerTwo = Identifier(high: 2, low: 0)

    @Test func requestsWaitForARouterAndGoInOrder() async throws {
        let bench = try await Bench()
        let first = try await bench.accept()
        let second = try await bench.accept()
        #expect(bench.router.now.dispatched.isEmpty)
        bench.requests.routerReady(routerOne, now: 0)
        let third = try await bench.accept()
        #expect(bench.router.now.dispatched == [first, second, third])
    }

    /// What its worker still says here is neither stored nor acknowledged: the other gateway is to hear it.
    @Test func whatAnotherGatewayGoesOnWithIsLetGoOf() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        let waiting = try await bench.accept(enqueued: true)
        bench.report(request, 1, .started(JobStarted(worker: "w", engine: "offline")))
        try await bench.event("job.started", of: request)
        let told = Mutex<Bool?>(nil)
        bench.store.hold()
        bench.requests.cancel(request, reason: "x", now: 0) { isStored in told.withLock { $0 = isStored } }
        bench.requests.superseded(request, epoch: 7)
        #expect(bench.requests.has(request), "of another epoch")
        bench.requests.superseded(request, epoch: 1)
        #expect(!bench.requests.has(request) && told.withLock { $0 } == false)
        #expect(bench.requests.waiting.bytes == 0)
        bench.store.letGo()
        bench.report(request, 2, Trial.finished("late"))
        bench.requests.tick(now: 1 << 40)
        try await bench.event("request.failed", of: waiting)
        #expect(bench.router.now.acknowledged.isEmpty)
        #expect(try await bench.types(of: request) == ["request.accepted", "job.started"])
    }

    /// As of a gateway that gave it back: the router that is here is another than the one that has it.
    @Test func whatAnotherRouterHasIsTakenOverUnderANewGeneration() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        bench.requests.superseded(request)
        bench.requests.routerReady(routerTwo, now: 0)
        let record = try await bench.store.openRequest(request)
        #expect(record.router == routerOne)
        let progress = RequestProgress(request: request, generation: record.generation)
        bench.requests.restore(record, progress: progress, remaining: 1000, now: 0)
        #expect(await eventually { bench.router.now.dispatched.count == 2 })
        let stored = try await bench.store.openRequest(request)
        #expect(stored.generation == 2 && stored.router == routerTwo)
    }

    @Test func anEndIsAcknowledgedAfterItsCommitAndOnlyOnce() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        bench.report(request, 1, .started(JobStarted(worker: "w", engine: "offline")), .delta("a"))
        bench.report(request, 3, Trial.finished("a"))
        let end = try await bench.event("request.finished", of: request)
        #expect(end?.data["output"]?["text"]?.string == "a")
        #expect(await eventually { bench.router.now.acknowledged.count == 1 })
        #expect(
            try await bench.types(of: request) == [
                "request.accepted", "job.started", "job.delta", "job.finished", "request.finished",
            ]
        )
        #expect(await eventually { bench.requests.count == 0 })
        // Sent again because the acknowledgement was lost: acknowledged again, stored no more.
        bench.report(request, 3, Trial.finished("a"))
        #expect(bench.router.now.acknowledged.count == 2)
        #expect(try await bench.events().count == 5)
    }

    @Test func anotherRouterGetsItUnderALaterGeneration() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        bench.requests.routerLost(now: 0)
        bench.requests.routerReady(routerOne, now: 0)
        #expect(bench.router.now.dispatched.count == 2)
        #expect(bench.requests.beginDispatch(request)?.generation == 1)
        bench.requests.routerReady(routerTwo, now: 0)
        #expect(await eventually { bench.router.now.dispatched.count == 3 })
        #expect(bench.requests.beginDispatch(request)?.generation == 2)
        #expect(try await bench.store.openRequest(request).generation == 2)
    }

    @Test func withSeveralRoutersOneThatIsAwayIsWaitedForAMoment() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, isOnly: false, now: 0)
        let request = try await bench.accept(timeout: 60_000)
        #expect(bench.router.now.dispatched == [request])
        bench.requests.routerReady(routerTwo, isOnly: false, now: 0)
        bench.requests.routerLost(routerOne, now: 1000)
        bench.requests.tick(now: 1999)
        #expect(bench.requests.beginDispatch(request)?.generation == 1)
        bench.requests.routerReady(routerOne, isOnly: false, now: 1999)
        #expect(bench.router.now.dispatched == [request, request])
        bench.requests.routerLost(routerOne, now: 2000)
        bench.requests.tick(now: 3000)
        #expect(await eventually { bench.router.now.dispatched.count == 3 })
        let record = try await bench.store.openRequest(request)
        #expect(record.generation == 2 && record.router == routerTwo)
        // Nothing of the router that had it is taken any more; it is told when it comes back.
        bench.report(request, 1, Trial.finished("old"), from: routerOne)
        #expect(bench.requests.elsewhere(than: routerOne).map(\.generation) == [2])
        #expect(bench.requests.elsewhere(than: routerTwo).isEmpty)
        bench.report(request, 1, Trial.finished("new"), generation: 2, from: routerTwo)
        let end = try await bench.event("request.finished", of: request)
        #expect(end?.data["output"]?["text"]?.string == "new")
    }

    @Test func whatWasTakenOverGoesOnUnderItsNumbers() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept(timeout: 60_000)
        bench.report(request, 1, .delta("a"))
        #expect(
            bench.requests.begunJobs(of: request) == [
                Execution(job: request.job(step: 1), generation: 1, attempt: 1)
            ]
        )
        bench.requests.routerReady(routerTwo, now: 0)
        #expect(await eventually { bench.router.now.dispatched.count == 2 })
        #expect(bench.requests.beginDispatch(request)?.generation == 2)
        bench.report(request, 2, .delta("b"), Trial.finished("ab"), from: routerTwo)
        try await bench.event("request.finished", of: request)
        let types = try await bench.types(of: request)
        #expect(!types.contains("job.retrying") && types.count { $0 == "job.delta" } >= 1)
        #expect(bench.requests.begunJobs(of: request).isEmpty)
    }

    @Test func aRouterThatDrainsHandsItsRequestsToTheOther() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, isOnly: false, now: 0)
        let request = try await bench.accept(timeout: 60_000)
        bench.requests.routerReady(routerTwo, isOnly: false, now: 0)
        bench.requests.routerDrains(routerOne)
        #expect(bench.requests.currentRouter == routerTwo)
        // What it has it ends; what it refuses goes on.
        bench.requests.tick(now: 1)
        #expect(bench.router.now.dispatched == [request])
        let draining = JobError(code: "draining", message: "")
        bench.requests.refused(draining, Header(.nack, job: request, generation: 1), now: 0)
        #expect(await eventually { bench.router.now.dispatched == [request, request] })
        #expect(try await bench.store.openRequest(request).router == routerTwo)
    }

    @Test func whatWaitsForTheStoreIsBounded() async throws {
        let bench = try await Bench(patience: OpenRequests.Patience(requestBytes: 3000, bytes: 5000))
        bench.requests.routerReady(routerOne, now: 0)
        let first = try await bench.accept()
        let second = try await bench.accept()
        bench.store.hold()
        let text = String(repeating: "x", count: 1000)
        // The first message is on its way to the store; of those behind it there is room for one.
        for number in UInt64(1)...9 { bench.report(first, number, .delta(text)) }
        #expect(bench.requests.waiting == (bytes: 2 * 1256, refused: 7))
        for number in UInt64(1)...9 { bench.report(second, number, .delta(text)) }
        #expect(bench.requests.waiting.bytes <= 5000)
        // Larger than all the room there is, but alone: it is taken, or an answer could never come.
        let third = try await bench.accept()
        bench.report(third, 1, Trial.finished(String(repeating: "y", count: 8000)))
        bench.report(first, 10, Trial.finished("whole"))
        #expect(!bench.router.now.acknowledged.contains { $0.job.request == first })
        bench.store.letGo()
        try await bench.event("request.finished", of: third)
        #expect(await eventually { bench.requests.waiting.bytes == 0 })
        // The end comes again, as it was not acknowledged, and heals what is missing.
        bench.report(first, 10, Trial.finished("whole"))
        let end = try await bench.event("request.finished", of: first)
        #expect(end?.data["output"]?["text"]?.string == "whole")
        #expect(await eventually { bench.router.now.acknowledged.contains { $0.job.request == first } })
        #expect(bench.requests.waiting.bytes == 0)
    }

    @Test func whoCancelsIsToldWhenThatIsOnDisk() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        bench.store.hold()
        let told = Mutex<[Bool]>([])
        let note: @Sendable (Bool) -> Void = { isStored in told.withLock { $0.append(isStored) } }
        bench.requests.cancel(request, reason: "r", now: 0, then: note)
        bench.requests.tick(now: 1999)
        #expect(told.withLock { $0 }.isEmpty)
        // The disk takes its time: whoever asks is told so.
        bench.requests.tick(now: 2000)
        #expect(told.withLock { $0 } == [false])
        bench.requests.cancel(request, reason: "r", now: 2000, then: note)
        #expect(told.withLock { $0 } == [false])
        bench.store.letGo()
        #expect(await eventually { told.withLock { $0 } == [false, true] })
        try await bench.event("request.cancelled", of: request)
        bench.requests.cancel(request, reason: "r", now: 2000, then: note)
        #expect(told.withLock { $0 } == [false, true, true])
    }

    @Test func aRouterIsOnDiskBeforeItGetsARequest() async throws {
        let bench = try await Bench()
        // Accepted while none was there.
        let request = try await bench.accept()
        bench.store.hold()
        bench.requests.routerReady(routerOne, now: 0)
        #expect(bench.router.now.dispatched.isEmpty)
        bench.store.letGo()
        #expect(await eventually { bench.router.now.dispatched == [request] })
        #expect(try await bench.store.openRequest(request).router == routerOne)
        bench.requests.routerReady(routerTwo, now: 0)
        #expect(await eventually { bench.router.now.dispatched == [request, request] })
        let record = try await bench.store.openRequest(request)
        #expect(record.router == routerTwo && record.generation == 2)
    }

    @Test func aRouterThatShutsDownIsNoFailure() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        let draining = JobError(code: "draining", message: "")
        bench.requests.refused(draining, Header(.nack, job: request, generation: 1), now: 0)
        bench.requests.tick(now: 1)
        #expect(bench.router.now.dispatched.count == 1)
        bench.requests.routerReady(routerTwo, now: 0)
        #expect(await eventually { bench.router.now.dispatched.count == 2 })
        #expect(try await bench.types(of: request) == ["request.accepted"])
    }

    @Test func aRouterThatIsNewerThanASkillsWorkersIsAskedToWaitForThem() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, skills: ["echo"], now: 0)
        bench.requests.routerReady(routerTwo, skills: ["other"], now: 0)
        let request = try await bench.accept(timeout: 60_000)
        #expect(await eventually { bench.router.now.dispatched == [request] })
        let unknown = JobError(code: JobError.Code.unknownSkill, message: "m")
        bench.requests.refused(unknown, Header(.nack, job: request, generation: 1), now: 0)
        #expect(await eventually { bench.router.now.dispatched == [request, request] })
        #expect(try await bench.store.openRequest(request).generation == 2)
        // Asked once more it has waited.
        bench.requests.refused(unknown, Header(.nack, job: request, generation: 2), now: 0)
        try await bench.event("request.failed", of: request)
    }

    @Test func aSkillThatNobodyEverHadIsUnknownAtOnce() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, skills: ["other"], now: 0)
        let request = try await bench.accept(timeout: 60_000)
        let unknown = JobError(code: JobError.Code.unknownSkill, message: "m")
        bench.requests.refused(unknown, Header(.nack, job: request, generation: 1), now: 0)
        let end = try await bench.event("request.failed", of: request)
        #expect(end?.data["error"]?["code"] == "unknown_skill")
    }

    @Test func whatMustNotRunTwiceAndMayHaveRunIsNotSaidToBeUndone() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept(timeout: 60_000)
        bench.requests.mayStart(Execution(job: request.job(step: 1), generation: 1, attempt: 1), now: 0)
        let gone = JobError(code: JobError.Code.noWorker, message: "m", retryable: true)
        bench.requests.refused(gone, Header(.nack, job: request, generation: 1), now: 0)
        let end = try await bench.event("request.failed", of: request)
        #expect(end?.data["error"]?["code"] == "outcome_unknown")
    }

    @Test func enqueuedRequestsGoOneAfterTheOther() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let first = try await bench.accept()
        let second = try await bench.accept(enqueued: true)
        let third = try await bench.accept(enqueued: true, timeout: 60_000)
        #expect(bench.router.now.dispatched == [first])
        bench.report(first, 1, Trial.finished("1"))
        #expect(await eventually { bench.router.now.dispatched == [first, second] })
        bench.requests.cancel(second, reason: "r", now: 0)
        bench.requests.tick(now: 2000)
        #expect(await eventually { bench.router.now.dispatched == [first, second, third] })
    }

    @Test func anInterruptCancelsWhatRuns() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let first = try await bench.accept()
        let second = try await bench.accept(interrupts: true)
        #expect(await eventually { bench.router.now.cancelled == [first] })
        #expect(bench.router.now.dispatched == [first, second])
        bench.report(first, 1, Trial.failed("cancelled"))
        try await bench.event("request.cancelled", of: first)
    }

    @Test func aCancelEndsByItselfWhenNobodyAnswers() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        bench.requests.cancel(request, reason: "the user", now: 100)
        #expect(await eventually { bench.router.now.cancelled == [request] })
        bench.requests.tick(now: 1000)
        #expect(bench.requests.count == 1)
        bench.requests.tick(now: 1100)
        #expect(try await bench.event("request.cancelled", of: request)?.data["reason"]?.string == "the user")
        // What runs on all the same is told once more, and stored no more.
        #expect(await eventually { bench.requests.count == 0 })
        bench.report(request, 1, .delta("late"))
        #expect(bench.router.now.cancelled == [request, request])
        #expect(try await bench.types(of: request).last == "request.cancelled")
    }

    @Test func aCancelBeforeAnyRouterIsThereEndsAtOnce() async throws {
        let bench = try await Bench()
        let request = try await bench.accept()
        bench.requests.cancel(request, reason: "the user", now: 0)
        try await bench.event("request.cancelled", of: request)
    }

    @Test func timeLimitsEndARequest() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept(timeout: 1000)
        bench.requests.tick(now: 2999)
        #expect(bench.requests.count == 1)
        bench.requests.tick(now: 3000)
        #expect(try await bench.event("request.failed", of: request)?.data["error"]?["code"]?.string == "timeout")
        #expect(bench.router.now.cancelled == [request])
    }

    @Test func withoutARouterARequestFailsAfterAWhile() async throws {
        let bench = try await Bench()
        let request = try await bench.accept(timeout: 600_000)
        bench.requests.tick(now: 29_999)
        #expect(bench.requests.count == 1)
        bench.requests.tick(now: 30_000)
        #expect(try await bench.event("request.failed", of: request)?.data["error"]?["code"]?.string == "no_router")
    }

    @Test func whoLeavesLastTakesHisRequestsWithHim() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let bound = try await bench.accept(endsOnDisconnect: true)
        let free = try await bench.accept()
        let left = Mutex(0)
        let leave: @Sendable (Identifier) -> Void = { session in
            left.withLock { $0 += 1 }
            bench.requests.lastFollowerLeft(session, now: 0)
        }
        let one = bench.followers.add(to: bench.session, lastLeft: leave)
        let two = bench.followers.add(to: bench.session, lastLeft: leave)
        one.stop()
        one.stop()
        #expect(left.withLock { $0 } == 0)
        two.stop()
        #expect(left.withLock { $0 } == 1)
        #expect(await eventually { bench.router.now.cancelled == [bound] })
        bench.report(free, 1, Trial.finished("done"))
        try await bench.event("request.finished", of: free)
    }

    @Test func followersAreWokenByCommits() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let follower = bench.followers.add(to: bench.session) { _ in }
        let request = try await bench.accept()
        var changes = follower.changes.makeAsyncIterator()
        #expect(await changes.next() != nil)
        bench.report(request, 1, Trial.finished("done"))
        var seen: [StoredEvent] = []
        while seen.last?.type != "request.finished" {
            #expect(await changes.next() != nil)
            // A wake-up may stand for several commits: read until nothing is left.
            while case let page = try await bench.store.events(
                of: bench.session,
                owner: "local",
                after: seen.last?.seq ?? 0,
                maxBytes: 200
            ).events, !page.isEmpty {
                seen += page
            }
        }
        #expect(seen.map(\.seq) == Array(1...UInt64(seen.count)))
    }

    @Test func aJobThatMustNotRunTwiceAsksAndIsStoredFirst() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        let first = Execution(job: request.job(step: 1), generation: 1, attempt: 0)
        bench.requests.mayStart(first, now: 0)
        #expect(await eventually { bench.router.now.answers.count == 1 })
        #expect(bench.router.now.answers[0] == (first, true))
        let second = Execution(job: request.job(step: 1), generation: 2, attempt: 0)
        bench.requests.mayStart(second, now: 0)
        #expect(await eventually { bench.router.now.answers.count == 2 })
        #expect(bench.router.now.answers[1] == (second, false))
        let end = try await bench.event("request.failed", of: request)
        #expect(end?.data["error"]?["code"]?.string == "outcome_unknown")
    }

    @Test func whatCannotBeStoredEndsTheRequestWithTheReason() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let request = try await bench.accept()
        bench.store.refuse(1)
        bench.report(request, 1, .delta("a"))
        let end = try await bench.event("request.failed", of: request)
        #expect(end?.data["error"]?["code"]?.string == "store_unavailable")
        #expect(await eventually { bench.router.now.cancelled == [request] })
        #expect(await eventually { bench.requests.count == 0 })
        // Its session goes on.
        let next = try await bench.accept(enqueued: true)
        #expect(await eventually { bench.router.now.dispatched == [request, next] })
    }

    @Test func anEndThatCannotBeStoredIsReplacedAndThenLetGoOf() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let first = try await bench.accept()
        bench.store.refuse(1)
        bench.report(first, 1, Trial.finished("a"))
        try await bench.event("request.failed", of: first)
        let second = try await bench.accept()
        bench.store.refuse(2)
        bench.report(second, 1, Trial.finished("a"))
        #expect(await eventually { bench.requests.count == 0 })
        #expect(try await bench.types(of: second) == ["request.accepted"])
    }

    @Test func manyDeltasOfManyJobsKeepTheirOrder() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(routerOne, now: 0)
        let plan = Trial.plan("a", "b", "c", "d")
        let request = try await bench.accept(plan: plan)
        await withTaskGroup(of: Void.self) { group in
            for step in UInt16(1)...4 {
                group.addTask {
                    for number in UInt64(1)...500 { bench.report(request, number, .delta("\(number),"), step: step) }
                    let text = (1...500).map { "\($0)," }.joined()
                    bench.report(request, 501, Trial.finished(text), step: step)
                }
            }
        }
        try await bench.event("request.finished", of: request)
        let events = try await bench.events()
        let expected = (1...500).map { "\($0)," }.joined()
        for step in 1...4 {
            let text = events.filter { $0.type == "job.delta" && $0.step == "s\(step)" }
                .compactMap { $0.data["text"]?.string }.joined()
            #expect(text == expected)
        }
        #expect(events.count < 2000, "deltas that wait together are joined")
    }
}
