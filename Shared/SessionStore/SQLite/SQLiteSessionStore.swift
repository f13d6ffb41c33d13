public import Telemetry
public import Wire

/// Sessions in one SQLite file, for one gateway.
///
/// Files: `sessions.db` (0600) with its log and shared memory beside it, and `sessions.lock`, in a folder (0700) that
/// must not be on a network file system.
public final class SQLiteSessionStore: SessionStore {
    private let file: StoreFile
    private let writer: Writer
    private let readers: Readers

    /// Opens the store in a folder; makes both if they are missing.
    /// - Throws: `StoreError` when it cannot be opened, is in use, is damaged or of a later version.
    public init(folder: String, readers: Int = 2) throws(StoreError) {
        file = try StoreFile(folder: folder)
        writer = try Writer(path: file.path)
        self.readers = Readers(path: file.path, count: max(1, readers))
    }

    deinit {
        readers.close()
        writer.stop()
    }

    /// Why the last write did not work; nil if it did.
    public var writeFailure: StoreError? { writer.writeFailure }

    /// Transactions committed since the start.
    public var commitCount: Int { writer.commitCount }

    /// Closes the store after what has been given to it is written.
    public func close() async {
        readers.close()
        await writer.close()
        file.release()
    }

    /// Makes a session.
    public func createSession(
        _ session: Identifier,
        owner: String,
        privacy: PrivacyPolicy,
        at time: Timestamp
    ) async throws(StoreError) {
        try await writer.write { connection throws(StoreError) -> Void in
            try connection.run(
                "INSERT INTO sessions(id, owner, created, updated, privacy) VALUES(?1, ?2, ?3, ?3, ?4)",
                .id(session),
                .text(owner),
                .integer(time.milliseconds),
                .text(privacy.rawValue)
            )
        }
    }

    /// Deletes a session and everything of it: from the tables, from pages that have become free, and from the log.
    public func forget(_ session: Identifier, owner: String) async throws(StoreError) {
        var isMore = true
        while isMore {
            isMore = try await writer.write { connection throws(StoreError) in
                try connection.forget(session, owner: owner)
            }
        }
        guard await writer.cutLog() else { throw .busy }
    }

    /// The user's answers that count for a request.
    public func approvals(of request: Identifier) async throws(StoreError) -> [ApprovalRecord] {
        try await readers.read { connection throws(StoreError) in try connection.approvals(of: request) }
    }

    /// Stores an answer of the user.
    public func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) async throws(StoreError) {
        try await writer.write { connection throws(StoreError) in
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
        try await readers.read { connection throws(StoreError) in
            try connection.disclosures(owner: owner, in: session, before: place, limit: limit)
        }
    }

    /// Stores a request with its first events and its idempotency key; see ``SessionStore``.
    public func accept(
        _ request: Acceptance,
        then done: @escaping @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void
    ) {
        writer.write({ connection throws(StoreError) in try connection.accept(request) }, then: done)
    }

    /// Stores what happened to a request; see ``SessionStore``.
    public func append(
        _ batch: EventBatch,
        then done: @escaping @Sendable (Result<AppendOutcome, StoreError>) -> Void
    ) {
        writer.write(
            patient: true,
            { connection throws(StoreError) in try connection.append(batch) },
            then: done
        )
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
                    try await self.readers.read { connection throws(StoreError) in try connection.usedBytes() } > bytes
                }
            )
        }
        return deleted
    }

    /// Deletes what ended before a time, session by session, as long as the closure says so.
    private func prune(
        before limit: Int64,
        while isDue: () async throws(StoreError) -> Bool
    ) async throws(StoreError) -> Pruned {
        var deleted = Pruned()
        var place = (updated: Int64.min, number: Int64.min)
        while try await isDue() {
            let sessions = try await readers.read { [place] connection throws(StoreError) in
                try connection.prunable(before: limit, after: place)
            }
            guard let last = sessions.last else { break }
            for (session, _) in sessions where try await isDue() {
                var isMore = true
                while isMore {
                    let step = try await writer.write { connection throws(StoreError) in
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

    /// The number of a session's last event.
    public func lastSequence(of session: Identifier, owner: String) async throws(StoreError) -> UInt64 {
        try await readers.read { connection throws(StoreError) in
            try connection.sessionRow(session, owner).last
        }
    }

    /// Events after a number; see ``SessionStore``.
    public func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(StoreError) -> StoredPage {
        try await readers.read { connection throws(StoreError) in
            try connection.events(of: session, owner: owner, after: number, maxBytes: maxBytes)
        }
    }

    /// The session as of now.
    public func session(
        _ session: Identifier,
        owner: String,
        messages: Int
    ) async throws(StoreError) -> SessionRecord {
        try await readers.read { connection throws(StoreError) in
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
        try await readers.read { connection throws(StoreError) in
            try connection.sessions(owner: owner, before: cursor, limit: limit)
        }
    }

    /// A request of a session.
    public func request(
        _ request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(StoreError) -> RequestRecord {
        try await readers.read { connection throws(StoreError) in
            try connection.request(request, in: session, owner: owner)
        }
    }

    /// The content of a request's attachment, by its place.
    public func attachment(_ position: Int, of request: Identifier) async throws(StoreError) -> [UInt8] {
        try await readers.read { connection throws(StoreError) in
            try connection.attachment(position, of: request)
        }
    }

    /// Requests without a terminal event.
    public func openRequests() async throws(StoreError) -> [OpenRequestRecord] {
        try await readers.read { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.openRequests() }
        }
    }

    /// One of them.
    public func openRequest(_ request: Identifier) async throws(StoreError) -> OpenRequestRecord {
        let found = try await readers.read { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.openRequests(only: request) }
        }
        guard let record = found.first else { throw .notFound }
        return record
    }

    /// What goes along with a request.
    public func conversation(before request: Identifier, limit: Int) async throws(StoreError) -> ConversationRecord {
        try await readers.read { connection throws(StoreError) in
            try connection.conversation(before: request, limit: limit)
        }
    }

    /// Turns that the session's summary does not cover.
    public func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) async throws(StoreError) -> TurnPage {
        try await readers.read { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in
                try connection.unsummarised(in: session, before: number, limit: limit)
            }
        }
    }

    /// Stores what was said before in a session.
    public func summarised(_ session: Identifier, as summary: ConversationSummary) async throws(StoreError) {
        try await writer.write { connection throws(StoreError) in try connection.store(summary, of: session) }
    }

    /// The skill log.
    public func jobs(owner: String, after cursor: Int64?, limit: Int) async throws(StoreError) -> [JobRecord] {
        try await readers.read { connection throws(StoreError) in
            try connection.jobs(owner: owner, after: cursor, limit: limit)
        }
    }

    /// Jobs that were given up.
    public func deadLetters(
        owner: String,
        before cursor: Int64?,
        limit: Int
    ) async throws(StoreError) -> [DeadLetterSummary] {
        try await readers.read { connection throws(StoreError) in
            try connection.deadLetters(owner: owner, before: cursor, limit: limit)
        }
    }

    /// One of them.
    public func deadLetter(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterRecord {
        try await readers.read { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.deadLetter(job, owner: owner) }
        }
    }

    /// What it worked on.
    public func deadLetterInput(_ job: Identifier, owner: String) async throws(StoreError) -> DeadLetterInput {
        try await readers.read { connection throws(StoreError) in
            try connection.look { connection throws(StoreError) in try connection.deadLetterInput(job, owner: owner) }
        }
    }

    /// Takes one off the list.
    public func discardDeadLetter(_ job: Identifier, owner: String) async throws(StoreError) {
        try await writer.write { connection throws(StoreError) in
            try connection.discardDeadLetter(job, owner: owner)
        }
    }
}
