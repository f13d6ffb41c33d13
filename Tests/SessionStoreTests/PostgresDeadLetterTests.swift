import Telemetry
import TestSupport
import Testing
import Wire

@testable import SessionStore

/// What several gateways, and stores from before there was a list, add to what ``DeadLetterTests`` tries on every store.
@Suite(.serialized, .enabled(if: PostgresServer.programs != nil)) struct PostgresDeadLetterTests {
    private let url: String

    init() async throws { url = try await PostgresServer.shared().database() }

    private func open(_ name: String) async throws -> PostgresSessionStore {
        try await PostgresSessionStore(PostgresAddress(url), name: name, connections: 2)
    }

    /// A request with a job that is given up.
    private func giveUp(_ session: TestSession) async throws -> Identifier {
        let request = try await session.request()
        let end = JobEvents(
            execution: Execution(job: request.job(step: 1), generation: 1, attempt: 4),
            skill: "echo",
            lastSequence: 0,
            events: [draft("job.failed")],
            outcome: JobError.Code.deadLettered
        )
        try await session.append(request, .job(end), .end(.failed, draft("request.failed"), answer: ""))
        return request.job(step: 1)
    }

    @Test func twoGatewaysSendOneAgainOnce() async throws {
        let stores = [try await open("a"), try await open("b")]
        let sessions = [try await TestSession(stores[0]), try await TestSession(stores[1])]
        for _ in 0..<20 {
            let letter = try await giveUp(sessions[0])
            let outcomes = try await withThrowingTaskGroup(of: AcceptanceOutcome.self) { group in
                for session in sessions {
                    group.addTask {
                        var again = session.acceptance()
                        again.retryOf = letter
                        return try await session.accept(again)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let retriedAs = try await stores[0].deadLetter(letter, owner: "someone").summary.retriedAs
            #expect(outcomes.count { if case .accepted = $0 { true } else { false } } == 1, "\(outcomes)")
            #expect(outcomes.contains(.replayed(try #require(retriedAs))), "\(outcomes)")
        }
        for store in stores { await store.close() }
    }

    /// What is on the list comes before all that is added later, whichever gateway adds it: nobody who reads it by
    /// pages misses any.
    @Test func theListGrowsOnlyAtItsStart() async throws {
        let stores = [try await open("a"), try await open("b")]
        // Between its number and its commit each takes a different time.
        try await PostgresServer.query(
            """
            CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_sleep(random() / 20); RETURN NULL; END $$;
            CREATE TRIGGER linger AFTER INSERT ON skillbus.dead_letters FOR EACH ROW EXECUTE FUNCTION public.linger()
            """,
            at: url
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for _ in 0..<3 {
                    group.addTask {
                        let session = try await TestSession(store)
                        for _ in 0..<10 { _ = try await giveUp(session) }
                    }
                }
            }
            group.addTask {
                var seen: [Identifier] = []
                while seen.count < 60 {
                    let list = try await stores[1].deadLetters(owner: "someone", before: nil, limit: 100).map(\.job)
                    #expect(Array(list.suffix(seen.count)) == seen)
                    seen = list
                }
            }
            try await group.waitForAll()
        }
        #expect(try await PostgresSessionStore.check(PostgresAddress(url)).problems == [])
        for store in stores { await store.close() }
    }

    /// A store of the first version, with a job that was given up.
    private func firstVersion() async throws {
        try PostgresSchema.migrate(PostgresConnection(PostgresAddress(url), name: "old"), to: 1)
        try await PostgresServer.query(
            """
            SET search_path = skillbus;
            INSERT INTO sessions(id, owner, created, updated, next_seq, first_seq)
            VALUES('01000000-0000-0000-0000-000000000000', 'someone', 1, 1, 3, 3);
            INSERT INTO requests(id, session, owner, state, owner_gateway, enqueued, ends_alone, timeout, created, ended,
                accepted_seq, terminal_seq, text, input)
            SELECT '02000000-0000-0000-0000-000000000000', number, 'someone', 'open',
                '00000000-0000-0000-0000-000000000000', false, false, 1, 1, NULL, 1, NULL, 'old', '{}' FROM sessions;
            INSERT INTO jobs(id, request, skill, generation, attempt, last_seq, attempts, started, ended, outcome, log)
            SELECT '02000000-0000-0000-0000-000000000001', number, 'echo', 1, 3, 1, 3, 1, 2, 'dead_lettered', 1
            FROM requests
            """,
            at: url
        )
    }

    @Test func whatWasGivenUpBeforeThereWasAListIsOnIt() async throws {
        try await firstVersion()
        let before = try await PostgresSessionStore.check(PostgresAddress(url))
        #expect(before.version == 1 && before.current == 4 && before.problems.isEmpty)
        let store = try await open("new")
        let list = try await store.deadLetters(owner: "someone", before: nil, limit: 9)
        #expect(list.map(\.text) == ["old"] && list.map(\.attempts) == [3] && list.map(\.time.milliseconds) == [2])
        await store.close()
        #expect(try await PostgresSessionStore.check(PostgresAddress(url)).version == 4)
    }

    /// A step goes over whole tables. That takes longer than any other statement may, and comes to its end.
    @Test func aStepMayTakeLongerThanAnyStatement() async throws {
        try await firstVersion()
        try await PostgresServer.query(
            """
            CREATE FUNCTION public.linger() RETURNS event_trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_sleep(9); END $$;
            CREATE EVENT TRIGGER linger ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
                EXECUTE FUNCTION public.linger()
            """,
            at: url
        )
        let store = try await open("new")
        #expect(try await store.deadLetters(owner: "someone", before: nil, limit: 9).map(\.text) == ["old"])
        await store.close()
    }
}
