internal import Telemetry
internal import Wire

/// Deleting what is old. A session loses its events from the first one on, and with them the requests that ended among
/// them; when it has none left, it goes as a whole, and its id stays as that of a session that was deleted.
///
/// Each step is a write of its own, and short, since others wait for the same thread. After each of them the store is
/// whole: what is left of a session begins at `first_seq`.
extension Connection {
    /// Events that one step deletes at most.
    private static let stride: UInt64 = 1000
    /// Ids of deleted sessions that are remembered: about 8 MB.
    private static let remembered = 100_000

    /// Sessions that have something ended before a time, least recently used first, after a place in that order.
    func prunable(before time: Int64, after: (updated: Int64, number: Int64)) throws(StoreError) -> [(
        number: Int64, updated: Int64
    )] {
        var found: [(Int64, Int64)] = []
        try rows(
            """
            SELECT s.number, s.updated FROM sessions s WHERE (s.updated, s.number) > (?2, ?3) AND (
                (s.updated < ?1 AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.session = s.number AND r.state = 'open'))
                OR EXISTS (SELECT 1 FROM requests r WHERE r.session = s.number AND r.state <> 'open' AND r.ended < ?1))
            ORDER BY s.updated, s.number LIMIT 100
            """,
            .integer(time),
            .integer(after.updated),
            .integer(after.number)
        ) { row in
            found.append((row.integer(0), row.integer(1)))
            return true
        }
        return found
    }

    /// Bytes of the file that hold something.
    func usedBytes() throws(StoreError) -> Int64 {
        let pages = try first("PRAGMA page_count") { $0.integer(0) } ?? 0
        let free = try first("PRAGMA freelist_count") { $0.integer(0) } ?? 0
        let size = try first("PRAGMA page_size") { $0.integer(0) } ?? 0
        return (pages - free) * size
    }

    /// One step with one session; runs within a transaction.
    /// - Returns: What it deleted, and whether there is more to delete of this session.
    func prune(_ session: Int64, before time: Int64) throws(StoreError) -> (deleted: Pruned, isMore: Bool) {
        var deleted = Pruned()
        let found = try first(
            "SELECT id, owner, first_seq, next_seq - 1, updated FROM sessions WHERE number = ?1",
            .integer(session)
        ) { (id: $0.id(0), owner: $0.text(1), first: $0.unsigned(2), last: $0.unsigned(3), updated: $0.integer(4)) }
        guard let found else { return (deleted, false) }
        // What must stay begins with the first request that is open or has not been over for long enough.
        let keptFrom = try first(
            "SELECT min(accepted_seq) FROM requests WHERE session = ?1 AND (state = 'open' OR ended >= ?2)",
            .integer(session),
            .integer(time)
        ) { $0.isNull(0) ? nil : $0.unsigned(0) }
        let limit = (keptFrom ?? nil) ?? found.last + 1
        let next = min(found.first + Connection.stride, limit)
        if next > found.first {
            deleted.events = try run(
                "DELETE FROM events WHERE session = ?1 AND seq < ?2",
                .integer(session),
                .number(next)
            )
            deleted.requests = try pruneRequests(of: session, endedBefore: next)
            // What has been deleted is in no summary either: it is made anew of what is left.
            if deleted.requests > 0 { try run("DELETE FROM summaries WHERE session = ?1", .integer(session)) }
            try run(
                "UPDATE sessions SET first_seq = ?2 WHERE number = ?1",
                .integer(session),
                .number(next)
            )
        }
        guard next >= limit else { return (deleted, true) }
        // A session that has nothing left, or never had anything.
        guard keptFrom ?? nil == nil, found.updated < time else { return (deleted, false) }
        try run("DELETE FROM approvals WHERE session = ?1", .integer(session))
        try run("DELETE FROM summaries WHERE session = ?1", .integer(session))
        try run("DELETE FROM sessions WHERE number = ?1", .integer(session))
        try run(
            "INSERT OR REPLACE INTO pruned(id, owner, time) VALUES(?1, ?2, ?3)",
            .id(found.id),
            .text(found.owner),
            .integer(Timestamp.now.milliseconds)
        )
        try forgetPruned()
        deleted.sessions = [found.id]
        return (deleted, false)
    }

    private func pruneRequests(of session: Int64, endedBefore seq: UInt64) throws(StoreError) -> Int {
        try run(
            """
            DELETE FROM attachments WHERE request IN
                (SELECT number FROM requests WHERE session = ?1 AND terminal_seq < ?2)
            """,
            .integer(session),
            .number(seq)
        )
        try run(
            """
            DELETE FROM approvals WHERE session = ?1 AND request IN
                (SELECT number FROM requests WHERE session = ?1 AND terminal_seq < ?2)
            """,
            .integer(session),
            .number(seq)
        )
        try pruneDeadLetters(of: session, endedBefore: seq)
        try run(
            "DELETE FROM jobs WHERE request IN (SELECT number FROM requests WHERE session = ?1 AND terminal_seq < ?2)",
            .integer(session),
            .number(seq)
        )
        return try run(
            "DELETE FROM requests WHERE session = ?1 AND terminal_seq < ?2",
            .integer(session),
            .number(seq)
        )
    }

    /// The oldest ids of deleted sessions go when there are too many; they are of version 7, in the order of time.
    private func forgetPruned() throws(StoreError) {
        try run(
            "DELETE FROM pruned WHERE id IN (SELECT id FROM pruned ORDER BY id DESC LIMIT 10 OFFSET ?1)",
            .number(Connection.remembered)
        )
    }

    /// Whether a session was there once and has been deleted.
    func wasPruned(_ session: Identifier, _ owner: String) throws(StoreError) -> Bool {
        let found = try first(
            "SELECT 1 FROM pruned WHERE id = ?1 AND owner = ?2",
            .id(session),
            .text(owner)
        ) { _ in true }
        return found ?? false
    }
}
