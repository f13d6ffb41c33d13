import SessionStore
import Synchronization
import Telemetry
import Wire

/// A store that refuses the next batches for good when a test says so, and else is the one below it.
final class UnreliableStore: SessionStore {
    private let store: SQLiteSessionStore
    private let refusals = Mutex(0)
    /// Batches that are held back; nil when none are.
    private let held = Mutex<[@Sendable () -> Void]?>(nil)

    init(_ store: SQLiteSessionStore) { self.store = store }

    /// The next so many batches cannot be stored.
    func refuse(_ count: Int) { refusals.withLock { $0 = count } }

    /// From now on batches wait, as for a disk that is full.
    func hold() { held.withLock { $0 = [] } }

    /// Those that wait are stored, and all that come after them.
    func letGo() {
        let waiting = held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        waiting.forEach { $0() }
    }

    func append(_ batch: EventBatch, then done: @escaping @Sendable (Result<AppendOutcome, StoreError>) -> Void) {
        let isRefused = refusals.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        let isHeld = held.withLock { held in
            guard held != nil else { return false }
            held?.append { [store] in store.append(batch, then: done) }
            return true
        }
        if isHeld { return }
        // Called later and elsewhere, as by a store.
        if isRefused {
            Task { done(.failure(.rejected(code: 19, reason: "constraint failed"))) }
        } else {
            store.append(batch, then: done)
        }
    }

    func accept(
        _ request: Acceptance,
        then done: @escaping @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void
    ) {
        store.accept(request, then: done)
    }

    var writeFailure: StoreError? { store.writeFailure }

    func prune(_ retention: Retention, at time: Timestamp) async throws(StoreError) -> Pruned {
        try await store.prune(retention, at: time)
    }

    func close() async { await store.close() }

    func createSession(
        _ session: Identifier,
        owner: String,
        privacy: PrivacyPolicy,
        at time: Timestamp
    ) async throws(StoreError) {
        try await store.createSession(session, owner: owner, privacy: privacy, at: time)
    }

    func forget(_ session: Identifier, owner: String) async throws(StoreError) {
        try await store.forget(session, owner: owner)
    }

    func approvals(of request: Identifier) async throws(StoreError) -> [ApprovalRecord] {
        try await store.approvals(of: request)
    }

    func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) async throws(StoreError) {
        try await store.approve(answer, of: request, in: session, owner: owner, at: time)
    }

    func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) async throws(StoreError) -> [DisclosureRecord] {
        try await store.disclosures(owner: owner, in: session, before: place, limit: limit)
    }

    func lastSequence(of session: Identifier, owner: String) async throws(StoreError) -> UInt64 {
        try await store.lastSequence(of: session, owner: owner)
    }

    func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(StoreError) -> StoredPage {
        try await store.events(of: session, owner: owner, after: number, maxBytes: maxBytes)
    }

    func session(_ session: Identifier, owner: String, messages: Int) async throws(StoreError) -> SessionRecord {
        try await store.session(session, owner: owner, messages: messages)
    }

    func sessions(owner: String, before cursor: Int64?, limit: Int) async throws(StoreError) -> [SessionSummary] {
        try await store.sessions(owner: owner, before: cursor, limit: limit)
    }

    func request(
        _ request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(StoreError) -> RequestRecord {
        try await store.request(request, in: session, owner: owner)
    }

    func attachment(_ position: Int, of request: Identifier) async throws(StoreError) -> [UInt8] {
        try await store.attachment(position, of: request)
    }

    func openRequests() async throws(StoreError) -> [OpenRequestRecord] { try await store.openRequests() }

    func openRequest(_ request: Identifier) async throws(StoreError) -> OpenRequestRecord {
        try await store.openRequest(request)
    }

    func conversation(before request: Identifier, limit: Int) async throws(StoreError) -> ConversationRecord {
        try await store.conversation(before: request, limit: limit)
    }

    func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) async throws(StoreError) -> TurnPage {
        try await store.unsummarised(in: session, before: number, limit: limit)
    }

    func summarised(_ session: Identifier, as summary: ConversationSummary) async throws(StoreError) {
        try await store.summarised(session, as: summary)
    }

    func deadLetters(
        owner: String,
        before cursor: Int64?,
        limit: Int
    ) async throws(StoreError) -> [DeadLetterSummary] {
        try await store.deadLetters(owner: owner, before: cursor, limit: limit)
    }

    func deadLetter(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterRecord {
        try await store.deadLetter(job, owner: owner)
    }

    func deadLetterInput(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterInput {
        try await store.deadLetterInput(job, owner: owner)
    }

    func discardDeadLetter(_ job: Identifier, owner: String) async throws(StoreError) {
        try await store.discardDeadLetter(job, owner: owner)
    }

    func jobs(owner: String, after cursor: Int64?, limit: Int) async throws(StoreError) -> [JobRecord] {
        try await store.jobs(owner: owner, after: cursor, limit: limit)
    }
}
