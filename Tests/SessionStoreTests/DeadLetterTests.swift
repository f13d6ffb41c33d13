import Telemetry
import TestSupport
import Testing
import Wire

@testable import SessionStore

/// Jobs that were given up.
@Suite struct DeadLetterTests {
    private let folder: TemporaryFolder
    private let store: SQLiteSessionStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteSessionStore(folder: folder.path)
    }

    /// The event that says that an attempt began, that another one follows, or that the job was given up.
    private func told(_ request: Identifier, _ type: String, attempt: UInt32, outcome: String? = nil) -> EventBatch.Item
    {
        .job(
            JobEvents(
                execution: Execution(job: request.job(step: 1), generation: 1, attempt: attempt),
                skill: "echo",
                lastSequence: type == "job.started" ? 1 : 0,
                events: [draft(type, "\(attempt)")],
                worker: type == "job.started" ? "w\(attempt)" : nil,
                outcome: outcome
            )
        )
    }

    private func giveUp(_ request: Identifier, of session: TestSession) async throws {
        for attempt in 1...3 as ClosedRange<UInt32> {
            if attempt > 1 { try await session.append(request, told(request, "job.retrying", attempt: attempt)) }
            try await session.append(request, told(request, "job.started", attempt: attempt))
        }
        try await session.append(
            request,
            told(request, "job.failed", attempt: 4, outcome: "dead_lettered"),
            .end(.failed, draft("request.failed"), answer: "")
        )
    }

    @Test func aJobThatIsGivenUpIsListedWithTheCommitOfItsEnd() async throws {
        let session = try await TestSession(store)
        let good = try await session.request("good")
        try await session.append(good, job(good, last: 1, outcome: "finished"))
        let bad = try await session.request("bad")
        try await giveUp(bad, of: session)
        let list = try await store.deadLetters(owner: "someone", before: nil, limit: 10)
        let letter = try #require(list.first)
        #expect(list.count == 1 && letter.job == bad.job(step: 1) && letter.text == "bad" && letter.skill == "echo")
        #expect(letter.worker == "w3" && letter.retriedAs == nil && letter.session == session.id)
        let record = try await store.deadLetter(letter.job, owner: "someone")
        #expect(
            record.attempts.map(\.type) == [
                "job.started", "job.retrying", "job.started", "job.retrying", "job.started", "job.failed",
            ]
        )
        #expect(record.last.count == 6 && record.summary == letter)
        #expect(String(decoding: letter.terminal ?? [], as: UTF8.self).contains("job.failed"))
        // Nobody else's business.
        #expect(try await store.deadLetters(owner: "another", before: nil, limit: 10).isEmpty)
        await #expect(throws: StoreError.notFound) { _ = try await store.deadLetter(letter.job, owner: "another") }
        await #expect(throws: StoreError.notFound) { try await store.discardDeadLetter(letter.job, owner: "another") }
        #expect(try SQLiteSessionStore.check(folder: folder.path).problems.isEmpty)
        await store.close()
    }

    @Test func theListGoesFromTheLatestByPages() async throws {
        let session = try await TestSession(store)
        var jobs: [Identifier] = []
        for number in 0..<3 {
            let request = try await session.request("\(number)")
            try await giveUp(request, of: session)
            jobs.insert(request.job(step: 1), at: 0)
        }
        let first = try await store.deadLetters(owner: "someone", before: nil, limit: 2)
        let second = try await store.deadLetters(owner: "someone", before: first.last?.number, limit: 2)
        #expect((first + second).map(\.job) == jobs)
        try await store.discardDeadLetter(jobs[1], owner: "someone")
        #expect(try await store.deadLetters(owner: "someone", before: nil, limit: 9).map(\.job) == [jobs[0], jobs[2]])
        await #expect(throws: StoreError.notFound) { try await store.discardDeadLetter(jobs[1], owner: "someone") }
        await store.close()
    }

    @Test func itIsSentAgainOnce() async throws {
        let session = try await TestSession(store)
        var acceptance = session.acceptance("with a file")
        acceptance.attachments = [StoredAttachment(name: "a", mediaType: "text/plain", data: [1, 2, 3])]
        _ = try await session.accept(acceptance)
        let letter = acceptance.request.job(step: 1)
        try await giveUp(acceptance.request, of: session)
        let input = try await store.deadLetterInput(letter, owner: "someone")
        #expect(input.request == acceptance.request && input.session == session.id && input.text == "with a file")
        #expect(input.attachments.map(\.bytes) == [3] && input.timeout == 60_000)
        #expect(try await store.attachment(0, of: input.request) == [1, 2, 3])

        var again = session.acceptance("with a file")
        again.retryOf = letter
        guard case .accepted = try await session.accept(again) else {
            Issue.record("not accepted")
            return
        }
        #expect(try await store.deadLetter(letter, owner: "someone").summary.retriedAs == again.request)
        var third = session.acceptance("with a file")
        third.retryOf = letter
        #expect(try await session.accept(third) == .replayed(again.request))
        // What is refused is not noted.
        let other = try await session.request("other")
        try await giveUp(other, of: session)
        var refused = session.acceptance("other", perSession: 1)
        refused.retryOf = other.job(step: 1)
        #expect(try await session.accept(refused) == .tooManyInSession(1))
        #expect(try await store.deadLetter(other.job(step: 1), owner: "someone").summary.retriedAs == nil)
        await store.close()
    }

    @Test func itGoesWithItsRequest() async throws {
        let session = try await TestSession(store)
        let request = try await session.request()
        try await giveUp(request, of: session)
        let later = Timestamp(milliseconds: Timestamp.now.milliseconds + 10 * 86_400_000)
        _ = try await store.prune(Retention(age: 86_400_000, bytes: nil), at: later)
        #expect(try await store.deadLetters(owner: "someone", before: nil, limit: 9).isEmpty)
        #expect(try SQLiteSessionStore.check(folder: folder.path).problems.isEmpty)
        await store.close()
    }

    @Test func whatWasGivenUpBeforeThereWasAListIsOnIt() async throws {
        let own = try TemporaryFolder()
        try Schema.create(at: own.file("sessions.db"), in: own.path, version: 2)
        let connection = try Connection(path: own.file("sessions.db"), readOnly: false)
        try connection.execute(
            """
            INSERT INTO sessions(id, owner, created, updated) VALUES(x'01000000000000000000000000000000', 'someone', 1, 1);
            INSERT INTO requests(id, session, owner, state, enqueued, ends_alone, timeout, created, ended, accepted_seq,
                terminal_seq, text, input)
            VALUES(x'02000000000000000000000000000000', 1, 'someone', 'failed', 0, 0, 1, 1, 2, 1, 2, 'old', x'7b7d');
            INSERT INTO jobs(id, request, skill, generation, attempt, last_seq, attempts, started, ended, outcome, log)
            VALUES(x'02000000000000000000000000000001', 1, 'echo', 1, 3, 1, 3, 1, 2, 'dead_lettered', 1);
            """
        )
        let migrated = try SQLiteSessionStore(folder: own.path)
        let list = try await migrated.deadLetters(owner: "someone", before: nil, limit: 9)
        #expect(list.map(\.text) == ["old"] && list.map(\.attempts) == [3])
        await migrated.close()
    }
}
