internal import Telemetry
internal import Wire

/// What was said before in a session, in short.
extension Connection {
    func conversation(before request: Identifier, limit: Int) throws(StoreError) -> ConversationRecord {
        let turns = try history(before: request, limit: limit)
        guard !turns.isEmpty else { return ConversationRecord(turns: []) }
        return ConversationRecord(
            turns: turns,
            summary: try first(
                """
                SELECT m.text, m.last, m.turns, m.time FROM requests r JOIN summaries m ON m.session = r.session
                WHERE r.id = ?1
                """,
                .id(request)
            ) { ConversationSummary($0) }
        )
    }

    func summary(of session: Int64) throws(StoreError) -> ConversationSummary? {
        try first("SELECT text, last, turns, time FROM summaries WHERE session = ?1", .integer(session)) {
            ConversationSummary($0)
        }
    }

    func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) throws(StoreError) -> TurnPage {
        let found = try first("SELECT number, owner FROM sessions WHERE id = ?1", .id(session)) {
            (number: $0.integer(0), owner: $0.text(1))
        }
        guard let found else { throw .notFound }
        var page = TurnPage(turns: [], summary: try summary(of: found.number), owner: found.owner)
        try rows(
            """
            SELECT text, answer, plan, state, number FROM requests
            WHERE session = ?1 AND number > ?2 AND number < ?3 AND state <> 'open' ORDER BY number LIMIT ?4
            """,
            .integer(found.number),
            .integer(page.summary?.last ?? 0),
            .integer(number),
            .number(limit)
        ) { row in
            page.turns.append(HistoryRecord(row))
            return true
        }
        return page
    }

    /// Stores a summary, unless one that covers as much is there; runs within a transaction.
    func store(_ summary: ConversationSummary, of session: Identifier) throws(StoreError) {
        let number = try first("SELECT number FROM sessions WHERE id = ?1", .id(session)) { $0.integer(0) }
        guard let number else { throw .notFound }
        // What it covers may have been deleted while it was made; then it is of what must not be kept.
        let isThere = try first(
            "SELECT 1 FROM requests WHERE session = ?1 AND number = ?2",
            .integer(number),
            .integer(summary.last)
        ) { _ in true }
        guard isThere ?? false else { throw .notFound }
        try run(
            """
            INSERT INTO summaries(session, text, last, turns, time) VALUES(?1, ?2, ?3, ?4, ?5)
            ON CONFLICT(session) DO UPDATE SET text = excluded.text, last = excluded.last, turns = excluded.turns,
                time = excluded.time WHERE excluded.last > last
            """,
            .integer(number),
            .text(summary.text),
            .integer(summary.last),
            .number(summary.turns),
            .integer(summary.time.milliseconds)
        )
    }
}

extension Schema {
    /// Version 5: what was said before, in short.
    static let summaries = """
        CREATE TABLE summaries(
            session INTEGER PRIMARY KEY REFERENCES sessions(number),
            text    TEXT    NOT NULL,
            last    INTEGER NOT NULL,                    -- number of the last request that it covers
            turns   INTEGER NOT NULL,                    -- how many it covers
            time    INTEGER NOT NULL
        );

        """
}
