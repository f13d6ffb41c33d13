internal import Telemetry
internal import Wire

/// Requests that are open: what is needed to go on with them, and how they stand.
extension Connection {
    /// A job that talks for minutes has thousands of events; what they come to is gathered here, on a thread that may
    /// take its time, by SQLite, which reads JSON in a fraction of what Foundation takes.
    func openEvents(of session: Int64, after first: UInt64, upTo last: UInt64) throws(StoreError) -> [OpenEvent] {
        var events: [OpenEvent] = []
        /// Where the last event of each job stands.
        var places: [Identifier: Int] = [:]
        try rows(
            """
            SELECT r.id, e.job, e.type,
                CASE e.type WHEN 'job.delta' THEN json_extract(CAST(e.body AS TEXT), '$.data.text') ELSE e.body END
            FROM events e JOIN requests r ON r.number = e.request
            WHERE e.session = ?1 AND e.seq > ?2 AND e.seq <= ?3 AND r.state = 'open' ORDER BY e.seq
            """,
            .integer(session),
            .number(first),
            .number(last)
        ) { row in
            let type = row.text(2)
            let isText = type == SessionEvent.Kind.delta
            let job = row.isNull(1) ? nil : row.id(1)
            let place: Int
            if let job, let last = places[job], events[last].type == type {
                place = last
            } else {
                place = events.count
                events.append(OpenEvent(request: row.id(0), job: job, type: type))
                if let job { places[job] = place }
            }
            if isText { events[place].text += row.text(3) } else { events[place].json = row.bytes(3) }
            return true
        }
        return events
    }

    func attachment(_ position: Int, of request: Identifier) throws(StoreError) -> [UInt8] {
        let row = try first(
            """
            SELECT a.rowid FROM attachments a JOIN requests r ON r.number = a.request
            WHERE r.id = ?1 AND a.position = ?2
            """,
            .id(request),
            .number(position)
        ) { $0.integer(0) }
        guard let row else { throw .notFound }
        return try blob("attachments", "data", row: row)
    }

    func openRequests(only request: Identifier? = nil) throws(StoreError) -> [OpenRequestRecord] {
        var open: [(number: Int64, session: Int64, record: OpenRequestRecord)] = []
        func add(_ row: SQLRow) -> Bool {
            let record = OpenRequestRecord(
                number: row.integer(0),
                id: row.id(2),
                session: row.id(3),
                owner: row.text(4),
                privacy: PrivacyPolicy(rawValue: row.text(15)) ?? .localOnly,
                generation: UInt32(clamping: row.integer(5)),
                router: row.isNull(14) ? nil : row.id(14),
                enqueued: row.integer(6) != 0,
                cancelRequested: row.integer(7) != 0,
                endsOnDisconnect: row.integer(8) != 0,
                created: Timestamp(milliseconds: row.integer(9)),
                timeout: row.integer(10),
                text: row.text(11),
                input: row.bytes(12),
                plan: row.optionalBytes(13),
                attachments: [],
                jobs: []
            )
            open.append((row.integer(0), row.integer(1), record))
            return true
        }
        if let request {
            try rows(
                """
                SELECT r.number, r.session, r.id, s.id, r.owner, r.generation, r.enqueued, r.cancelling, r.ends_alone,
                    r.created, r.timeout, r.text, r.input, r.plan, r.router, s.privacy
                FROM requests r JOIN sessions s ON s.number = r.session WHERE r.id = ?1 AND r.state = 'open'
                """,
                .id(request),
                body: { row in add(row) }
            )
        } else {
            try rows(
                """
                SELECT r.number, r.session, r.id, s.id, r.owner, r.generation, r.enqueued, r.cancelling, r.ends_alone,
                    r.created, r.timeout, r.text, r.input, r.plan, r.router, s.privacy
                FROM requests r INDEXED BY open_of_session JOIN sessions s ON s.number = r.session
                WHERE r.state = 'open' ORDER BY r.number
                """,
                body: { row in add(row) }
            )
        }
        for index in open.indices {
            try rows(
                // The length of a value is known without reading it.
                "SELECT name, media_type, length(data) FROM attachments WHERE request = ?1 ORDER BY position",
                .integer(open[index].number)
            ) { row in
                open[index].record.attachments.append(
                    OpenRequestRecord.Attachment(
                        name: row.text(0),
                        mediaType: row.text(1),
                        bytes: Int(row.integer(2))
                    )
                )
                return true
            }
            try rows(
                """
                SELECT j.id, j.generation, j.attempt, j.last_seq, j.outcome, e.body
                FROM jobs j LEFT JOIN events e ON e.session = ?2 AND e.seq = j.terminal_seq WHERE j.request = ?1
                """,
                .integer(open[index].number),
                .integer(open[index].session)
            ) { row in
                let execution = Execution(
                    job: row.id(0),
                    generation: UInt32(clamping: row.integer(1)),
                    attempt: UInt32(clamping: row.integer(2))
                )
                open[index].record.jobs.append(
                    OpenRequestRecord.Job(
                        execution: execution,
                        lastSequence: row.unsigned(3),
                        outcome: row.optionalText(4),
                        terminal: row.optionalBytes(5)
                    )
                )
                return true
            }
        }
        return open.map(\.record)
    }
}
