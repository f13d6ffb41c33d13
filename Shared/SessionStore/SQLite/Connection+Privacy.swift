internal import Telemetry
internal import Wire

/// What may go to outside parties and what has, and sessions that are to be forgotten.
extension Connection {
    /// The answers that count for a request: its own, and those for all of its session.
    func approvals(of request: Identifier) throws(StoreError) -> [ApprovalRecord] {
        var found: [ApprovalRecord] = []
        try rows(
            """
            SELECT a.party, a.choice FROM requests r JOIN approvals a ON a.session = r.session
            WHERE r.id = ?1 AND a.request IN (r.number, 0) ORDER BY a.request DESC, a.party
            """,
            .id(request)
        ) { row in
            if let choice = ApprovalChoice(rawValue: row.text(1)) {
                found.append(ApprovalRecord(party: row.text(0), choice: choice))
            }
            return true
        }
        return found
    }

    /// Stores an answer; runs within a transaction.
    func approve(
        _ answer: ApprovalRecord,
        of request: Identifier,
        in session: Identifier,
        owner: String,
        at time: Timestamp
    ) throws(StoreError) {
        let stored = try run(
            """
            INSERT OR REPLACE INTO approvals(session, request, party, choice, time)
            SELECT s.number, CASE WHEN ?5 = 'always' THEN 0 ELSE r.number END, ?4, ?5, ?6
            FROM requests r JOIN sessions s ON s.number = r.session WHERE r.id = ?1 AND s.id = ?2 AND s.owner = ?3
            """,
            .id(request),
            .id(session),
            .text(owner),
            .text(answer.party),
            .text(answer.choice.rawValue),
            .integer(time.milliseconds)
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
        if let session { _ = try sessionRow(session, owner) }
        var found: [DisclosureRecord] = []
        try rows(
            """
            SELECT e.session, e.seq, e.body FROM events e JOIN sessions s ON s.number = e.session
            WHERE e.type = 'disclosure' AND s.owner = ?1 AND (?2 IS NULL OR s.id = ?2) AND (e.session, e.seq) < (?3, ?4)
            ORDER BY e.session DESC, e.seq DESC LIMIT ?5
            """,
            .text(owner),
            session.map { .id($0) } ?? .null,
            .integer(place?.session ?? .max),
            .number(place?.seq ?? 0),
            .number(limit)
        ) { row in
            found.append(
                DisclosureRecord(place: .init(session: row.integer(0), seq: row.unsigned(1)), json: row.bytes(2))
            )
            return true
        }
        return found
    }

    /// One step of deleting all of a session; runs within a transaction. A deleted row is overwritten with zeros.
    /// - Returns: Whether there is more to delete.
    /// - Throws: `busy` while a request of it has not ended.
    func forget(_ session: Identifier, owner: String) throws(StoreError) -> Bool {
        let number = try sessionRow(session, owner).number
        let open = try first(
            "SELECT 1 FROM requests WHERE session = ?1 AND state = 'open' LIMIT 1",
            .integer(number)
        ) { _ in true }
        guard open == nil else { throw .busy }
        try run("DELETE FROM approvals WHERE session = ?1", .integer(number))
        try run("DELETE FROM summaries WHERE session = ?1", .integer(number))
        try run(
            "DELETE FROM idempotency WHERE request IN (SELECT id FROM requests WHERE session = ?1)",
            .integer(number)
        )
        guard try !prune(number, before: .max).isMore else { return true }
        // Not even its id stays.
        try run("DELETE FROM pruned WHERE id = ?1", .id(session))
        return false
    }
}

extension Schema {
    /// Version 4: what may go to outside parties.
    static let privacy = """
        ALTER TABLE sessions ADD COLUMN privacy TEXT NOT NULL DEFAULT 'local-only';

        CREATE TABLE approvals(
            session INTEGER NOT NULL REFERENCES sessions(number),
            request INTEGER NOT NULL,                    -- 0 for an answer that is for all of the session
            party   TEXT    NOT NULL,
            choice  TEXT    NOT NULL,
            time    INTEGER NOT NULL,
            PRIMARY KEY(session, request, party)
        ) WITHOUT ROWID;
        CREATE INDEX disclosures ON events(session, seq) WHERE type = 'disclosure';

        """
}
