public import SessionStore
public import Telemetry
public import Wire

/// A store that does what the one below it does, but for what it says itself.
public protocol ForwardingStore: SessionStore {
    /// The one below it.
    var store: any SessionStore { get }
}

extension ForwardingStore {
    public func append(_ batch: EventBatch, then done: @escaping @Sendable (Result<AppendOutcome, StoreError>) -> Void)
    {
        store.append(batch, then: done)
    }

    public func accept(
        _ request: Acceptance,
        then done: @escaping @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void
    ) {
        store.accept(request, then: done)
    }

    public var writeFailure: StoreError? { store.writeFailure }

    public func prune(_ retention: Retention, at time: Timestamp) async throws(StoreError) -> Pruned {
        try await store.prune(retention, at: time)
    }

    public func close() async { await store.close() }

    public func createSession(
        _ session: Identifier,
        owner: String,
        privacy: PrivacyPolicy,
        at time: Timestamp
    ) async throws(StoreError) {
        try await store.createSession(session, owner: owner, privacy: privacy, at: time)
    }

    public func forget(_ session: Identifier, owner: String) async throws(StoreError) {
        try await store.forget(session, owner: owner)
    }

    public func approvals(of request: Identifier) async throws(StoreError) -> [ApprovalRecord] {
        try await store.approvals(of: request)
    }

    public func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) async throws(StoreError) {
        try await store.approve(answer, of: request, in: session, owner: owner, at: time)
    }

    public func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) async throws(StoreError) -> [DisclosureRecord] {
        try await store.disclosures(owner: owner, in: session, before: place, limit: limit)
    }

    public func lastSequence(of session: Identifier, owner: String) async throws(StoreError) -> UInt64 {
        try await store.lastSequence(of: session, owner: owner)
    }

    public func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(StoreError) -> StoredPage {
        try await store.events(of: session, owner: owner, after: number, maxBytes: maxBytes)
    }

    public func session(_ session: Identifier, owner: String, messages: Int) async throws(StoreError) -> SessionRecord {
        try await store.session(session, owner: owner, messages: messages)
    }

    public func sessions(owner: String, before cursor: Int64?, limit: Int) async throws(StoreError) -> [SessionSummary]
    {
        try await store.sessions(owner: owner, before: cursor, limit: limit)
    }

    public func request(
        _ request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(StoreError) -> RequestRecord {
        try await store.request(request, in: session, owner: owner)
    }

    public func attachment(_ position: Int, of request: Identifier) async throws(StoreError) -> [UInt8] {
        try await store.attachment(position, of: request)
    }

    public func openRequests() async throws(StoreError) -> [OpenRequestRecord] { try await store.openRequests() }

    public func openRequest(_ request: Identifier) async throws(StoreError) -> OpenRequestRecord {
        try await store.openRequest(request)
    }

    public func conversation(before request: Identifier, limit: Int) async throws(StoreError) -> ConversationRecord {
        try await store.conversation(before: request, limit: limit)
    }

    public func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) async throws(StoreError) -> TurnPage {
        try await store.unsummarised(in: session, before: number, limit: limit)
    }

    public func summarised(_ session: Identifier, as summary: ConversationSummary) async throws(StoreError) {
        try await store.summarised(session, as: summary)
    }

    public func jobs(owner: String, after cursor: Int64?, limit: Int) async throws(StoreError) -> [JobRecord] {
        try await store.jobs(owner: owner, after: cursor, limit: limit)
    }

    public func deadLetters(
        owner: String,
        before cursor: Int64?,
        limit: Int
    ) async throws(StoreError) -> [DeadLetterSummary] {
        try await store.deadLetters(owner: owner, before: cursor, limit: limit)
    }

    public func deadLetter(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterRecord {
        try await store.deadLetter(job, owner: owner)
    }

    public func deadLetterInput(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterInput {
        try await store.deadLetterInput(job, owner: owner)
    }

    public func discardDeadLetter(_ job: Identifier, owner: String) async throws(StoreError) {
        try await store.discardDeadLetter(job, owner: owner)
    }
}
