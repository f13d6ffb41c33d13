internal import Glibc
internal import Lifecycle
public import Telemetry
public import Wire

/// Sessions in a PostgreSQL database, for several gateways.
///
/// Threads: writers, over which sessions are spread, readers, and one that holds the lease and talks to the other
/// gateways; each has a connection of its own.
public final class PostgresSessionStore: SharedSessionStore {
    /// This process, from its start to its end.
    let instance: Identifier
    private let link: PostgresLink
    private let writers: [PostgresWriter]
    private let pool: PostgresPool
    private let membership: PostgresMembership

    /// Opens the store, makes its tables if they are missing, and makes the gateway known by its lease.
    /// - Parameters:
    ///   - address: Where the server is.
    ///   - name: The gateway's, the same after a restart.
    ///   - lease: How long after its last sign of life its requests are another's, in milliseconds.
    ///   - connections: Writers, and as many readers; as many as there are processors if nil.
    /// - Throws: `StoreError`; one that is transient when the server is not there.
    public convenience init(
        _ address: PostgresAddress,
        name: String,
        lease: Int = 15_000,
        connections: Int? = nil
    ) async throws(StoreError) {
        let times = PostgresMembership.Times(lease: lease)
        try await self.init(address, name: name, times: times, connections: connections)
    }

    /// As above, with the times that tests change.
    init(
        _ address: PostgresAddress,
        name: String,
        times: PostgresMembership.Times,
        connections: Int?
    ) async throws(StoreError) {
        let instance = Identifier.timeOrdered(milliseconds: UInt64(max(0, Timestamp.now.milliseconds)))
        let link = PostgresLink(address, name: String(name.prefix(40)))
        let membership = try PostgresMembership(
            link,
            instance: instance,
            name: name,
            times: times
        )
        try await onThread { () throws(StoreError) in
            let connection = try PostgresConnection(address, name: String(name.prefix(40)))
            try PostgresSchema.migrate(connection)
            try membership.register(connection)
        }
        let count = connections ?? max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        self.instance = instance
        self.link = link
        self.membership = membership
        pool = PostgresPool(link, count: count)
        writers = (1...count).map { number in
            PostgresWriter(link, number: number, gateway: instance) { changes in
                membership.tell(changes.changedSessions, requests: changes.hasInterrupts)
            }
        }
    }

    deinit {
        pool.close()
        writers.forEach { $0.stop() }
    }

    /// Why the server did not do what it was asked last; nil if it did.
    public var writeFailure: StoreError? { link.writeFailure }

    /// Writes what is waiting, if the server takes it, and gives the lease back.
    public func close() async {
        writers.forEach { $0.stop() }
        for writer in writers { await writer.end() }
        await membership.leave()
        pool.close()
    }

    /// Looks at the whole store in a database, as of one moment, and changes nothing.
    /// - Throws: `StoreError` when there is none, it cannot be read, or it is of a later version.
    public static func check(_ address: PostgresAddress) async throws(StoreError) -> StoreReport {
        try await onThread { () throws(StoreError) in
            let connection = try PostgresConnection(address, name: "check")
            return try connection.unhurriedLook { connection throws(StoreError) in
                try connection.check(address.shown)
            }
        }
    }

    // MARK: Writing

    private func writer(of session: Identifier) -> PostgresWriter {
        writers[Int(session.low >> 16 % UInt64(writers.count))]
    }

    /// Makes a session.
    public func createSession(
        _ session: Identifier,
        owner: String,
        privacy: PrivacyPolicy,
        at time: Timestamp
    ) async throws(StoreError) {
        let made = WriteGroup.NewSession(id: session, owner: owner, privacy: privacy, time: time)
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, StoreError>, Never>) in
            writer(of: session).put(.session(made) { continuation.resume(returning: $0) })
        }
        try result.get()
    }

    /// Stores a request with its first events and its idempotency key; see ``SessionStore``.
    public func accept(
        _ request: Acceptance,
        then done: @escaping @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void
    ) {
        writer(of: request.session).put(.acceptance(request, done))
    }

    /// Stores what happened to a request; see ``SessionStore``.
    public func append(
        _ batch: EventBatch,
        then done: @escaping @Sendable (Result<AppendOutcome, StoreError>) -> Void
    ) {
        writer(of: batch.session).put(.batch(batch, done))
    }

    /// Deletes what is too old or too much; see ``SessionStore``.
    public func prune(_ retention: Retention, at time: Timestamp) async throws(StoreError) -> Pruned {
        var deleted = Pruned()
        if let age = retention.age {
            deleted.add(try await prune(before: time.milliseconds - age) { true })
        }
        if let bytes = retention.bytes {
            deleted.add(
                try await prune(before: time.milliseconds - Retention.leastAge) { () async throws(StoreError) in
                    try await self.pool.use { connection throws(StoreError) in try connection.usedBytes() } > bytes
                }
            )
        }
        return deleted
    }

    private func prune(
        before limit: Int64,
        while isDue: () async throws(StoreError) -> Bool
    ) async throws(StoreError) -> Pruned {
        var deleted = Pruned()
        var place = (updated: Int64.min, number: Int64.min)
        while try await isDue() {
            let sessions = try await pool.use { [place] connection throws(StoreError) in
                try connection.prunable(before: limit, after: place)
            }
            guard let last = sessions.last else { break }
            for (session, _) in sessions where try await isDue() {
                var isMore = true
                while isMore {
                    let step = try await pool.use { connection throws(StoreError) in
                        try connection.prune(session, before: limit)
                    }
                    deleted.add(step.deleted)
                    isMore = step.isMore
                }
            }
            place = (last.updated, last.number)
        }
        return deleted
    }

    // MARK: Sharing

    /// Begins to take part; see ``SharedSessionStore``.
    public func join(_ member: any StoreMember) { membership.join(member) }

    /// Requests that this gateway goes on with.
    public func ownRequests() async throws(StoreError) -> [OpenRequestRecord] {
        try await pool.use { [instance] connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.openRequests(of: instance) }
        }
    }

    /// Whether the lease is held.
    public var holdsLease: Bool { membership.holdsLease }

    /// See ``SharedSessionStore``.
    public func lookAgain() { membership.lookAgain() }

    /// See ``SharedSessionStore``.
    public func lastFollowerLeft(_ session: Identifier) { membership.lastFollowerLeft(session) }

    /// Asks a request's owner to end it.
    public func requestCancel(_ request: Identifier, reason: String) async throws(StoreError) -> Bool {
        let isOpen = try await pool.use { connection throws(StoreError) in
            try connection.run(
                """
                UPDATE requests SET cancelling = true, cancel_reason = coalesce(cancel_reason, $2)
                WHERE id = $1 AND state = 'open'
                """,
                .id(request),
                .text(reason)
            ) > 0
        }
        if isOpen { membership.tell([], requests: true) }
        return isOpen
    }

    // MARK: Reading

    /// The number of a session's last event.
    public func lastSequence(of session: Identifier, owner: String) async throws(StoreError) -> UInt64 {
        try await pool.use { connection throws(StoreError) in try connection.sessionRow(session, owner).last }
    }

    /// Events after a number; see ``SessionStore``.
    public func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(StoreError) -> StoredPage {
        try await pool.use { connection throws(StoreError) in
            try connection.events(of: session, owner: owner, after: number, maxBytes: maxBytes)
        }
    }

    /// The session as of now.
    public func session(
        _ session: Identifier,
        owner: String,
        messages: Int
    ) async throws(StoreError) -> SessionRecord {
        try await pool.use { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in
                try connection.session(session, owner: owner, messages: messages)
            }
        }
    }

    /// Sessions of an owner, newest first.
    public func sessions(
        owner: String,
        before cursor: Int64?,
        limit: Int
    ) async throws(StoreError) -> [SessionSummary] {
        try await pool.use { connection throws(StoreError) in
            try connection.sessions(owner: owner, before: cursor, limit: limit)
        }
    }

    /// A request of a session.
    public func request(
        _ request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(StoreError) -> RequestRecord {
        try await pool.use { connection throws(StoreError) in
            try connection.request(request, in: session, owner: owner)
        }
    }

    /// The content of a request's attachment, by its place.
    public func attachment(_ position: Int, of request: Identifier) async throws(StoreError) -> [UInt8] {
        try await pool.use { connection throws(StoreError) in try connection.attachment(position, of: request) }
    }

    /// Requests without a terminal event, whichever gateway has them.
    public func openRequests() async throws(StoreError) -> [OpenRequestRecord] {
        try await pool.use { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.openRequests() }
        }
    }

    /// One of them.
    public func openRequest(_ request: Identifier) async throws(StoreError) -> OpenRequestRecord {
        let found = try await pool.use { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.openRequests(only: [request]) }
        }
        guard let record = found.first else { throw .notFound }
        return record
    }

    /// What goes along with a request.
    public func conversation(before request: Identifier, limit: Int) async throws(StoreError) -> ConversationRecord {
        try await pool.use { connection throws(StoreError) in
            try connection.conversation(before: request, limit: limit)
        }
    }

    /// Turns that the session's summary does not cover.
    public func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) async throws(StoreError) -> TurnPage {
        try await pool.use { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in
                try connection.unsummarised(in: session, before: number, limit: limit)
            }
        }
    }

    /// Stores what was said before in a session.
    public func summarised(_ session: Identifier, as summary: ConversationSummary) async throws(StoreError) {
        try await pool.use { connection throws(StoreError) in try connection.store(summary, of: session) }
    }

    /// The skill log.
    public func jobs(owner: String, after cursor: Int64?, limit: Int) async throws(StoreError) -> [JobRecord] {
        try await pool.use { connection throws(StoreError) in
            try connection.jobs(owner: owner, after: cursor, limit: limit)
        }
    }

    // MARK: Privacy

    /// Deletes a session and everything of it from the tables. When the server clears it out of its files is the server's
    /// to decide.
    public func forget(_ session: Identifier, owner: String) async throws(StoreError) {
        let last = try await lastSequence(of: session, owner: owner)
        var isMore = true
        while isMore {
            isMore = try await pool.use { connection throws(StoreError) in
                try connection.forget(session, owner: owner)
            }
        }
        membership.tell([(session, last)], requests: false)
    }

    /// The user's answers that count for a request.
    public func approvals(of request: Identifier) async throws(StoreError) -> [ApprovalRecord] {
        try await pool.use { connection throws(StoreError) in try connection.approvals(of: request) }
    }

    /// Stores an answer of the user.
    public func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) async throws(StoreError) {
        try await pool.use { connection throws(StoreError) in
            try connection.approve(answer, of: request, in: session, owner: owner, at: time)
        }
    }

    /// What was sent to outside parties.
    public func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) async throws(StoreError) -> [DisclosureRecord] {
        try await pool.use { connection throws(StoreError) in
            try connection.disclosures(owner: owner, in: session, before: place, limit: limit)
        }
    }

    // MARK: Dead letters

    /// Jobs that were given up.
    public func deadLetters(
        owner: String,
        before cursor: Int64?,
        limit: Int
    ) async throws(StoreError) -> [DeadLetterSummary] {
        try await pool.use { connection throws(StoreError) in
            try connection.deadLetters(owner: owner, before: cursor, limit: limit)
        }
    }

    /// One of them.
    public func deadLetter(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterRecord {
        try await pool.use { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.deadLetter(job, owner: owner) }
        }
    }

    /// What it worked on.
    public func deadLetterInput(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterInput {
        try await pool.use { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.deadLetterInput(job, owner: owner) }
        }
    }

    /// Takes one off the list.
    public func discardDeadLetter(_ job: Identifier, owner: String) async throws(StoreError) {
        try await pool.use { connection throws(StoreError) in try connection.discardDeadLetter(job, owner: owner) }
    }
}

/// Runs the closure on a thread of its own, which may wait as long as it likes.
private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws(StoreError) -> Value
) async throws(StoreError) -> Value {
    let result = await withCheckedContinuation {
        (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
        startThread(named: "store-opening") {
            do throws(StoreError) {
                continuation.resume(returning: .success(try body()))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}
