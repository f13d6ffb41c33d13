internal import Telemetry
internal import Wire

/// What was said before in a session, in short.
extension PostgresConnection {
    func conversation(before request: Identifier, limit: Int) throws(StoreError) -> ConversationRecord {
        let turns = try history(before: request, limit: limit)
        guard !turns.isEmpty else { return ConversationRecord(turns: []) }
        return ConversationRecord(
            turns: turns,
            summary: try first(
                """
                SELECT m.text, m.last, m.turns, m.time FROM requests r JOIN summaries m ON m.session = r.session
                WHERE r.id = $1
                """,
                .id(request)
            ) { ConversationSummary($0) }
        )
    }

    func summary(of session: Int64) throws(StoreError) -> ConversationSummary? {
        try first("SELECT text, last, turns, time FROM summaries WHERE session = $1", .number(session)) {
            ConversationSummary($0)
        }
    }

    func unsummarised(
        in session: Identifier,
        before number: Int64,
        limit: Int
    ) throws(StoreError) -> TurnPage {
        let found = try first("SELECT number, owner FROM sessions WHERE id = $1", .id(session)) {
            (number: $0.integer(0), owner: $0.text(1))
        }
        guard let found else { throw .notFound }
        let summary = try summary(of: found.number)
        let turns = try rows(
            """
            SELECT text, answer, plan, state, number FROM requests
            WHERE session = $1 AND number > $2 AND number < $3 AND state <> 'open' ORDER BY number LIMIT $4
            """,
            .number(found.number),
            .number(summary?.last ?? 0),
            .number(number),
            .number(limit),
            read: { HistoryRecord($0) }
        )
        return TurnPage(turns: turns, summary: summary, owner: found.owner)
    }

    /// Stores a summary, unless one that covers as much is there.
    func store(_ summary: ConversationSummary, of session: Identifier) throws(StoreError) {
        try transaction { connection throws(StoreError) in
            // Locked: nothing of it is deleted in between.
            let number = try connection.first("SELECT number FROM sessions WHERE id = $1 FOR UPDATE", .id(session)) {
                $0.integer(0)
            }
            guard let number else { throw .notFound }
            // What it covers may have been deleted while it was made; then it is of what must not be kept.
            let isThere = try connection.first(
                "SELECT 1::bigint FROM requests WHERE session = $1 AND number = $2",
                .number(number),
                .number(summary.last)
            ) { _ in true }
            guard isThere ?? false else { throw .notFound }
            try connection.run(
                """
                INSERT INTO summaries AS s (session, text, last, turns, time) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (session) DO UPDATE SET text = excluded.text, last = excluded.last,
                    turns = excluded.turns, time = excluded.time WHERE excluded.last > s.last
                """,
                .number(number),
                .bytes(Array(summary.text.utf8)),
                .number(summary.last),
                .number(summary.turns),
                .number(summary.time.milliseconds)
            )
        }
    }
}

extension PostgresSchema {
    /// Version 4: what was said before, in short.
    static let summaries = """
        CREATE TABLE summaries(
            session bigint PRIMARY KEY REFERENCES sessions(number) ON DELETE CASCADE,
            text    bytea  NOT NULL,
            last    bigint NOT NULL,                     -- number of the last request that it covers
            turns   bigint NOT NULL,                     -- how many it covers
            time    bigint NOT NULL
        );

        """
}
