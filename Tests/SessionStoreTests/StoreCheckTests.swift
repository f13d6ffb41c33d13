import FoundationEssentials
import Glibc
import Telemetry
import TestSupport
import Testing
import Wire

@testable import SessionStore

/// A look at a whole store, and stores of other versions.
@Suite struct StoreCheckTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path
    }

    /// A store with an ended request, one that runs and one of another session, closed.
    private func write() async throws {
        let store = try SQLiteSessionStore(folder: path)
        let session = try await TestSession(store)
        let done = try await session.request()
        try await session.append(done, job(done, last: 1), job(done, last: 2, outcome: "finished"))
        try await session.append(done, .end(.finished, draft("request.finished"), answer: "a"))
        let open = try await session.request()
        try await session.append(open, job(open, last: 2, count: 2))
        _ = try await TestSession(store).request()
        await store.close()
    }

    private func change(_ sql: String) throws {
        let connection = try Connection(path: "\(path)/sessions.db", readOnly: false)
        try connection.execute("PRAGMA foreign_keys=OFF; \(sql); PRAGMA wal_checkpoint(TRUNCATE)")
    }

    @Test func aSoundStoreIsCountedAlsoWhileItIsInUse() async throws {
        try await write()
        let report = try SQLiteSessionStore.check(folder: path)
        #expect(report.problems.isEmpty)
        #expect(report.version == 5 && report.current == 5)
        #expect(report.sessions == 2 && report.requests == 3 && report.open == 2 && report.events == 8)
        let store = try SQLiteSessionStore(folder: path)
        _ = try await TestSession(store).request()
        let inUse = try SQLiteSessionStore.check(folder: path)
        #expect(inUse.problems.isEmpty && inUse.requests == 4)
        await store.close()
    }

    @Test(arguments: [
        ("sequence", "DELETE FROM events WHERE session = 1 AND seq = 3"),
        ("sequence", "DELETE FROM events WHERE session = 1 AND seq = 7"),
        ("sequence", "UPDATE sessions SET next_seq = next_seq + 1 WHERE number = 1"),
        ("number", "UPDATE events SET body = replace(body, '\"seq\":2,', '\"seq\":9,') WHERE session = 1 AND seq = 2"),
        ("number", "UPDATE events SET body = x'7B22' WHERE session = 1 AND seq = 2"),
        ("terminal", "UPDATE requests SET state = 'failed' WHERE number = 1"),
        ("terminal", "UPDATE requests SET state = 'finished', terminal_seq = 6 WHERE number = 2"),
        ("terminal", "UPDATE requests SET state = 'open' WHERE number = 1"),
        ("after_end", "UPDATE events SET request = 1 WHERE session = 1 AND seq = 7"),
        ("attempt", "UPDATE events SET attempt = 0, job_seq = 9 WHERE session = 1 AND seq = 3"),
        ("open_job", "UPDATE jobs SET outcome = NULL WHERE request = 1"),
        ("job_end", "UPDATE jobs SET terminal_seq = 2 WHERE request = 1"),
        ("generation", "UPDATE jobs SET generation = 7 WHERE request = 2"),
        ("accepted", "UPDATE requests SET accepted_seq = 6 WHERE number = 2"),
        ("reference", "DELETE FROM requests WHERE number = 2"),
    ])
    func whatMustNotBeIsNamed(rule: String, sql: String) async throws {
        try await write()
        try change(sql)
        let report = try SQLiteSessionStore.check(folder: path)
        #expect(report.problems.contains { $0.rule == rule }, "\(report.problems)")
    }

    @Test func aDamagedFileIsNotSound() async throws {
        try await write()
        let file = try #require(fopen("\(path)/sessions.db", "r+"))
        // Pages behind the first, which has the header and the tables' names.
        fseek(file, 4096 * 3, SEEK_SET)
        fwrite([UInt8](repeating: 0xa5, count: 4096 * 8), 1, 4096 * 8, file)
        fclose(file)
        // It may be so damaged that it cannot be looked through.
        let isSound = (try? SQLiteSessionStore.check(folder: path))?.problems.isEmpty ?? false
        #expect(!isSound)
    }

    @Test func whatIsNoStoreIsNoSoundStore() throws {
        #expect {
            _ = try SQLiteSessionStore.check(folder: path)
        } throws: { error in
            if case StoreError.cannotOpen = error { true } else { false }
        }
        let connection = try Connection(path: "\(path)/sessions.db", readOnly: false)
        try connection.execute("CREATE TABLE other(x)")
        for open in [{ _ = try SQLiteSessionStore.check(folder: path) }, { _ = try SQLiteSessionStore(folder: path) }] {
            #expect {
                try open()
            } throws: { error in
                if case StoreError.corrupt = error { true } else { false }
            }
        }
    }

    @Test func aLaterVersionIsRefusedInWords() async throws {
        try await write()
        try change("PRAGMA user_version=6")
        let error = #expect(throws: StoreError.self) { _ = try SQLiteSessionStore.check(folder: path) }
        #expect(error == .newerSchema(found: 6, known: 5))
        #expect(try #require(error).description.contains("use the version that wrote it or a later one"))
        #expect(throws: StoreError.newerSchema(found: 6, known: 5)) { _ = try SQLiteSessionStore(folder: path) }
    }

    /// A store as a gateway of version 1 left it when it was stopped in the middle of a request.
    @Test func aStoreOfTheFirstVersionIsCheckedMigratedAndGoneOnWith() async throws {
        let dump = "\(projectFolder)/Tests/SessionStoreTests/Stores/version-1.sql"
        let sql = try String(contentsOf: URL(filePath: dump), encoding: .utf8)
        try Connection(path: "\(path)/sessions.db", readOnly: false).execute(sql + "PRAGMA journal_mode=WAL;")
        let before = try SQLiteSessionStore.check(folder: path)
        #expect(before.version == 1 && before.problems.isEmpty && before.requests == 2 && before.open == 1)

        let store = try SQLiteSessionStore(folder: path)
        let open = try #require(try await store.openRequests().first)
        #expect(open.text == "make it" && open.router == nil && open.generation == 1)
        #expect(open.attachments.map(\.name) == ["a.txt"] && open.jobs.map(\.execution.attempt) == [1])
        let page = try await store.events(of: open.session, owner: "local", after: 0, maxBytes: 1 << 20)
        #expect(page.events.map(\.seq) == Array(1...UInt64(before.events)))
        let router = newIdentifier()
        let batch = EventBatch(
            session: open.session,
            request: open.id,
            time: .now,
            items: [.generation(2), .router(router), .end(.failed, draft("request.failed"), answer: "")]
        )
        _ = try await withCheckedContinuation { continuation in
            store.append(batch) { continuation.resume(returning: $0) }
        }.get()
        await store.close()
        let after = try SQLiteSessionStore.check(folder: path)
        #expect(after.version == 5 && after.problems.isEmpty && after.open == 0 && after.events == before.events + 1)
    }

    @Test func aMigrationThatFailsLeavesTheStoreAsItWas() throws {
        try Schema.create(at: "\(path)/sessions.db", in: path, version: 1)
        // In the way of the second step.
        try change("CREATE TABLE pruned(x)")
        #expect(throws: StoreError.self) { _ = try SQLiteSessionStore(folder: path) }
        try change("DROP TABLE pruned")
        #expect(try SQLiteSessionStore.check(folder: path).version == 1)
        _ = try SQLiteSessionStore(folder: path)
        #expect(try SQLiteSessionStore.check(folder: path).version == 5)
    }
}
