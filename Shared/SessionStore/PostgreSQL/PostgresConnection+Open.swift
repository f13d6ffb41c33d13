internal import Telemetry
internal import Wire

/// Requests that are open: what is needed to go on with them, and how they stand.
extension PostgresConnection {
    /// A job that talks for minutes has thousands of events. The server picks their texts out as they stand in the JSON,
    /// still quoted, so that all texts of a job are decoded at once.
    func openEvents(of session: Int64, after first: UInt64, upTo last: UInt64) throws(StoreError) -> [OpenEvent] {
        struct Found {
            var event: OpenEvent
            var bytes: [UInt8]
            /// Of a text: whether the bytes are the whole event, since the server reads no JSON with a NUL in it.
            var isWhole: Bool
        }
        let found = try rows(
            """
            SELECT id, job, type, CASE WHEN is_text AND NOT has_nul
                THEN convert_to((convert_from(body, 'UTF8')::json -> 'data' -> 'text')::text, 'UTF8') ELSE body END, has_nul
            FROM (SELECT r.id, e.job, e.type, e.body, e.seq, e.type = 'job.delta' AS is_text,
                    position(convert_to('\\u0000', 'UTF8') IN e.body) > 0 AS has_nul
                FROM events e JOIN requests r ON r.number = e.request
                WHERE e.session = $1 AND e.seq > $2 AND e.seq <= $3 AND r.state = 'open') e
            ORDER BY seq
            """,
            .number(session),
            .number(first),
            .number(last)
        ) { row in
            Found(
                event: OpenEvent(request: row.id(0), job: row.optionalID(1), type: row.text(2)),
                bytes: row.bytes(3),
                isWhole: row.flag(4)
            )
        }
        var events: [OpenEvent] = []
        /// Texts of the events that are one, without their quotes.
        var texts: [Int: [UInt8]] = [:]
        /// Where the last event of each job stands.
        var places: [Identifier: Int] = [:]
        for next in found {
            let place: Int
            if let job = next.event.job, let last = places[job], events[last].type == next.event.type {
                place = last
            } else {
                place = events.count
                events.append(next.event)
                if let job = next.event.job { places[job] = place }
            }
            if next.event.type == SessionEvent.Kind.delta {
                let quoted = next.isWhole ? PostgresConnection.quotedText(of: next.bytes) : next.bytes
                texts[place, default: []] += quoted.dropFirst().dropLast()
            } else {
                events[place].json = next.bytes
            }
        }
        for (place, text) in texts {
            let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
            events[place].text = (try? JSONBody.decode(String.self, from: quoted)) ?? ""
        }
        return events
    }

    /// The text of a `job.delta` as it stands in JSON.
    private static func quotedText(of event: [UInt8]) -> [UInt8] {
        let read = try? JSONBody.decode(JSONValue.self, from: event)
        return read?["data"]?["text"].flatMap { try? JSONBody.encode($0) } ?? []
    }

    func attachment(_ position: Int, of request: Identifier) throws(StoreError) -> [UInt8] {
        let data = try first(
            """
            SELECT a.data FROM attachments a JOIN requests r ON r.number = a.request
            WHERE r.id = $1 AND a.position = $2
            """,
            .id(request),
            .number(position)
        ) { $0.bytes(0) }
        guard let data else { throw .notFound }
        return data
    }

    /// Those of a list; all if there is none.
    func openRequests(only requests: [Identifier]? = nil) throws(StoreError) -> [OpenRequestRecord] {
        var open: [(number: Int64, session: Int64, record: OpenRequestRecord)]
        if let requests {
            open = try rows(
                """
                SELECT r.number, r.session, r.id, s.id, r.owner, r.generation, r.enqueued, r.cancelling, r.ends_alone,
                    r.created, r.timeout, r.text, r.input, r.plan, r.router, r.owner_epoch, s.privacy
                FROM requests r JOIN sessions s ON s.number = r.session
                WHERE r.id = ANY($1) AND r.state = 'open' ORDER BY r.number
                """,
                .ids(requests),
                read: PostgresConnection.open
            )
        } else {
            open = try rows(
                """
                SELECT r.number, r.session, r.id, s.id, r.owner, r.generation, r.enqueued, r.cancelling, r.ends_alone,
                    r.created, r.timeout, r.text, r.input, r.plan, r.router, r.owner_epoch, s.privacy
                FROM requests r JOIN sessions s ON s.number = r.session WHERE r.state = 'open' ORDER BY r.number
                """,
                read: PostgresConnection.open
            )
        }
        for index in open.indices {
            open[index].record.attachments = try rows(
                "SELECT name, media_type, octet_length(data)::bigint FROM attachments WHERE request = $1 ORDER BY position",
                .number(open[index].number)
            ) { row in
                OpenRequestRecord.Attachment(name: row.text(0), mediaType: row.text(1), bytes: Int(row.integer(2)))
            }
            open[index].record.jobs = try rows(
                """
                SELECT j.id, j.generation, j.attempt, j.last_seq, j.outcome, e.body
                FROM jobs j LEFT JOIN events e ON e.session = $2 AND e.seq = j.terminal_seq WHERE j.request = $1
                ORDER BY j.id
                """,
                .number(open[index].number),
                .number(open[index].session)
            ) { row in
                let execution = Execution(
                    job: row.id(0),
                    generation: UInt32(clamping: row.integer(1)),
                    attempt: UInt32(clamping: row.integer(2))
                )
                return OpenRequestRecord.Job(
                    execution: execution,
                    lastSequence: row.unsigned(3),
                    outcome: row.optionalText(4),
                    terminal: row.optionalBytes(5)
                )
            }
        }
        return open.map(\.record)
    }

    /// Those of one gateway.
    func openRequests(of gateway: Identifier) throws(StoreError) -> [OpenRequestRecord] {
        let own = try rows(
            "SELECT id FROM requests WHERE owner_gateway = $1 AND state = 'open'",
            .id(gateway)
        ) { $0.id(0) }
        return try openRequests(only: own)
    }

    private static func open(_ row: PostgresRow) -> (number: Int64, session: Int64, record: OpenRequestRecord) {
        let record = OpenRequestRecord(
            number: row.integer(0),
            id: row.id(2),
            session: row.id(3),
            owner: row.text(4),
            privacy: PrivacyPolicy(rawValue: row.text(16)) ?? .localOnly,
            epoch: row.integer(15),
            generation: UInt32(clamping: row.integer(5)),
            router: row.optionalID(14),
            enqueued: row.flag(6),
            cancelRequested: row.flag(7),
            endsOnDisconnect: row.flag(8),
            created: Timestamp(milliseconds: row.integer(9)),
            timeout: row.integer(10),
            text: row.text(11),
            input: row.bytes(12),
            plan: row.optionalBytes(13),
            attachments: [],
            jobs: []
        )
        return (row.integer(0), row.integer(1), record)
    }
}
