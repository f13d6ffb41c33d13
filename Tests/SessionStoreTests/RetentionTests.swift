import SessionStore
import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

@Suite struct RetentionTests {
    /// When all that is old happened: ten days ago.
    let then = Timestamp(milliseconds: Timestamp.now.milliseconds - 10 * day)

    private static let day: Int64 = 86_400_000
    private let week = Retention(age: 7 * day)

    /// A request that ended at a time, of about so many bytes.
    @discardableResult
    private func ended(
        _ session: TestSession,
        at time: Timestamp,
        events: Int = 1,
        bytes: Int = 1
    ) async throws -> Identifier {
        var acceptance = session.acceptance(at: time)
        acceptance.attachments = [StoredAttachment(name: "a", mediaType: "", data: [1])]
        _ = try await session.accept(acceptance)
        let request = acceptance.request
        let text = String(repeating: "x", count: bytes)
        let said = JobEvents(
            execution: Execution(job: request.job(step: 1), generation: 1, attempt: 1),
            skill: "echo",
            lastSequence: UInt64(events),
            events: (0..<events).map { _ in draft("job.delta", text) }
        )
        try await append(session, request, .job(said), at: time)
        try await append(session, request, .end(.failed, draft("request.failed"), answer: "no"), at: time)
        return request
    }

    private func append(
        _ session: TestSession,
        _ request: Identifier,
        _ items: EventBatch.Item...,
        at time: Timestamp
    ) async throws {
        let batch = EventBatch(session: session.id, request: request, time: time, items: items)
        _ = try await withCheckedContinuation { continuation in
            session.store.append(batch) { continuation.resume(returning: $0) }
        }.get()
    }

    @Test(arguments: StoreKind.all) func nothingIsDeletedUnlessSomebodySaysSo(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        try await ended(session, at: then)
        #expect(!Retention().deletes)
        #expect(try await store.prune(Retention(), at: .now) == Pruned())
        #expect(try await session.events().count == 3)
    }

    @Test(arguments: StoreKind.all) func anOldSessionGoesAndIsKnownToHaveBeenThere(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let old = try await TestSession(store)
        // More than one step deletes.
        try await ended(old, at: then, events: 2500)
        let young = try await TestSession(store)
        try await ended(young, at: .now)
        let deleted = try await store.prune(week, at: .now)
        #expect(deleted.sessions == [old.id] && deleted.requests == 1 && deleted.events == 2502)
        await #expect(throws: StoreError.pruned) { try await old.events() }
        await #expect(throws: StoreError.pruned) { try await old.accept(old.acceptance()) }
        await #expect(throws: StoreError.notFound) {
            try await store.lastSequence(of: old.id, owner: "another")
        }
        #expect(try await young.events().count == 3)
        #expect(try await store.jobs(owner: old.owner, after: nil, limit: 10).count == 1)
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func ofASessionThatIsUsedOnlyWhatIsOldGoes(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        try await ended(session, at: then)
        try await ended(session, at: then)
        try await ended(session, at: .now)
        let deleted = try await store.prune(week, at: .now)
        #expect(deleted.sessions.isEmpty && deleted.requests == 2)
        // Whoever asks for more than that sees that numbers are missing.
        #expect(try await session.events().map(\.seq) == [7, 8, 9])
        let record = try await store.session(session.id, owner: session.owner, messages: 10)
        #expect(record.requests.count == 1 && record.lastSequence == 9)
        try await store.check()
        #expect(try await store.prune(week, at: .now) == Pruned())
    }

    @Test(arguments: StoreKind.all) func aRequestThatHasNotEndedStaysWithAllThatCameAfterIt(_ kind: StoreKind)
        async throws
    {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        try await ended(session, at: then)
        let acceptance = session.acceptance(at: then)
        _ = try await session.accept(acceptance)
        try await append(session, acceptance.request, job(acceptance.request, last: 1), at: then)
        try await ended(session, at: then)
        let deleted = try await store.prune(week, at: .now)
        #expect(deleted.requests == 1 && deleted.sessions.isEmpty)
        #expect(try await session.events().map(\.seq) == [4, 5, 6, 7, 8])
        #expect(try await store.openRequests().map(\.id) == [acceptance.request])
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func requestsThatRanAtOnceGoWithTheLastOfTheirEvents(_ kind: StoreKind) async throws
    {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let old = session.acceptance(at: then)
        _ = try await session.accept(old)
        let young = try await session.request()
        try await append(session, old.request, job(old.request, last: 1, outcome: "finished"), at: then)
        try await append(session, old.request, .end(.finished, draft("request.finished"), answer: "a"), at: then)
        try await append(session, young, .end(.finished, draft("request.finished"), answer: "b"), at: .now)
        // The first event is before all that is kept, the others of the old request are among it.
        #expect(try await store.prune(week, at: .now).events == 1)
        #expect(try await session.events().map(\.seq) == [2, 3, 4, 5])
        let record = try await store.session(session.id, owner: session.owner, messages: 10)
        #expect(record.requests.map(\.answer) == ["a", "b"])
        try await store.check()
        let later = Timestamp(milliseconds: Timestamp.now.milliseconds + 8 * RetentionTests.day)
        #expect(try await store.prune(week, at: later).sessions == [session.id])
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func anEmptySessionGoesToo(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let id = newIdentifier()
        try await store.createSession(id, owner: "someone", at: then)
        #expect(try await store.prune(week, at: .now).sessions == [id])
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func aStoreThatIsTooLargeLosesWhatWasUsedLeastRecently(_ kind: StoreKind)
        async throws
    {
        let store = try await OpenStore(kind)
        let hour: Int64 = 3_600_000
        var sessions: [TestSession] = []
        for age in [5, 4, 3, 0] {
            let session = try await TestSession(store)
            let time = Timestamp(milliseconds: Timestamp.now.milliseconds - Int64(age) * hour)
            try await ended(session, at: time, events: 10, bytes: 100_000)
            sessions.append(session)
        }
        let deleted = try await store.prune(Retention(bytes: 2_500_000), at: .now)
        #expect(deleted.sessions == [sessions[0].id, sessions[1].id])
        try await store.check()
        // What somebody may be reading stays, however little there is to be.
        let rest = try await store.prune(Retention(bytes: 1), at: .now)
        #expect(rest.sessions == [sessions[2].id])
        #expect(try await sessions[3].events().count == 12)
    }

    /// While a large session is deleted, others write: between the steps.
    @Test(arguments: StoreKind.all) func deletingHoldsUpNobody(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let old = try await TestSession(store)
        try await ended(old, at: then, events: 30_000)
        let young = try await TestSession(store)
        async let deleted = store.prune(week, at: .now)
        var slowest = Duration.zero
        for _ in 0..<50 {
            let start = ContinuousClock.now
            _ = try await young.accept(young.acceptance(perSession: 1000))
            slowest = max(slowest, .now - start)
        }
        #expect(try await deleted.events == 30_002)
        #expect(slowest < .seconds(2), "\(slowest)")
        try await store.check()
    }
}
