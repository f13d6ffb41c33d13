import Bus
import Credentials
import Testing
import Wire

@testable import Router

/// Outputs that are used again, and jobs that wait for one.
struct CacheTests {
    /// A router with a cache and one worker of a skill that may be cached.
    private func bench(
        ttl: Double = 600,
        idempotent: Bool = true,
        credit: Int = 8,
        limit: Int = 1_000_000
    ) throws -> (Bench, Peer) {
        var bench = Bench()
        bench.dispatcher.cache = OutputCache(limit: limit)
        let peer = try worker(&bench, ttl: ttl, idempotent: idempotent, credit: credit)
        return (bench, peer)
    }

    private func worker(
        _ bench: inout Bench,
        version: String = "1.0.0",
        ttl: Double = 600,
        idempotent: Bool = true,
        credit: Int = 8,
        peer: UInt32 = 1
    ) throws -> Peer {
        try bench.worker(
            credit: credit,
            version: version,
            idempotent: idempotent,
            cacheTTL: ttl,
            instance: Identifier(high: UInt64(peer), low: 1),
            again: Peer(number: peer)
        )
    }

    @discardableResult
    private func submit(_ bench: inout Bench, _ input: JobInput, files: [[UInt8]] = []) throws -> Identifier {
        let request = Identifier.timeOrdered(milliseconds: 1)
        let header = Header(.submit, job: request, generation: 1)
        let parcel = Parcel(
            header: header,
            body: try JobBody.encode(skill: "echo", input: input),
            attachments: files.map { SharedFrame(Message(copying: $0)) }
        )
        bench.dispatcher.submitted(header, skill: "echo", parcel: parcel, from: bench.gateway, now: bench.now)
        return request
    }

    private func input(_ text: String = "t", session: String = "s") -> JobInput {
        JobInput(session: session, text: text)
    }

    private func finish(_ bench: inout Bench, _ execution: Execution, _ peer: Peer, _ text: String = "out") throws {
        let finished = JobFinished(output: SkillOutput(text: text), engine: "e", milliseconds: 7)
        _ = bench.event(execution, from: peer, terminal: .terminal, kind: .finished, payload: try finished.encoded())
    }

    /// The ends that the router has made itself since the last look, by their requests.
    private func ends(_ bench: inout Bench) throws -> [Identifier: JobFinished] {
        var found: [Identifier: JobFinished] = [:]
        var actions: [Dispatcher.Action] = []
        bench.dispatcher.takeActions(into: &actions)
        for case .toGateway(_, let message) in actions where message.header.flags.contains(.terminal) {
            var cursor = EventRecordCursor()
            var streamed = ""
            while let record = try cursor.next(in: message.body.span.bytes) {
                let payload = Array(message.body[record.payload])
                if record.kind == .delta { streamed += String(decoding: payload, as: UTF8.self) }
                guard record.kind == .finished else { continue }
                let finished = try JSONBody.decode(JobFinished.self, from: payload)
                #expect(!message.header.flags.contains(.failed) && message.header.sequence == 0)
                #expect(streamed == finished.output.text)
                found[message.header.job.request] = finished
            }
        }
        return found
    }

    @Test func theSameInputIsAnsweredAtOnceAndMarked() throws {
        var (bench, peer) = try bench()
        try submit(&bench, input())
        try finish(&bench, try #require(bench.taken().dispatches.first?.0), peer)
        _ = bench.taken()
        let again = try submit(&bench, input(session: "another session"))
        let end = try #require(try ends(&bench)[again])
        #expect(end.cached && end.output.text == "out" && end.engine == "e" && end.milliseconds == 0)
        // It is over, and forgotten with the gateway's acknowledgement.
        bench.dispatcher.acknowledged(Execution(job: again.job(step: 1), generation: 1, attempt: 1))
        #expect(bench.dispatcher.jobs[again.job(step: 1)] == nil)
    }

    /// What could only be done for want of something is no answer to the next one; who waited for it gets it.
    @Test func aProvisionalOutputIsNotUsedAgain() throws {
        var (bench, peer) = try bench()
        try submit(&bench, input())
        let leader = try #require(bench.taken().dispatches.first?.0)
        let follower = try submit(&bench, input(session: "another"))
        var finished = JobFinished(output: SkillOutput(text: "out"), engine: "offline", milliseconds: 7)
        finished.provisional = true
        let payload = try finished.encoded()
        _ = bench.event(leader, from: peer, terminal: .terminal, kind: .finished, payload: payload)
        let end = try #require(try ends(&bench)[follower])
        #expect(end.output.text == "out" && end.provisional == true)
        #expect(bench.dispatcher.cache.count == 0 && bench.dispatcher.cache.flights.isEmpty)
        try submit(&bench, input())
        let next = try #require(bench.taken().dispatches.first?.0)
        // And one that is whole is used again.
        try finish(&bench, next, peer)
        _ = bench.taken()
        let again = try submit(&bench, input())
        #expect(try #require(try ends(&bench)[again]).provisional == nil)
    }

    @Test(arguments: [
        "text", "material", "arguments", "history", "summary", "previous", "privacy", "tenant", "attachment",
        "no cache",
    ])
    func whatDiffersIsAnotherInput(what: String) throws {
        var (bench, peer) = try bench()
        let file: [UInt8] = [1, 2, 3]
        var first = input()
        first.tenant = 7
        try submit(&bench, first, files: [file])
        try finish(&bench, try #require(bench.taken().dispatches.first?.0), peer)
        _ = bench.taken()
        var second = first
        second.session = "another"
        second.idempotencyKey = "another"
        switch what {
        case "text": second.text = "T"
        case "material": second.material = "m"
        case "arguments": second.arguments = ["a": 1]
        case "history": second.history = [.init(role: "user", text: "h")]
        case "summary": second.summary = "s"
        case "previous": second.previous = [.init(step: "s1", skill: "a", output: SkillOutput(text: "p"))]
        case "privacy": second.privacy = .allow
        case "tenant": second.tenant = 8
        case "no cache": second.cache = false
        default: break
        }
        try submit(&bench, second, files: what == "attachment" ? [[1, 2, 4]] : [file])
        #expect(bench.taken().dispatches.count == 1, "\(what)")
        // And without the difference it is the same.
        first.session = "third"
        try submit(&bench, first, files: [file])
        #expect(bench.taken().dispatches.isEmpty)
    }

    @Test func whatMustNotBeUsedAgainIsNot() throws {
        for (ttl, idempotent) in [(0.0, true), (600.0, false)] {
            var (bench, _) = try bench(ttl: ttl, idempotent: idempotent)
            for _ in 0..<2 {
                let request = try submit(&bench, input())
                bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
            }
            #expect(bench.taken().dispatches.count == 2)
            #expect(bench.dispatcher.cache.flights.isEmpty && bench.dispatcher.cache.count == 0)
        }
        var (bench, _) = try bench(limit: 0)
        try submit(&bench, input())
        try submit(&bench, input())
        #expect(bench.taken().dispatches.count == 2)
    }

    @Test func anOutputIsUsedForItsTimeOnly() throws {
        var (bench, peer) = try bench(ttl: 30)
        try submit(&bench, input())
        try finish(&bench, try #require(bench.taken().dispatches.first?.0), peer)
        bench.now += 29_000
        let soon = try submit(&bench, input())
        #expect(try ends(&bench)[soon] != nil)
        bench.now += 2_000
        try submit(&bench, input())
        #expect(bench.taken().dispatches.count == 1)
        bench.dispatcher.cache.expire(now: bench.now)
        #expect(bench.dispatcher.cache.count == 0 && bench.dispatcher.cache.bytes == 0)
    }

    @Test func aFailureIsNotKept() throws {
        var (bench, peer) = try bench()
        try submit(&bench, input())
        let execution = try #require(bench.taken().dispatches.first?.0)
        let error = try JSONBody.encode(JobError(code: "no_text", message: "m"))
        _ = bench.event(execution, from: peer, terminal: [.terminal, .failed], kind: .failed, payload: error)
        try submit(&bench, input())
        #expect(bench.taken().dispatches.count == 1)
    }

    @Test func newWorkersMayAnswerDifferently() throws {
        var (bench, peer) = try bench()
        try submit(&bench, input())
        try finish(&bench, try #require(bench.taken().dispatches.first?.0), peer)
        // A newer version.
        let newer = try worker(&bench, version: "1.1.0", peer: 2)
        try submit(&bench, input())
        let execution = try #require(bench.taken().dispatches.first)
        #expect(execution.1 == newer)
        try finish(&bench, execution.0, newer)
        // The same version after all of its workers have gone: somebody may have changed it.
        for peer in [peer, newer] { bench.dispatcher.workerLost(peer, reason: "gone", now: bench.now) }
        _ = try worker(&bench, version: "1.1.0", peer: 3)
        try submit(&bench, input())
        #expect(bench.taken().dispatches.count == 1)
    }

    @Test func sameRequestsInFlightShareOneExecution() throws {
        var (bench, peer) = try bench(credit: 1)
        let first = try submit(&bench, input())
        let others = try (0..<5).map { try submit(&bench, input(session: "s\($0)")) }
        let dispatches = bench.taken().dispatches
        #expect(dispatches.map(\.0.job) == [first.job(step: 1)])
        try finish(&bench, try #require(dispatches.first?.0), peer)
        let ends = try ends(&bench)
        #expect(Set(ends.keys) == Set(others) && ends.values.allSatisfy(\.cached))
        #expect(bench.dispatcher.cache.flights.isEmpty && bench.dispatcher.cache.bytesWaiting == 0)
        #expect(bench.dispatcher.jobs.values.allSatisfy { $0.flight == nil })
    }

    @Test func whenTheFirstIsCancelledAnotherGoesOnForAll() throws {
        var (bench, peer) = try bench(credit: 1)
        let first = try submit(&bench, input())
        let (second, third) = (try submit(&bench, input()), try submit(&bench, input()))
        let running = try #require(bench.taken().dispatches.first?.0)
        bench.dispatcher.cancelled(first, now: bench.now)
        let error = try JSONBody.encode(JobError(code: "cancelled", message: "cancelled"))
        _ = bench.event(running, from: peer, terminal: [.terminal, .failed], kind: .failed, payload: error)
        let next = bench.taken().dispatches
        #expect(next.map(\.0.job) == [second.job(step: 1)])
        try finish(&bench, try #require(next.first?.0), peer)
        #expect(Array(try ends(&bench).keys) == [third])
    }

    @Test func whenTheFirstFailsTheOthersRunThemselves() throws {
        var (bench, peer) = try bench()
        try submit(&bench, input())
        let others = [try submit(&bench, input()), try submit(&bench, input())]
        let running = try #require(bench.taken().dispatches.first?.0)
        let error = try JSONBody.encode(JobError(code: "no_text", message: "m"))
        _ = bench.event(running, from: peer, terminal: [.terminal, .failed], kind: .failed, payload: error)
        #expect(Set(bench.taken().dispatches.map(\.0.job.request)) == Set(others))
        #expect(bench.dispatcher.cache.bytesWaiting == 0)
    }

    @Test func oneThatWaitsCanBeCancelledAndRunsOutOfTime() throws {
        var (bench, peer) = try bench()
        try submit(&bench, input())
        let running = try #require(bench.taken().dispatches.first?.0)
        let gone = try submit(&bench, input())
        bench.dispatcher.cancelled(gone, now: bench.now)
        #expect(bench.taken().said == ["gateway event failed cancelled"])
        let header = Header(.submit, job: .timeOrdered(milliseconds: 1), generation: 1, value: 500)
        let late = Parcel(header: header, body: try JobBody.encode(skill: "echo", input: input()))
        bench.dispatcher.submitted(header, skill: "echo", parcel: late, from: bench.gateway, now: bench.now)
        bench.now += 600
        for worker in bench.dispatcher.registry.workers.values { worker.lastHeard = bench.now }
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said.contains("gateway event failed timeout"))
        try finish(&bench, running, peer)
        #expect(try ends(&bench).isEmpty)
        #expect(bench.dispatcher.cache.bytesWaiting == 0 && bench.dispatcher.cache.flights.isEmpty)
    }

    @Test func whoIsAskedSomethingWaitsForNobodyElse() throws {
        var (bench, peer) = try bench()
        var asked = input()
        asked.privacy = .ask
        try submit(&bench, asked)
        try submit(&bench, asked)
        let dispatches = bench.taken().dispatches
        #expect(dispatches.count == 2)
        for (execution, _) in dispatches { try finish(&bench, execution, peer) }
        #expect(bench.dispatcher.cache.flights.isEmpty)
        _ = bench.taken()
        // What he was answered is there for him all the same.
        let third = try submit(&bench, asked)
        #expect(try ends(&bench)[third]?.cached == true)
    }

    /// A request that is submitted anew takes its part in a flight with it.
    @Test func oneThatIsSupersededLeaves() throws {
        var (bench, peer) = try bench(credit: 1)
        let first = try submit(&bench, input())
        let second = try submit(&bench, input())
        _ = bench.taken()
        bench.dispatcher.superseded(first, generation: 2, now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(said == ["worker fenced"] && dispatches.isEmpty)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.credited(worker, free: 1, seen: 1, now: bench.now)
        #expect(bench.taken().dispatches.map(\.0.job) == [second.job(step: 1)])
    }

    @Test func bytesAreBoundedAndTheOldestGoFirst() {
        var cache = OutputCache(limit: 100_000)
        func key(_ number: Int) -> CacheKey {
            CacheKey(
                tenant: 0,
                skill: "s",
                version: "1.0.0",
                era: 1,
                digest: .init { add in withUnsafeBytes(of: number) { add($0) } }
            )
        }
        let payload = [UInt8](repeating: 1, count: 1000)
        for number in 0..<10_000 {
            cache.store(payload, text: "", for: key(number), until: 10)
            #expect(cache.bytes <= cache.limit)
        }
        #expect(cache.output(for: key(0), now: 1) == nil)
        #expect(cache.output(for: key(9_999), now: 1) != nil)
        #expect(cache.count == 100_000 / 1256)
        cache.store([UInt8](repeating: 1, count: 13_000), text: "", for: key(-1), until: 10)
        #expect(cache.output(for: key(-1), now: 1) == nil)
    }
}
