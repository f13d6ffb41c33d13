internal import Telemetry
internal import Wire

/// What may go to outside parties and what has, and sessions that are to be forgotten.
extension PostgresConnection {
    /// The answers that count for a request: its own, and those for all of its session.
    func approvals(of request: Identifier) throws(StoreError) -> [ApprovalRecord] {
        try rows(
            """
            SELECT a.party, a.choice FROM requests r JOIN approvals a ON a.session = r.session
            WHERE r.id = $1 AND a.request IN (r.number, 0) ORDER BY a.request DESC, a.party
            """,
            .id(request)
        ) { row in ApprovalRecord(party: row.text(0), choice: ApprovalChoice(rawValue: row.text(1)) ?? .deny) }
    }

    /// Stores an answer.
    func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) throws(StoreError) {
        let stored = try run(
            """
            INSERT INTO approvals(session, request, party, choice, time)
            SELECT s.number, CASE WHEN $5 = 'always' THEN 0 ELSE r.number END, $4, $5, $6
            FROM requests r JOIN sessions s ON s.number = r.session WHERE r.id = $1 AND s.id = $2 AND s.owner = $3
            ON CONFLICT (session, request, party) DO UPDATE SET choice = excluded.choice, time = excluded.time
            """,
            .id(request),
            .id(session),
            .text(owner),
            .text(answer.party),
            .text(answer.choice.rawValue),
            .number(time.milliseconds)
        )
        guard stored > 0 else { throw .notFound }
    }

    /// Disclosures of an owner, or of one session of him, the latest first.
    func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) throws(StoreError) -> [DisclosureRecord] {
        let number = try session.map { session throws(StoreError) in try sessionRow(session, owner).number }
        return try rows(
            """
            SELECT e.session, e.seq, e.body FROM events e JOIN sessions s ON s.number = e.session
            WHERE e.type = 'disclosure' AND s.owner = $1 AND ($2 = 0 OR e.session = $2) AND (e.session, e.seq) < ($3, $4)
            ORDER BY e.session DESC, e.seq DESC LIMIT $5
            """,
            .text(owner),
            .number(number ?? 0),
            .number(place?.session ?? .max),
            .number(place?.seq ?? 0),
            .number(limit)
        ) { row in
            DisclosureRecord(place: .init(session: row.integer(0), seq: row.unsigned(1)), json: row.bytes(2))
        }
    }

    /// One step of deleting all of a session.
    /// - Returns: Whether there is more to delete.
    /// - Throws: `busy` while a request of it has not ended.
    func forget(_ session: Identifier, owner: String) throws(StoreError) -> Bool {
        try transaction { connection throws(StoreError) in
            let number = try connection.sessionRow(session, owner).number
            let open = try connection.first(
                "SELECT 1::bigint FROM requests WHERE session = $1 AND state = 'open' LIMIT 1",
                .number(number)
            ) { _ in true }
            guard open == nil else { throw .busy }
            try connection.run(
                "DELETE FROM idempotency WHERE request IN (SELECT id FROM requests WHERE session = $1)",
                .number(number)
            )
            guard try !connection.pruneStep(number, before: .max).isMore else { return true }
            // Not even its id stays.
            try connection.run("DELETE FROM pruned WHERE id = $1", .id(session))
            return false
        }
    }
}

extension PostgresSchema {
    /// Version 3: what may go to outside parties.
    static let privacy = """
        ALTER TABLE sessions ADD COLUMN privacy text NOT NULL DEFAULT 'local-only';

        CREATE TABLE approvals(
            session bigint NOT NULL REFERENCES sessions(number) ON DELETE CASCADE,
            request bigint NOT NULL,                     -- 0 for an answer that is for all of the session
            party   text   NOT NULL,
            choice  text   NOT NULL,
            time    bigint NOT NULL,
            PRIMARY KEY(session, request, party)
        );
        CREATE INDEX disclosures ON events(session, seq) WHERE type = 'disclosure';

        """
}
