internal import Telemetry
internal import Wire

/// Dead letters: a row for each job that was given up, made in the transaction of the job's end. Everything else about it
/// is in the rows of its request, which are deleted with it.
extension Connection {
    /// Events that say how a job went, at most: the last ones.
    private static let attemptEvents = 32
    /// Events that are shown of a job, at most: the last ones.
    private static let lastEvents = 20

    /// Notes that a job was given up; runs within the transaction of its end.
    func addDeadLetter(_ job: Identifier, _ now: Int64) throws(StoreError) {
        try run(
            """
            INSERT INTO dead_letters(job, request, owner, time)
            SELECT j.id, j.request, r.owner, ?2 FROM jobs j JOIN requests r ON r.number = j.request WHERE j.id = ?1
            """,
            .id(job),
            .integer(now)
        )
    }

    func deadLetters(owner: String, before cursor: Int64?, limit: Int) throws(StoreError) -> [DeadLetterSummary] {
        var list: [DeadLetterSummary] = []
        try rows(
            """
            SELECT d.number, d.job, s.id, j.skill, r.text, d.time, j.attempts, j.worker, d.retried,
                (SELECT body FROM events e WHERE e.session = r.session AND e.seq = j.terminal_seq)
            FROM dead_letters d JOIN jobs j ON j.id = d.job JOIN requests r ON r.number = d.request
            JOIN sessions s ON s.number = r.session
            WHERE d.owner = ?1 AND d.number < ?2 ORDER BY d.number DESC LIMIT ?3
            """,
            .text(owner),
            .integer(cursor ?? .max),
            .number(limit)
        ) { row in
            list.append(Connection.deadLetter(row))
            return true
        }
        return list
    }

    func deadLetter(_ job: Identifier, owner: String) throws(StoreError) -> DeadLetterRecord {
        let summary = try first(
            """
            SELECT d.number, d.job, s.id, j.skill, r.text, d.time, j.attempts, j.worker, d.retried,
                (SELECT body FROM events e WHERE e.session = r.session AND e.seq = j.terminal_seq)
            FROM dead_letters d JOIN jobs j ON j.id = d.job JOIN requests r ON r.number = d.request
            JOIN sessions s ON s.number = r.session
            WHERE d.job = ?1 AND d.owner = ?2
            """,
            .id(job),
            .text(owner)
        ) { Connection.deadLetter($0) }
        guard let summary else { throw .notFound }
        var record = DeadLetterRecord(summary: summary, attempts: [], last: [])
        try rows(
            """
            SELECT e.seq, e.type, e.body FROM dead_letters d JOIN requests r ON r.number = d.request
            JOIN events e ON e.session = r.session AND e.seq BETWEEN r.accepted_seq AND coalesce(r.terminal_seq, 9223372036854775807)
                AND e.job = d.job
            WHERE d.job = ?1 AND e.type IN ('job.started', 'job.retrying', 'job.failed') ORDER BY e.seq DESC LIMIT ?2
            """,
            .id(job),
            .number(Connection.attemptEvents)
        ) { row in
            record.attempts.append(StoredEvent(seq: row.unsigned(0), type: row.text(1), json: row.bytes(2)))
            return true
        }
        try rows(
            """
            SELECT e.seq, e.type, e.body FROM dead_letters d JOIN requests r ON r.number = d.request
            JOIN events e ON e.session = r.session AND e.seq BETWEEN r.accepted_seq AND coalesce(r.terminal_seq, 9223372036854775807)
                AND e.job = d.job
            WHERE d.job = ?1 ORDER BY e.seq DESC LIMIT ?2
            """,
            .id(job),
            .number(Connection.lastEvents)
        ) { row in
            record.last.append(StoredEvent(seq: row.unsigned(0), type: row.text(1), json: row.bytes(2)))
            return true
        }
        record.attempts.reverse()
        record.last.reverse()
        return record
    }

    func deadLetterInput(_ job: Identifier, owner: String) throws(StoreError) -> DeadLetterInput {
        let found = try first(
            """
            SELECT r.number, r.id, s.id, r.text, r.input, r.timeout FROM dead_letters d
            JOIN requests r ON r.number = d.request JOIN sessions s ON s.number = r.session
            WHERE d.job = ?1 AND d.owner = ?2
            """,
            .id(job),
            .text(owner)
        ) { row in
            (
                row.integer(0),
                DeadLetterInput(
                    request: row.id(1),
                    session: row.id(2),
                    text: row.text(3),
                    input: row.bytes(4),
                    timeout: row.integer(5),
                    attachments: []
                )
            )
        }
        guard let (number, described) = found else { throw .notFound }
        var input = described
        try rows(
            "SELECT name, media_type, length(data) FROM attachments WHERE request = ?1 ORDER BY position",
            .integer(number)
        ) { row in
            let file = OpenRequestRecord.Attachment(
                name: row.text(0),
                mediaType: row.text(1),
                bytes: Int(row.integer(2))
            )
            input.attachments.append(file)
            return true
        }
        return input
    }

    /// The request that a dead letter was sent again as before; nil if it was not.
    func retry(of job: Identifier, owner: String) throws(StoreError) -> Identifier? {
        let known = try first(
            "SELECT retried FROM dead_letters WHERE job = ?1 AND owner = ?2",
            .id(job),
            .text(owner)
        ) { $0.isNull(0) ? nil : $0.id(0) }
        guard let known else { throw .notFound }
        return known
    }

    /// Notes what a dead letter is sent again as; runs within the transaction of that.
    func noteRetry(of job: Identifier, as request: Identifier) throws(StoreError) {
        try run("UPDATE dead_letters SET retried = ?2 WHERE job = ?1", .id(job), .id(request))
    }

    func discardDeadLetter(_ job: Identifier, owner: String) throws(StoreError) {
        let deleted = try run("DELETE FROM dead_letters WHERE job = ?1 AND owner = ?2", .id(job), .text(owner))
        guard deleted > 0 else { throw .notFound }
    }

    /// Dead letters go with their requests.
    func pruneDeadLetters(of session: Int64, endedBefore seq: UInt64) throws(StoreError) {
        try run(
            """
            DELETE FROM dead_letters WHERE request IN
                (SELECT number FROM requests WHERE session = ?1 AND terminal_seq < ?2)
            """,
            .integer(session),
            .number(seq)
        )
    }

    private static func deadLetter(_ row: SQLRow) -> DeadLetterSummary {
        DeadLetterSummary(
            number: row.integer(0),
            job: row.id(1),
            session: row.id(2),
            skill: row.text(3),
            text: row.text(4),
            time: Timestamp(milliseconds: row.integer(5)),
            attempts: UInt32(clamping: row.integer(6)),
            worker: row.text(7),
            retriedAs: row.isNull(8) ? nil : row.id(8),
            terminal: row.optionalBytes(9)
        )
    }
}

extension Schema {
    /// Version 3: jobs that were given up.
    static let deadLetters = """
        CREATE TABLE dead_letters(
            number  INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of giving up; cursor of the list
            job     BLOB    NOT NULL UNIQUE,
            request INTEGER NOT NULL REFERENCES requests(number),
            owner   TEXT    NOT NULL,
            time    INTEGER NOT NULL,
            retried BLOB                                -- request that it was sent again as
        );
        CREATE INDEX dead_letters_of_owner ON dead_letters(owner, number);
        CREATE INDEX dead_letters_of_request ON dead_letters(request);
        INSERT INTO dead_letters(job, request, owner, time)
            SELECT j.id, j.request, r.owner, j.ended FROM jobs j JOIN requests r ON r.number = j.request
            WHERE j.outcome = 'dead_lettered' ORDER BY j.log;

        """
}
