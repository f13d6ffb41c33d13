import Glibc
import Synchronization
import Telemetry
import TestSupport
import Testing
import Wire

@testable import SessionStore

/// Only where a server is installed; `StoreKind.all` says so where none is.
private let isInstalled = PostgresServer.programs != nil

private func open(_ url: String, name: String = "one", lease: Int = 15_000) async throws -> PostgresSessionStore {
    try await PostgresSessionStore(PostgresAddress(url), name: name, lease: lease, connections: 2)
}

private final class Flag: Sendable {
    private let state = Atomic(false)
    var isSet: Bool { state.load(ordering: .relaxed) }
    func set() { state.store(true, ordering: .relaxed) }
}

/// What PostgreSQL adds to what every store does.
@Suite(.serialized, .enabled(if: isInstalled)) struct PostgresTests {
    private let url: String

    init() async throws { url = try await PostgresServer.shared().database() }

    @Test(arguments: 1...4) func severalStartAtOnceAndOneMakesTheTables(_: Int) async throws {
        let stores = try await withThrowingTaskGroup(of: PostgresSessionStore.self) { group in
            for number in 1...4 { group.addTask { [url] in try await open(url, name: "gateway-\(number)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let session = try await TestSession(stores[0])
        for store in stores {
            #expect(try await store.lastSequence(of: session.id, owner: session.owner) == 0)
            await store.close()
        }
    }

    @Test func aLaterVersionIsRefusedInWords() async throws {
        await (try open(url)).close()
        try await PostgresServer.query("INSERT INTO skillbus.schema_version VALUES (99)", at: url)
        let expected = StoreError.newerSchema(found: 99, known: PostgresSchema.version)
        await #expect(throws: expected) { _ = try await open(url) }
        await #expect(throws: expected) { _ = try await PostgresSessionStore.check(PostgresAddress(url)) }
    }

    @Test func whatIsNoStoreAndWhatIsNotThereIsNamed() async throws {
        await #expect {
            _ = try await PostgresSessionStore.check(PostgresAddress(url))
        } throws: { error in
            if case StoreError.cannotOpen(_, let reason) = error { reason.contains("no session store") } else { false }
        }
        // Another database may be made later; nobody needs to wait for that.
        await #expect {
            _ = try await open(url.replacing(/test\d+/, with: "absent"))
        } throws: { error in
            if case StoreError.cannotOpen(_, let reason) = error { reason.contains("absent") } else { false }
        }
        // A server may be started later, and is waited for.
        await #expect {
            _ = try await open("postgres://skillbus@127.0.0.1:1/skillbus")
        } throws: { error in
            (error as? StoreError)?.isTransient ?? false
        }
    }

    /// A store with an ended request and one that runs.
    private func write() async throws {
        let store = try await open(url)
        let session = try await TestSession(store)
        let done = try await session.request()
        try await session.append(done, job(done, last: 1), job(done, last: 2, outcome: "finished"))
        try await session.append(done, .end(.finished, draft("request.finished"), answer: "a"))
        let running = try await session.request()
        try await session.append(running, job(running, last: 2, count: 2))
        await store.close()
    }

    @Test func aSoundStoreIsCounted() async throws {
        try await write()
        let report = try await PostgresSessionStore.check(PostgresAddress(url))
        #expect(report.problems.isEmpty && report.version == PostgresSchema.version)
        #expect(report.sessions == 1 && report.requests == 2 && report.open == 1 && report.events == 7)
        #expect(report.bytes > 0 && !report.path.contains("?"))
    }

    @Test(arguments: [
        ("sequence", "DELETE FROM events WHERE seq = 3"),
        ("sequence", "DELETE FROM events WHERE seq = 7"),
        ("sequence", "UPDATE sessions SET next_seq = next_seq + 1"),
        ("number", #"UPDATE events SET body = '{"seq":9,"type":"x"}' WHERE seq = 2"#),
        ("terminal", "UPDATE requests SET state = 'failed' WHERE state = 'finished'"),
        ("terminal", "UPDATE requests SET state = 'finished', terminal_seq = 6 WHERE state = 'open'"),
        ("terminal", "UPDATE requests SET state = 'open' WHERE state = 'finished'"),
        ("after_end", "UPDATE events SET request = (SELECT min(number) FROM requests) WHERE seq = 7"),
        ("attempt", "UPDATE events SET attempt = 0, job_seq = 9 WHERE seq = 3"),
        ("open_job", "UPDATE jobs SET outcome = NULL WHERE outcome = 'finished'"),
        ("job_end", "UPDATE jobs SET terminal_seq = 2 WHERE outcome = 'finished'"),
        ("generation", "UPDATE jobs SET generation = 7 WHERE outcome IS NULL"),
        ("accepted", "UPDATE requests SET accepted_seq = 6 WHERE state = 'open'"),
    ])
    func whatMustNotBeIsNamed(rule: String, sql: String) async throws {
        try await write()
        try await PostgresServer.query("SET search_path = skillbus; \(sql)", at: url)
        let report = try await PostgresSessionStore.check(PostgresAddress(url))
        #expect(report.problems.contains { $0.rule == rule }, "\(report.problems)")
    }

    @Test func whatAFormerOwnerWritesIsNotStored() async throws {
        let store = try await open(url)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await PostgresServer.query("UPDATE skillbus.requests SET owner_epoch = 2", at: url)
        let execution = Execution(job: request.job(step: 1), generation: 1, attempt: 1)
        let late = try await session.append(request, job(request, last: 1), .grant(execution, skill: "pay"))
        #expect(late.isSuperseded && late.stored == 0 && late.fenced.count == 1 && late.denied == [execution])
        let end = try await session.append(request, .end(.failed, draft("request.failed"), answer: ""))
        #expect(end.isSuperseded && end.stored == 0)
        let batch = EventBatch(
            session: session.id,
            request: request,
            time: .now,
            items: [job(request, last: 1)],
            epoch: 2
        )
        let current = try await withCheckedContinuation { continuation in
            store.append(batch) { continuation.resume(returning: $0) }
        }.get()
        #expect(!current.isSuperseded && current.stored == 1)
        #expect(try await session.events().count == 2)
        await store.close()
    }

    @Test func twoGatewaysNumberOneSessionWithoutGap() async throws {
        let stores = [try await open(url, name: "a"), try await open(url, name: "b")]
        let session = try await TestSession(stores[0])
        let id = session.id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<10 {
                            let request = newIdentifier()
                            let acceptance = Acceptance(
                                request: request,
                                session: id,
                                owner: "someone",
                                time: .now,
                                text: "t",
                                input: [],
                                timeout: 1000,
                                events: [draft("request.accepted")],
                                openPerSession: 1000,
                                openPerOwner: 1000
                            )
                            _ = try await withCheckedContinuation { continuation in
                                store.accept(acceptance) { continuation.resume(returning: $0) }
                            }.get()
                            let end = EventBatch.Item.end(.finished, draft("request.finished"), answer: "")
                            let batch = EventBatch(
                                session: id,
                                request: request,
                                time: .now,
                                items: [job(request, last: 1, outcome: "finished"), end]
                            )
                            _ = try await withCheckedContinuation { continuation in
                                store.append(batch) { continuation.resume(returning: $0) }
                            }.get()
                        }
                    }
                }
            }
            // A reader who goes on from what it has seen never misses anything that becomes visible late.
            group.addTask {
                var seen: [UInt64] = []
                var jobs: [Int64] = []
                while seen.count < 240 || jobs.count < 80 {
                    let page = try await stores[1].events(
                        of: id,
                        owner: "someone",
                        after: seen.last ?? 0,
                        maxBytes: 1 << 20
                    )
                    seen += page.events.map(\.seq)
                    jobs += try await stores[0].jobs(owner: "someone", after: jobs.last ?? 0, limit: 1000).map(\.number)
                }
                #expect(seen == Array(1...240))
                #expect(jobs == Array(1...80))
            }
            try await group.waitForAll()
        }
        #expect(try await PostgresSessionStore.check(PostgresAddress(url)).problems == [])
        for store in stores { await store.close() }
    }

    @Test func oneKeyAtTwoGatewaysIsOneRequestAlsoOfTwoSessions() async throws {
        let stores = [try await open(url, name: "a"), try await open(url, name: "b")]
        let sessions = [try await TestSession(stores[0]), try await TestSession(stores[1])]
        for turn in 0..<20 {
            let outcomes = try await withThrowingTaskGroup(of: AcceptanceOutcome.self) { group in
                for session in sessions {
                    let acceptance = session.acceptance(key: ("k\(turn)", [UInt8(turn)]))
                    group.addTask { try await session.accept(acceptance) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.filter { if case .accepted = $0 { true } else { false } }.count == 1, "\(outcomes)")
            #expect(outcomes.filter { if case .replayed = $0 { true } else { false } }.count == 1)
        }
        for store in stores { await store.close() }
    }

    /// Connections are cut again and again, also in the middle of a commit: what was told is stored, and once.
    @Test(.timeLimit(.minutes(1))) func connectionsThatBreakLoseAndRepeatNothing() async throws {
        let store = try await open(url)
        let session = try await TestSession(store)
        let request = try await session.request()
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<10 {
                    try await PostgresServer.query(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND pid <> pg_backend_pid() AND state IS NOT NULL",
                        at: url
                    )
                }
                isOver.set()
            }
            for step in UInt16(1)...4 {
                group.addTask {
                    var number: UInt64 = 0
                    while !isOver.isSet || number < 10 {
                        number += 1
                        // Not numbered in the attempt: one that is stored twice would be there twice.
                        let plan = EventBatch.Item.plan([], draft("request.plan", "\(step)-\(number)"))
                        let outcome = try await session.append(request, plan, job(request, step: step, last: number))
                        #expect(outcome.stored == 2)
                        try await Task.sleep(for: .milliseconds(2))
                    }
                }
            }
            try await group.waitForAll()
        }
        let bodies = try await session.events().filter { $0.type == "request.plan" }.map {
            String(decoding: $0.json, as: UTF8.self).split(separator: #""text":"#).last.map(String.init) ?? ""
        }
        #expect(Set(bodies).count == bodies.count && bodies.count >= 40)
        #expect(await eventually { store.writeFailure == nil })
        #expect(try await PostgresSessionStore.check(PostgresAddress(url)).problems == [])
        await store.close()
    }

    @Test func textsMayHoldWhatPostgresTextsCannot() async throws {
        let store = try await open(url)
        let session = try await TestSession(store)
        let request = try await session.request("a\0b")
        let delta = JobEvents(
            execution: Execution(job: request.job(step: 1), generation: 1, attempt: 1),
            skill: "s\0",
            lastSequence: 2,
            events: [
                EventDraft(type: "job.delta", json: Array(#"{"type":"job.delta","data":{"text":"x\u0000"}}"#.utf8)),
                EventDraft(
                    type: "job.delta",
                    json: Array(#"{"type":"job.delta","data":{"text":"\"\ud83d\ude00"}}"#.utf8)
                ),
            ]
        )
        try await session.append(request, .job(delta))
        let record = try await store.session(session.id, owner: session.owner, messages: 10)
        #expect(record.requests.map(\.text) == ["a\0b"])
        #expect(record.openEvents.map(\.text) == ["x\0\"\u{1f600}"])
        await store.close()
    }
}

/// What comes to a member of several, as they come.
private final class Member: StoreMember {
    struct Heard {
        var taken: [TakenRequest] = []
        var lost: [Identifier] = []
        var ends: [Identifier: String?] = [:]
        var free: [Identifier] = []
        var changed: [Identifier] = []
    }
    let heard = Mutex(Heard())
    let followed = Mutex<[Identifier]>([])
    let blocked = Mutex<[Identifier]>([])
    let owned = Mutex<[Identifier]>([])

    var followedSessions: [Identifier] { followed.withLock { $0 } }
    var blockedRequests: [Identifier] { blocked.withLock { $0 } }
    var ownedRequests: [Identifier] { owned.withLock { $0 } }
    func tookOver(_ requests: [TakenRequest]) {
        owned.withLock { $0 += requests.map(\.id) }
        heard.withLock { $0.taken += requests }
    }
    func lost(_ requests: [Identifier]) { heard.withLock { $0.lost += requests } }
    func endRequested(_ requests: [(id: Identifier, reason: String?)]) {
        heard.withLock { heard in requests.forEach { heard.ends[$0.id] = .some($0.reason) } }
    }
    func unblocked(_ requests: [Identifier]) { heard.withLock { $0.free += requests } }
    func changed(_ session: Identifier) { heard.withLock { $0.changed.append(session) } }
}

/// Who goes on with what.
@Suite(.serialized, .enabled(if: isInstalled)) struct MembershipTests {
    private let url: String

    init() async throws { url = try await PostgresServer.shared().database() }

    @Test func whatIsGivenBackIsTakenAtOnceAndWhatIsAbandonedAfterTheLease() async throws {
        let (a, b, member) = (try await open(url, name: "a", lease: 60_000), try await open(url, name: "b"), Member())
        a.join(Member())
        b.join(member)
        let session = try await TestSession(a)
        let first = try await session.request()
        await a.close()
        #expect(await eventually { member.heard.withLock { $0.taken } == [TakenRequest(id: first, isReleased: true)] })
        let record = try await b.openRequest(first)
        #expect(record.epoch == 2 && record.generation == 1)

        let c = try await open(url, name: "c")
        let other = try await TestSession(c)
        let second = try await other.request()
        try await PostgresServer.query("UPDATE skillbus.gateways SET lease_until = now() WHERE name = 'c'", at: url)
        #expect(
            await eventually { member.heard.withLock { $0.taken.last } == TakenRequest(id: second, isReleased: false) }
        )
        let late = try await other.append(second, job(second, last: 1))
        #expect(late.isSuperseded)
        await b.close()
        await c.close()
    }

    @Test func aLeaseThatIsHeldKeepsWhatItIsFor() async throws {
        let (a, b, member) = (
            try await open(url, name: "a", lease: 1000), try await open(url, name: "b", lease: 1000), Member()
        )
        let mine = Member()
        let session = try await TestSession(a)
        let request = try await session.request()
        mine.owned.withLock { $0 = [request] }
        a.join(mine)
        b.join(member)
        try await Task.sleep(for: .seconds(3))
        #expect(
            member.heard.withLock { $0.taken.isEmpty } && mine.heard.withLock { $0.taken.isEmpty && $0.lost.isEmpty }
        )
        #expect(a.holdsLease && b.holdsLease)
        await a.close()
        await b.close()
        #expect(!a.holdsLease)
    }

    @Test func oneOfTheSameNameGoesOnAtOnce() async throws {
        let before = try await open(url, name: "a")
        let request = try await TestSession(before).request()
        let after = try await open(url, name: "a")
        let own = try await after.ownRequests()
        #expect(own.map(\.id) == [request] && own.map(\.epoch) == [2])
        await before.close()
        await after.close()
    }

    @Test func whatIsOursAndUnknownIsGoneOnWith() async throws {
        let (store, member) = (try await open(url, lease: 1000), Member())
        // As if the answer to its acceptance had been lost: in the store it is ours, and nobody here knows it.
        let request = try await TestSession(store).request()
        store.join(member)
        #expect(
            await eventually { member.heard.withLock { $0.taken } == [TakenRequest(id: request, isReleased: false)] }
        )
        #expect(try await store.openRequest(request).epoch == 2)
        await store.close()
    }

    /// By notification: the look that would find them too comes a minute later.
    @Test func newsOfFollowedSessionsComeAndOfOthersDoNot() async throws {
        let a = try await open(url, name: "a")
        let b = try await PostgresSessionStore(
            PostgresAddress(url),
            name: "b",
            times: PostgresMembership.Times(poll: 60_000),
            connections: 2
        )
        let member = Member()
        let (session, other) = (try await TestSession(a), try await TestSession(a))
        member.followed.withLock { $0 = [session.id] }
        a.join(Member())
        b.join(member)
        // Its name among the followers says that it listens.
        #expect(
            try await eventually {
                try await PostgresServer.query("SELECT count(*) FROM skillbus.followers", at: url) == "1"
            }
        )
        _ = try await other.request()
        _ = try await session.request()
        #expect(await eventually { member.heard.withLock { $0.changed.contains(session.id) } })
        #expect(!member.heard.withLock { $0.changed.contains(other.id) })
        await a.close()
        await b.close()
    }

    @Test func ownersHearWhatIsToEndAndWhoWaitsWhatIsOver() async throws {
        let (a, b) = (try await open(url, name: "a"), try await open(url, name: "b"))
        let (ofA, ofB) = (Member(), Member())
        let session = try await TestSession(a)
        let first = try await session.request()
        let acceptance = session.acceptance(whenBusy: .enqueue)
        _ = try await withCheckedContinuation { continuation in
            b.accept(acceptance) { continuation.resume(returning: $0) }
        }.get()
        ofA.owned.withLock { $0 = [first] }
        ofB.owned.withLock { $0 = [acceptance.request] }
        ofB.blocked.withLock { $0 = [acceptance.request] }
        a.join(ofA)
        b.join(ofB)
        #expect(try await b.requestCancel(first, reason: "because"))
        #expect(await eventually { ofA.heard.withLock { $0.ends[first] } == .some("because") })
        #expect(ofB.heard.withLock { $0.free.isEmpty })
        try await session.append(first, .end(.cancelled, draft("request.cancelled"), answer: ""))
        #expect(await eventually { ofB.heard.withLock { $0.free.contains(acceptance.request) } })
        #expect(try await !b.requestCancel(first, reason: "again"))
        await a.close()
        await b.close()
    }
}

@Suite struct PostgresAddressTests {
    @Test(arguments: [
        ("postgres://me:s%40cret@host:5433/db?sslmode=require", "postgres://me@host:5433/db?sslmode=require", "s@cret"),
        ("postgresql://me@host/db?password=a%2Fb&x=1", "postgresql://me@host/db?x=1", "a/b"),
        ("postgres://me@/db?host=/run/postgresql", "postgres://me@/db?host=/run/postgresql", nil),
        ("postgres://host:5432/db", "postgres://host:5432/db", nil),
        ("postgres://[::1]:5432/db", "postgres://[::1]:5432/db", nil),
    ])
    func aPasswordIsTakenOutOfTheURL(text: String, clean: String, password: String?) throws {
        let address = try PostgresAddress(text)
        #expect(address.text == clean && address.password == password)
        #expect(PostgresAddress.hasPassword(text) == (password != nil))
        #expect(!address.shown.contains("?"))
        #expect(try PostgresAddress(text, password: "other").password == "other")
    }

    @Test func whatIsNoURLIsNamed() {
        #expect(throws: PostgresAddress.Invalid.self) { try PostgresAddress("mysql://me@host/db") }
    }
}
