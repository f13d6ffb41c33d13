import SessionStore
import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

/// The kinds of store there are. PostgreSQL is one where its server is installed.
enum StoreKind: String, CustomTestStringConvertible {
    case sqlite, postgres

    static let all: [StoreKind] = {
        if PostgresServer.programs != nil { return [.sqlite, .postgres] }
        print("no PostgreSQL server is installed: its store is not tested (Debian's package postgresql)")
        return [.sqlite]
    }()

    var testDescription: String { rawValue }
}

/// An empty store of a kind, with what it lies in.
final class OpenStore: ForwardingStore {
    let store: any SessionStore
    private let folder: TemporaryFolder?
    let url: String?

    init(_ kind: StoreKind) async throws {
        switch kind {
        case .sqlite:
            let folder = try TemporaryFolder()
            store = try SQLiteSessionStore(folder: folder.file("state"))
            (self.folder, url) = (folder, nil)
        case .postgres:
            let url = try await PostgresServer.shared().database()
            store = try await PostgresSessionStore(PostgresAddress(url), name: "test", connections: 2)
            (folder, self.url) = (nil, url)
        }
    }

    deinit {
        // The folder goes when the store has let go of its files.
        Task { [store, folder] in
            await store.close()
            withExtendedLifetime(folder) {}
        }
    }

    /// Looks through the store.
    func check() async throws {
        let report: StoreReport
        if let url {
            report = try await PostgresSessionStore.check(PostgresAddress(url))
        } else {
            report = try SQLiteSessionStore.check(folder: try #require(folder).file("state"))
        }
        #expect(report.problems == [])
    }
}

/// A session with shortcuts for what tests do again and again.
struct TestSession {
    let store: any SessionStore
    let id: Identifier
    let owner: String

    init(_ store: any SessionStore, owner: String = "someone") async throws {
        self.store = store
        self.owner = owner
        id = newIdentifier()
        try await store.createSession(id, owner: owner, at: .now)
    }

    func acceptance(
        _ text: String = "hello",
        whenBusy: Acceptance.WhenBusy = .parallel,
        key: (String, [UInt8])? = nil,
        perSession: Int = 50,
        perOwner: Int = 200,
        at time: Timestamp = .now
    ) -> Acceptance {
        Acceptance(
            request: newIdentifier(),
            session: id,
            owner: owner,
            time: time,
            text: text,
            input: Array("{}".utf8),
            timeout: 60_000,
            whenBusy: whenBusy,
            idempotency: key.map { (key: $0.0, hash: $0.1) },
            events: [draft("request.accepted")],
            openPerSession: perSession,
            openPerOwner: perOwner
        )
    }

    func accept(_ acceptance: Acceptance) async throws -> AcceptanceOutcome {
        try await withCheckedContinuation { continuation in
            store.accept(acceptance) { continuation.resume(returning: $0) }
        }.get()
    }

    /// An accepted request.
    func request(_ text: String = "hello") async throws -> Identifier {
        let acceptance = acceptance(text)
        _ = try await accept(acceptance)
        return acceptance.request
    }

    @discardableResult
    func append(_ request: Identifier, _ items: EventBatch.Item...) async throws -> AppendOutcome {
        let batch = EventBatch(session: id, request: request, time: .now, items: items)
        return try await withCheckedContinuation { continuation in
            store.append(batch) { continuation.resume(returning: $0) }
        }.get()
    }

    func events(after number: UInt64 = 0, maxBytes: Int = 1 << 20) async throws -> [StoredEvent] {
        try await store.events(of: id, owner: owner, after: number, maxBytes: maxBytes).events
    }
}

func newIdentifier() -> Identifier {
    Identifier.timeOrdered(milliseconds: UInt64(Timestamp.now.milliseconds))
}

func draft(_ type: String, _ text: String = "") -> EventDraft {
    EventDraft(type: type, json: Array(#"{"type":"\#(type)","data":{"text":"\#(text)"}}"#.utf8))
}

func job(
    _ request: Identifier,
    step: UInt16 = 1,
    generation: UInt32 = 1,
    attempt: UInt32 = 1,
    last: UInt64,
    count: Int = 1,
    outcome: String? = nil
) -> EventBatch.Item {
    .job(
        JobEvents(
            execution: Execution(job: request.job(step: step), generation: generation, attempt: attempt),
            skill: "echo",
            lastSequence: last,
            events: (0..<count).map {
                draft(outcome == nil ? "job.delta" : "job.finished", "\(generation).\(attempt).\($0)")
            },
            worker: "w1",
            outcome: outcome
        )
    )
}
