internal import Telemetry
internal import Wire

extension Connection {
    /// Runs several queries on one consistent state.
    func look<Value>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try run("BEGIN")
        // Always ended, or the log could not be cut while this thread waits for its next question.
        defer { _ = try? run("COMMIT") }
        return try body(self)
    }

    func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) throws(StoreError) -> StoredPage {
        let (session, last) = try sessionRow(session, owner)
        var page = StoredPage(events: [], lastSequence: last)
        guard number < last else { return page }
        var bytes = 0
        // Up to the number seen above: what is committed in between belongs to the next page.
        try rows(
            "SELECT seq, type, body FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq",
            .integer(session),
            .number(number),
            .number(last)
        ) { row in
            let event = StoredEvent(seq: row.unsigned(0), type: row.text(1), json: row.bytes(2))
            bytes += event.json.count
            guard page.events.isEmpty || bytes <= maxBytes else { return false }
            page.events.append(event)
            return true
        }
        return page
    }

    func session(_ session: Identifier, owner: String, messages: Int) throws(StoreError) -> SessionRecord {
        let (session, last) = try sessionRow(session, owner)
        var record = SessionRecord(lastSequence: last, requests: [], openEvents: [])
        let privacy = try first("SELECT privacy FROM sessions WHERE number = ?1", .integer(session)) { $0.text(0) }
        record.privacy = privacy.flatMap { PrivacyPolicy(rawValue: $0) } ?? .localOnly
        record.summary = try summary(of: session)
        // Newest first and turned round: the limit keeps the last ones. Open ones are always among them, however old.
        try rows(
            """
            SELECT id, state, text, answer, created, ended, accepted_seq, terminal_seq FROM requests
            WHERE session = ?1 AND (state = 'open' OR number > coalesce(
                (SELECT number FROM requests WHERE session = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2), 0))
            ORDER BY number
            """,
            .integer(session),
            .number(messages)
        ) { row in
            record.requests.append(Connection.request(row))
            return true
        }
        guard let first = record.requests.filter({ $0.state == .open }).map(\.acceptedSequence).min() else {
            return record
        }
        record.openEvents = try openEvents(of: session, after: first, upTo: last)
        return record
    }

    func sessions(owner: String, before cursor: Int64?, limit: Int) throws(StoreError) -> [SessionSummary] {
        var list: [SessionSummary] = []
        try rows(
            """
            SELECT number, id, created, updated, next_seq - 1, title,
                (SELECT count(*) FROM requests r WHERE r.session = s.number AND r.state = 'open')
            FROM sessions s WHERE owner = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3
            """,
            .text(owner),
            .integer(cursor ?? Int64.max),
            .number(limit)
        ) { row in
            list.append(
                SessionSummary(
                    number: row.integer(0),
                    id: row.id(1),
                    created: Timestamp(milliseconds: row.integer(2)),
                    updated: Timestamp(milliseconds: row.integer(3)),
                    lastSequence: row.unsigned(4),
                    title: row.text(5),
                    open: Int(row.integer(6))
                )
            )
            return true
        }
        return list
    }

    func request(_ request: Identifier, in session: Identifier, owner: String) throws(StoreError) -> RequestRecord {
        let record = try first(
            """
            SELECT r.id, r.state, r.text, r.answer, r.created, r.ended, r.accepted_seq, r.terminal_seq
            FROM requests r JOIN sessions s ON s.number = r.session
            WHERE r.id = ?1 AND s.id = ?2 AND s.owner = ?3
            """,
            .id(request),
            .id(session),
            .text(owner)
        ) { Connection.request($0) }
        guard let record else { throw .notFound }
        return record
    }

    func history(before request: Identifier, limit: Int) throws(StoreError) -> [HistoryRecord] {
        var turns: [HistoryRecord] = []
        try rows(
            """
            SELECT h.text, h.answer, h.plan, h.state, h.number FROM requests r
            JOIN requests h ON h.session = r.session AND h.number < r.number AND h.state <> 'open'
            WHERE r.id = ?1 ORDER BY h.number DESC LIMIT ?2
            """,
            .id(request),
            .number(limit)
        ) { row in
            turns.append(HistoryRecord(row))
            return true
        }
        return turns.reversed()
    }

    func jobs(owner: String, after cursor: Int64?, limit: Int) throws(StoreError) -> [JobRecord] {
        var log: [JobRecord] = []
        func add(_ row: SQLRow) -> Bool {
            log.append(
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
            )
            return true
        }
        if let cursor {
            try rows(
                """
                SELECT j.log, j.id, s.id, j.skill, j.worker, j.attempts, j.started, j.ended, j.outcome FROM jobs j
                JOIN requests r ON r.number = j.request JOIN sessions s ON s.number = r.session
                WHERE j.log > ?1 AND r.owner = ?2 ORDER BY j.log LIMIT ?3
                """,
                .integer(cursor),
                .text(owner),
                .number(limit),
                body: { row in add(row) }
            )
            return log
        }
        try rows(
            """
            SELECT j.log, j.id, s.id, j.skill, j.worker, j.attempts, j.started, j.ended, j.outcome FROM jobs j
            JOIN requests r ON r.number = j.request JOIN sessions s ON s.number = r.session
            WHERE j.log IS NOT NULL AND r.owner = ?1 ORDER BY j.log DESC LIMIT ?2
            """,
            .text(owner),
            .number(limit),
            body: { row in add(row) }
        )
        return log.reversed()
    }

    private static func request(_ row: SQLRow) -> RequestRecord {
        RequestRecord(
            id: row.id(0),
            state: RequestState(rawValue: row.text(1)) ?? .failed,
            text: row.text(2),
            answer: row.optionalText(3),
            created: Timestamp(milliseconds: row.integer(4)),
            ended: row.isNull(5) ? nil : Timestamp(milliseconds: row.integer(5)),
            acceptedSequence: row.unsigned(6),
            terminalSequence: row.isNull(7) ? nil : row.unsigned(7)
        )
    }
}
