import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

@testable import SessionStore

/// Jobs that were given up.
@Suite struct DeadLetterTests {
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

    /// A request of the session with a job that was given up.
    private func giveUp(_ session: TestSession, _ text: String = "bad") async throws -> Identifier {
        let request = try await session.request(text)
        try await giveUp(request, of: session)
        return request
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

    /// A request that a dead letter is sent again as.
    private func retry(_ session: TestSession, _ letter: Identifier, perSession: Int = 50) -> Acceptance {
        var acceptance = session.acceptance(perSession: perSession)
        acceptance.retryOf = letter
        return acceptance
    }

    @Test(arguments: StoreKind.all) func aJobThatIsGivenUpIsListedWithTheCommitOfItsEnd(_ kind: StoreKind)
        async throws
    {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let good = try await session.request("good")
        try await session.append(good, job(good, last: 1, outcome: "finished"))
        let bad = try await giveUp(session)
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
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func theListGoesFromTheLatestByPages(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        var jobs: [Identifier] = []
        for number in 0..<3 {
            let request = try await giveUp(session, "\(number)")
            jobs.insert(request.job(step: 1), at: 0)
        }
        let first = try await store.deadLetters(owner: "someone", before: nil, limit: 2)
        let second = try await store.deadLetters(owner: "someone", before: first.last?.number, limit: 2)
        #expect((first + second).map(\.job) == jobs)
        try await store.discardDeadLetter(jobs[1], owner: "someone")
        #expect(try await store.deadLetters(owner: "someone", before: nil, limit: 9).map(\.job) == [jobs[0], jobs[2]])
        await #expect(throws: StoreError.notFound) { try await store.discardDeadLetter(jobs[1], owner: "someone") }
    }

    @Test(arguments: StoreKind.all) func itIsSentAgainOnce(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
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

        let again = retry(session, letter)
        guard case .accepted = try await session.accept(again) else {
            Issue.record("not accepted")
            return
        }
        #expect(try await store.deadLetter(letter, owner: "someone").summary.retriedAs == again.request)
        #expect(try await session.accept(retry(session, letter)) == .replayed(again.request))
        // What is refused is not noted.
        let other = try await giveUp(session, "other")
        let refused = retry(session, other.job(step: 1), perSession: 1)
        #expect(try await session.accept(refused) == .tooManyInSession(1))
        #expect(try await store.deadLetter(other.job(step: 1), owner: "someone").summary.retriedAs == nil)
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func itGoesWithItsRequest(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        _ = try await giveUp(session)
        let later = Timestamp(milliseconds: Timestamp.now.milliseconds + 10 * 86_400_000)
        _ = try await store.prune(Retention(age: 86_400_000, bytes: nil), at: later)
        #expect(try await store.deadLetters(owner: "someone", before: nil, limit: 9).isEmpty)
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func ofManyWhoSendItAgainAtOnceOneDoes(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let letter = try await giveUp(session).job(step: 1)
        let outcomes = try await withThrowingTaskGroup(of: (Identifier, AcceptanceOutcome).self) { group in
            for _ in 1...8 {
                group.addTask {
                    let again = retry(session, letter)
                    return (again.request, try await session.accept(again))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let accepted = outcomes.filter { if case .accepted = $0.1 { true } else { false } }
        let only = try #require(accepted.first?.0)
        #expect(accepted.count == 1 && outcomes.count { $0.1 == .replayed(only) } == 7)
        #expect(try await store.deadLetter(letter, owner: "someone").summary.retriedAs == only)
    }

    @Test(arguments: StoreKind.all) func whatIsNotOnTheListIsNotSentAgain(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let letter = try await giveUp(session).job(step: 1)
        let other = try await TestSession(store, owner: "another")
        await #expect(throws: StoreError.notFound) { _ = try await other.accept(retry(other, letter)) }
        await #expect(throws: StoreError.notFound) { _ = try await store.deadLetterInput(letter, owner: "another") }
        try await store.discardDeadLetter(letter, owner: "someone")
        await #expect(throws: StoreError.notFound) { _ = try await session.accept(retry(session, letter)) }
        await #expect(throws: StoreError.notFound) { _ = try await store.deadLetterInput(letter, owner: "someone") }
        #expect(try await store.openRequests().isEmpty)
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
