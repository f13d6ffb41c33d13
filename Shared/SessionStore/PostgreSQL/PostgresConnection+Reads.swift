internal import Telemetry
internal import Wire

extension PostgresConnection {
    /// Runs several queries on one consistent state.
    func look<Value>(
        _ body: (PostgresConnection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try transaction(PostgresConnection.snapshot, body)
    }

    /// The same with queries that go over whole tables.
    func unhurriedLook<Value>(
        _ body: (PostgresConnection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try unhurriedTransaction(PostgresConnection.snapshot, body)
    }

    private static let snapshot = "ISOLATION LEVEL REPEATABLE READ READ ONLY"

    /// A session's row number and the number of its last event.
    func sessionRow(_ session: Identifier, _ owner: String) throws(StoreError) -> (number: Int64, last: UInt64) {
        let row = try first(
            "SELECT number, next_seq - 1 FROM sessions WHERE id = $1 AND owner = $2",
            .id(session),
            .text(owner)
        ) { (number: $0.integer(0), last: $0.unsigned(1)) }
        if let row { return row }
        let wasPruned = try first(
            "SELECT 1::bigint FROM pruned WHERE id = $1 AND owner = $2",
            .id(session),
            .text(owner)
        ) { _ in true }
        throw wasPruned ?? false ? .pruned : .notFound
    }

    func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) throws(StoreError) -> StoredPage {
        let (session, last) = try sessionRow(session, owner)
        guard number < last else { return StoredPage(events: [], lastSequence: last) }
        // Up to the number seen above: what is committed in between belongs to the next page. The sizes are added up
        // by the server, so that no more is read and sent than a page holds.
        let events = try rows(
            """
            SELECT seq, type, body FROM (
                SELECT seq, type, body, sum(octet_length(body)) OVER w AS bytes, row_number() OVER w AS place
                FROM (SELECT seq, type, body FROM events WHERE session = $1 AND seq > $2 AND seq <= $3
                    ORDER BY seq LIMIT 1000) e
                WINDOW w AS (ORDER BY seq)) p
            WHERE bytes <= $4 OR place = 1 ORDER BY seq
            """,
            .number(session),
            .number(number),
            .number(last),
            .number(maxBytes)
        ) { StoredEvent(seq: $0.unsigned(0), type: $0.text(1), json: $0.bytes(2)) }
        return StoredPage(events: events, lastSequence: last)
    }

    func session(_ session: Identifier, owner: String, messages: Int) throws(StoreError) -> SessionRecord {
        let (session, last) = try sessionRow(session, owner)
        var record = SessionRecord(lastSequence: last, requests: [], openEvents: [])
        let privacy = try first("SELECT privacy FROM sessions WHERE number = $1", .number(session)) { $0.text(0) }
        record.privacy = privacy.flatMap { PrivacyPolicy(rawValue: $0) } ?? .localOnly
        record.summary = try summary(of: session)
        // Newest first and turned round: the limit keeps the last ones. Open ones are always among them, however old.
        record.requests = try rows(
            """
            SELECT id, state, text, answer, created, ended, accepted_seq, terminal_seq FROM requests
            WHERE session = $1 AND (state = 'open' OR number > coalesce(
                (SELECT number FROM requests WHERE session = $1 ORDER BY number DESC LIMIT 1 OFFSET $2), 0))
            ORDER BY number
            """,
            .number(session),
            .number(messages),
            read: PostgresConnection.request
        )
        guard let first = record.requests.filter({ $0.state == .open }).map(\.acceptedSequence).min() else {
            return record
        }
        record.openEvents = try openEvents(of: session, after: first, upTo: last)
        return record
    }

    func sessions(owner: String, before cursor: Int64?, limit: Int) throws(StoreError) -> [SessionSummary] {
        try rows(
            """
            SELECT number, id, created, updated, next_seq - 1, title,
                (SELECT count(*) FROM requests r WHERE r.session = s.number AND r.state = 'open')
            FROM sessions s WHERE owner = $1 AND number < $2 ORDER BY number DESC LIMIT $3
            """,
            .text(owner),
            .number(cursor ?? Int64.max),
            .number(limit)
        ) { row in
            SessionSummary(
                number: row.integer(0),
                id: row.id(1),
                created: Timestamp(milliseconds: row.integer(2)),
                updated: Timestamp(milliseconds: row.integer(3)),
                lastSequence: row.unsigned(4),
                title: row.text(5),
                open: Int(row.integer(6))
            )
        }
    }

    func request(_ request: Identifier, in session: Identifier, owner: String) throws(StoreError) -> RequestRecord {
        let record = try first(
            """
            SELECT r.id, r.state, r.text, r.answer, r.created, r.ended, r.accepted_seq, r.terminal_seq
            FROM requests r JOIN sessions s ON s.number = r.session
            WHERE r.id = $1 AND s.id = $2 AND s.owner = $3
            """,
            .id(request),
            .id(session),
            .text(owner),
            read: PostgresConnection.request
        )
        guard let record else { throw .notFound }
        return record
    }

    func history(before request: Identifier, limit: Int) throws(StoreError) -> [HistoryRecord] {
        try rows(
            """
            SELECT h.text, h.answer, h.plan, h.state, h.number FROM requests r
            JOIN requests h ON h.session = r.session AND h.number < r.number AND h.state <> 'open'
            WHERE r.id = $1 ORDER BY h.number DESC LIMIT $2
            """,
            .id(request),
            .number(limit),
            read: { HistoryRecord($0) }
        ).reversed()
    }

    func jobs(owner: String, after cursor: Int64?, limit: Int) throws(StoreError) -> [JobRecord] {
        if let cursor {
            return try rows(
                """
                SELECT j.log, j.id, s.id, j.skill, j.worker, j.attempts, j.started, j.ended, j.outcome FROM jobs j
                JOIN requests r ON r.number = j.request JOIN sessions s ON s.number = r.session
                WHERE j.log > $1 AND r.owner = $2 ORDER BY j.log LIMIT $3
                """,
                .number(cursor),
                .text(owner),
                .number(limit),
                read: PostgresConnection.job
            )
        }
        return try rows(
            """
            SELECT j.log, j.id, s.id, j.skill, j.worker, j.attempts, j.started, j.ended, j.outcome FROM jobs j
            JOIN requests r ON r.number = j.request JOIN sessions s ON s.number = r.session
            WHERE j.log IS NOT NULL AND r.owner = $1 ORDER BY j.log DESC LIMIT $2
            """,
            .text(owner),
            .number(limit),
            read: PostgresConnection.job
        ).reversed()
    }

    private static func job(_ row: PostgresRow) -> JobRecord {
        JobRecord(
            number: row.integer(0),
            job: row.id(1),
            session: row.id(2),
            skill: row.text(3),
            worker: row.text(4),
            attempts: UInt32(clamping: row.integer(5)),
            started: Timestamp(milliseconds: row.integer(6)),
            ended: Timestamp(milliseconds: row.integer(7)),
            outcome: row.text(8)
        )
    }

    private static func request(_ row: PostgresRow) -> RequestRecord {
        RequestRecord(
            id: row.id(0),
            state: RequestState(rawValue: row.text(1)) ?? .failed,
            text: row.text(2),
            answer: row.optionalText(3),
            created: Timestamp(milliseconds: row.integer(4)),
            ended: row.optionalInteger(5).map { Timestamp(milliseconds: $0) },
            acceptedSequence: row.unsigned(6),
            terminalSequence: row.optionalInteger(7).map { UInt64(clamping: $0) }
        )
    }
}
