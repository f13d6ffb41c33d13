public import Telemetry
public import Wire

/// What is kept of sessions: their requests, jobs and events. Everything a method returns after a write is on disk.
///
/// Invariants:
/// (1) Events of a session are numbered 1, 2, 3, ... in the order of their commits.
/// (2) A request has exactly one terminal event, and no event after it.
/// (3) Of a job, nothing of (generation, attempt) is stored after anything of a later pair, and no number twice.
/// (4) One key of one owner stands for one request within 24 hours.
public protocol SessionStore: Sendable {
    /// Makes a session.
    func createSession(
        _ session: Identifier,
        owner: String,
        privacy: PrivacyPolicy,
        at time: Timestamp
    ) async throws(StoreError)

    /// Deletes a session and everything of it: nothing of it is left in the files of the store, as far as the store has
    /// them in its hands.
    /// - Throws: `notFound`, `pruned`; `busy` while a request of it has not ended, or while what is deleted cannot be
    ///   cleared out of the files.
    func forget(_ session: Identifier, owner: String) async throws(StoreError)

    /// Stores a request with its first events and its idempotency key, all or nothing.
    ///
    /// The function is called once, after the commit, on the store's own thread and in the order of the commits: it
    /// must not block.
    func accept(
        _ request: Acceptance,
        then done: @escaping @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void
    )

    /// Stores what happened to a request. One that the disk does not take, full or busy or failing, is tried again until
    /// it is stored; those of other requests may pass it, so give the next of a request when this one is stored.
    ///
    /// The function is called once, after the commit, on the store's own thread: it must not block.
    func append(_ batch: EventBatch, then done: @escaping @Sendable (Result<AppendOutcome, StoreError>) -> Void)

    /// Deletes what is too old or too much, in many short steps, and returns when it is done. Others write in between.
    func prune(_ retention: Retention, at time: Timestamp) async throws(StoreError) -> Pruned

    /// Closes the store after what has been given to it is written.
    func close() async

    /// Why the last write did not work; nil if it did. Looked at again about once a second.
    var writeFailure: StoreError? { get }

    /// Whether the session is there, and its last event's number.
    func lastSequence(of session: Identifier, owner: String) async throws(StoreError) -> UInt64

    /// Events after a number, at least one if there is one, and else at most `maxBytes` of JSON.
    func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(StoreError) -> StoredPage

    /// The session as of now, in one consistent look.
    func session(_ session: Identifier, owner: String, messages: Int) async throws(StoreError) -> SessionRecord

    /// Sessions of an owner, newest first.
    func sessions(owner: String, before cursor: Int64?, limit: Int) async throws(StoreError) -> [SessionSummary]

    /// A request of a session.
    func request(_ request: Identifier, in session: Identifier, owner: String) async throws(StoreError) -> RequestRecord

    /// The content of a request's attachment, by its place.
    func attachment(_ position: Int, of request: Identifier) async throws(StoreError) -> [UInt8]

    /// Requests that have no terminal event, in the order of their acceptance, with their jobs. Their attachments are
    /// described only.
    func openRequests() async throws(StoreError) -> [OpenRequestRecord]

    /// One of them; `notFound` if it has ended or never was.
    func openRequest(_ request: Identifier) async throws(StoreError) -> OpenRequestRecord

    /// What goes along with a request: the turns before it, which are ended requests of the session, and what was said
    /// before those.
    func conversation(before request: Identifier, limit: Int) async throws(StoreError) -> ConversationRecord

    /// Turns of a session before one of them, by their numbers, that its summary does not cover.
    func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) async throws(StoreError) -> TurnPage

    /// Stores what was said before in a session, in the place of what was stored so far. One that covers no more than that
    /// changes nothing.
    /// - Throws: `notFound` where the session, or the last turn that it covers, has been deleted.
    func summarised(_ session: Identifier, as summary: ConversationSummary) async throws(StoreError)

    /// The user's answers that count for a request: its own, and those for all of its session.
    func approvals(of request: Identifier) async throws(StoreError) -> [ApprovalRecord]

    /// Stores an answer of the user, for one request or, with `always`, for all of its session.
    func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) async throws(StoreError)

    /// What was sent to outside parties, the latest first, of one session or of all of an owner.
    func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) async throws(StoreError) -> [DisclosureRecord]

    /// Ended jobs of an owner after a number of the log, oldest first; without a number the last ones.
    func jobs(owner: String, after cursor: Int64?, limit: Int) async throws(StoreError) -> [JobRecord]

    /// Jobs of an owner that were given up, the latest first. Each is there from the commit of its end.
    func deadLetters(owner: String, before cursor: Int64?, limit: Int) async throws(StoreError) -> [DeadLetterSummary]

    /// One of them with what is known of it.
    func deadLetter(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterRecord

    /// What it worked on, for a request that is to be accepted with ``Acceptance/retryOf``.
    func deadLetterInput(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterInput

    /// Takes one off the list.
    func discardDeadLetter(_ job: Identifier, owner: String) async throws(StoreError)
}

extension SessionStore {
    /// Whether the last write worked.
    public var isWritable: Bool { writeFailure == nil }
}
