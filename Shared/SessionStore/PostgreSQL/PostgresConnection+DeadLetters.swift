internal import Telemetry
internal import Wire

/// What is read of dead letters, and taking one off the list. Everything but a row for each is in the rows of its
/// request, which are deleted with it.
extension PostgresConnection {
    /// Events that say how a job went, at most: the last ones.
    private static let attemptEvents = 32
    /// Events that are shown of a job, at most: the last ones.
    private static let lastEvents = 20

    func deadLetters(owner: String, before cursor: Int64?, limit: Int) throws(StoreError) -> [DeadLetterSummary] {
        try rows(
            """
            SELECT d.number, d.job, s.id, j.skill, r.text, d.time, j.attempts, j.worker, d.retried,
                (SELECT body FROM events e WHERE e.session = r.session AND e.seq = j.terminal_seq)
            FROM dead_letters d JOIN jobs j ON j.id = d.job JOIN requests r ON r.number = d.request
            JOIN sessions s ON s.number = r.session
            WHERE d.owner = $1 AND d.number < $2 ORDER BY d.number DESC LIMIT $3
            """,
            .text(owner),
            .number(cursor ?? .max),
            .number(limit),
            read: PostgresConnection.deadLetter
        )
    }

    /// One with its events; to be called within ``look(_:)``.
    func deadLetter(_ job: Identifier, owner: String) throws(StoreError) -> DeadLetterRecord {
        let summary = try first(
            """
            SELECT d.number, d.job, s.id, j.skill, r.text, d.time, j.attempts, j.worker, d.retried,
                (SELECT body FROM events e WHERE e.session = r.session AND e.seq = j.terminal_seq)
            FROM dead_letters d JOIN jobs j ON j.id = d.job JOIN requests r ON r.number = d.request
            JOIN sessions s ON s.number = r.session
            WHERE d.job = $1 AND d.owner = $2
            """,
            .id(job),
            .text(owner),
            read: PostgresConnection.deadLetter
        )
        guard let summary else { throw .notFound }
        // Newest first and turned round: the limits keep the last ones.
        let attempts = try rows(
            """
            SELECT e.seq, e.type, e.body FROM dead_letters d JOIN requests r ON r.number = d.request
            JOIN events e ON e.session = r.session AND e.seq BETWEEN r.accepted_seq AND coalesce(r.terminal_seq, 9223372036854775807)
                AND e.job = d.job
            WHERE d.job = $1 AND e.type IN ('job.started', 'job.retrying', 'job.failed') ORDER BY e.seq DESC LIMIT $2
            """,
            .id(job),
            .number(PostgresConnection.attemptEvents)
        ) { StoredEvent(seq: $0.unsigned(0), type: $0.text(1), json: $0.bytes(2)) }
        let last = try rows(
            """
            SELECT e.seq, e.type, e.body FROM dead_letters d JOIN requests r ON r.number = d.request
            JOIN events e ON e.session = r.session AND e.seq BETWEEN r.accepted_seq AND coalesce(r.terminal_seq, 9223372036854775807)
                AND e.job = d.job
            WHERE d.job = $1 ORDER BY e.seq DESC LIMIT $2
            """,
            .id(job),
            .number(PostgresConnection.lastEvents)
        ) { StoredEvent(seq: $0.unsigned(0), type: $0.text(1), json: $0.bytes(2)) }
        return DeadLetterRecord(summary: summary, attempts: attempts.reversed(), last: last.reversed())
    }

    /// What one worked on; to be called within ``look(_:)``.
    func deadLetterInput(_ job: Identifier, owner: String) throws(StoreError) -> DeadLetterInput {
        let found = try first(
            """
            SELECT r.number, r.id, s.id, r.text, r.input, r.timeout FROM dead_letters d
            JOIN requests r ON r.number = d.request JOIN sessions s ON s.number = r.session
            WHERE d.job = $1 AND d.owner = $2
            """,
            .id(job),
            .text(owner)
        ) { row in
            let input = DeadLetterInput(
                request: row.id(1),
                session: row.id(2),
                text: row.text(3),
                input: row.bytes(4),
                timeout: row.integer(5),
                attachments: []
            )
            return (number: row.integer(0), input: input)
        }
        guard var found else { throw .notFound }
        found.input.attachments = try rows(
            "SELECT name, media_type, octet_length(data)::bigint FROM attachments WHERE request = $1 ORDER BY position",
            .number(found.number)
        ) { OpenRequestRecord.Attachment(name: $0.text(0), mediaType: $0.text(1), bytes: Int($0.integer(2))) }
        return found.input
    }

    func discardDeadLetter(_ job: Identifier, owner: String) throws(StoreError) {
        let deleted = try run("DELETE FROM dead_letters WHERE job = $1 AND owner = $2", .id(job), .text(owner))
        guard deleted > 0 else { throw .notFound }
    }

    private static func deadLetter(_ row: PostgresRow) -> DeadLetterSummary {
        DeadLetterSummary(
            number: row.integer(0),
            job: row.id(1),
            session: row.id(2),
            skill: row.text(3),
            text: row.text(4),
            time: Timestamp(milliseconds: row.integer(5)),
            attempts: UInt32(clamping: row.integer(6)),
            worker: row.text(7),
            retriedAs: row.optionalID(8),
            terminal: row.optionalBytes(9)
        )
    }
}

extension PostgresSchema {
    /// Version 2: jobs that were given up.
    static let deadLetters = """
        CREATE TABLE dead_letters(
            number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- order of giving up; cursor of the list
            job     uuid   NOT NULL UNIQUE,
            request bigint NOT NULL REFERENCES requests(number) ON DELETE CASCADE,
            owner   text   NOT NULL,
            time    bigint NOT NULL,
            retried uuid                                 -- request that it was sent again as
        );
        CREATE INDEX dead_letters_of_owner ON dead_letters(owner, number);
        CREATE INDEX dead_letters_of_request ON dead_letters(request);
        INSERT INTO dead_letters(job, request, owner, time)
            SELECT j.id, j.request, r.owner, j.ended FROM jobs j JOIN requests r ON r.number = j.request
            WHERE j.outcome = 'dead_lettered' ORDER BY j.log;

        """
}
