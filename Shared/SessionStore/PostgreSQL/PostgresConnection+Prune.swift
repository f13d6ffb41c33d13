internal import Telemetry
internal import Wire

/// Deleting what is old, as in SQLite: a session loses its events from the first one on, and with them the requests that
/// ended among them; when it has none left, it goes as a whole. Each step is a short transaction.
extension PostgresConnection {
    /// Events that one step deletes at most.
    private static let stride: UInt64 = 1000
    /// Ids of deleted sessions that are remembered.
    private static let remembered = 100_000

    /// Sessions that have something ended before a time, least recently used first, after a place in that order.
    func prunable(before time: Int64, after: (updated: Int64, number: Int64)) throws(StoreError) -> [(
        number: Int64, updated: Int64
    )] {
        try rows(
            """
            SELECT s.number, s.updated FROM sessions s WHERE (s.updated, s.number) > ($2, $3) AND (
                (s.updated < $1 AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.session = s.number AND r.state = 'open'))
                OR EXISTS (SELECT 1 FROM requests r WHERE r.session = s.number AND r.state <> 'open' AND r.ended < $1))
            ORDER BY s.updated, s.number LIMIT 100
            """,
            .number(time),
            .number(after.updated),
            .number(after.number)
        ) { ($0.integer(0), $0.integer(1)) }
    }

    /// Bytes of all events that are held. What the files take says little: they keep their size when rows are deleted.
    func usedBytes() throws(StoreError) -> Int64 {
        try first("SELECT coalesce(sum(bytes), 0)::bigint FROM sessions") { $0.integer(0) } ?? 0
    }

    /// One step with one session.
    /// - Returns: What it deleted, and whether there is more to delete of this session.
    func prune(_ session: Int64, before time: Int64) throws(StoreError) -> (deleted: Pruned, isMore: Bool) {
        try transaction { connection throws(StoreError) in
            // One gateway tidies up at a time; another's turn is the next time.
            let isAlone = try connection.first(
                "SELECT pg_try_advisory_xact_lock($1)",
                .number(PostgresSchema.janitorLock)
            ) { $0.flag(0) }
            guard isAlone ?? false else { return (Pruned(), false) }
            return try connection.pruneStep(session, before: time)
        }
    }

    func pruneStep(_ session: Int64, before time: Int64) throws(StoreError) -> (deleted: Pruned, isMore: Bool) {
        var deleted = Pruned()
        let found = try first(
            "SELECT id, owner, first_seq, next_seq - 1, updated FROM sessions WHERE number = $1 FOR UPDATE",
            .number(session)
        ) { (id: $0.id(0), owner: $0.text(1), first: $0.unsigned(2), last: $0.unsigned(3), updated: $0.integer(4)) }
        guard let found else { return (deleted, false) }
        // What must stay begins with the first request that is open or has not been over for long enough.
        let keptFrom = try first(
            "SELECT min(accepted_seq) FROM requests WHERE session = $1 AND (state = 'open' OR ended >= $2)",
            .number(session),
            .number(time)
        ) { $0.optionalInteger(0).map { UInt64(clamping: $0) } }
        let limit = (keptFrom ?? nil) ?? found.last + 1
        let next = min(found.first + PostgresConnection.stride, limit)
        if next > found.first {
            let (count, bytes) =
                try first(
                    """
                    WITH gone AS (DELETE FROM events WHERE session = $1 AND seq < $2 RETURNING octet_length(body) AS bytes)
                    SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM gone
                    """,
                    .number(session),
                    .number(next)
                ) { (Int($0.integer(0)), $0.integer(1)) } ?? (0, 0)
            deleted.events = count
            // Jobs, dead letters and attachments go with their request.
            deleted.requests = try run(
                "DELETE FROM requests WHERE session = $1 AND terminal_seq < $2",
                .number(session),
                .number(next)
            )
            // What has been deleted is in no summary either: it is made anew of what is left.
            if deleted.requests > 0 { try run("DELETE FROM summaries WHERE session = $1", .number(session)) }
            try run(
                "UPDATE sessions SET first_seq = $2, bytes = bytes - $3 WHERE number = $1",
                .number(session),
                .number(next),
                .number(bytes)
            )
        }
        guard next >= limit else { return (deleted, true) }
        // A session that has nothing left, or never had anything.
        guard keptFrom ?? nil == nil, found.updated < time else { return (deleted, false) }
        try run("DELETE FROM sessions WHERE number = $1", .number(session))
        try run(
            "INSERT INTO pruned(id, owner, time) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            .id(found.id),
            .text(found.owner),
            .number(Timestamp.now.milliseconds)
        )
        // The oldest go when there are too many; they are of version 7, in the order of time.
        try run(
            "DELETE FROM pruned WHERE id IN (SELECT id FROM pruned ORDER BY id DESC LIMIT 10 OFFSET $1)",
            .number(PostgresConnection.remembered)
        )
        deleted.sessions = [found.id]
        return (deleted, false)
    }
}
