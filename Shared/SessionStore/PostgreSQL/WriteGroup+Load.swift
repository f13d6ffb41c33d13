internal import Wire

/// Reading what the writes need, and locking it.
extension WriteGroup {
    /// Reads what the writes need; runs within the transaction.
    mutating func load(
        _ connection: PostgresConnection,
        acceptances: [Acceptance],
        batches: [EventBatch]
    ) throws(StoreError) {
        let sessionIDs = Set(acceptances.map(\.session)).union(batches.map(\.session))
        let owners = Set(acceptances.map(\.owner))
        if !sessionIDs.isEmpty {
            let found = try connection.rows(
                """
                SELECT id, number, owner, next_seq - 1, title <> '' FROM sessions
                WHERE id = ANY($1) ORDER BY number FOR UPDATE
                """,
                .ids(Array(sessionIDs))
            ) { row in
                let session = SessionRow(
                    number: row.integer(1),
                    owner: row.text(2),
                    last: row.unsigned(3),
                    hasTitle: row.flag(4)
                )
                return (row.id(0), session)
            }
            for (id, row) in found { sessions[id] = row }
        }
        if !batches.isEmpty { try loadRequests(connection, Set(batches.map(\.request))) }
        guard !acceptances.isEmpty else { return }
        try loadDeadLetters(connection, acceptances)
        let missing = acceptances.filter { sessions[$0.session]?.owner != $0.owner }
        if !missing.isEmpty {
            let found = try connection.rows(
                "SELECT id, owner FROM pruned WHERE id = ANY($1)",
                .ids(missing.map(\.session))
            ) { PrunedSession(id: $0.id(0), owner: $0.text(1)) }
            pruned = Set(found)
        }
        let given = acceptances.compactMap { request in
            request.idempotency.map { Key(owner: request.owner, key: $0.key) }
        }
        if !given.isEmpty {
            let found = try connection.rows(
                """
                SELECT owner, key, hash, request, created FROM idempotency
                WHERE (owner, key) IN (SELECT * FROM unnest($1, $2))
                """,
                .texts(given.map(\.owner)),
                .texts(given.map(\.key))
            ) { row in
                let known = KeyRow(hash: row.bytes(2), request: row.id(3), created: row.integer(4))
                return (Key(owner: row.text(0), key: row.text(1)), known)
            }
            for (key, row) in found { keys[key] = row }
        }
        let ofSession = try connection.rows(
            """
            SELECT s.id, count(*) FROM requests r JOIN sessions s ON s.number = r.session
            WHERE r.state = 'open' AND s.id = ANY($1) GROUP BY s.id
            """,
            .ids(acceptances.map(\.session))
        ) { ($0.id(0), Int($0.integer(1))) }
        for (id, count) in ofSession { sessions[id]?.open = count }
        let ofOwner = try connection.rows(
            "SELECT owner, count(*) FROM requests WHERE state = 'open' AND owner = ANY($1) GROUP BY owner",
            .texts(Array(owners))
        ) { ($0.text(0), Int($0.integer(1))) }
        for (owner, count) in ofOwner { openOfOwner[owner] = count }
        numbers = try connection.rows(
            "SELECT nextval('requests_number_seq') FROM generate_series(1, $1)",
            .number(acceptances.count)
        ) { $0.integer(0) }
        numbers.reverse()
    }

    private mutating func loadRequests(
        _ connection: PostgresConnection,
        _ ids: Set<Identifier>
    ) throws(StoreError) {
        let found = try connection.rows(
            """
            SELECT r.id, r.number, s.id, r.state = 'open', r.owner_epoch, r.owner
            FROM requests r JOIN sessions s ON s.number = r.session
            WHERE r.id = ANY($1) ORDER BY r.number FOR UPDATE OF r
            """,
            .ids(Array(ids))
        ) { row in
            let request = RequestRow(
                number: row.integer(1),
                session: row.id(2),
                isOpen: row.flag(3),
                epoch: row.integer(4),
                owner: row.text(5)
            )
            return (row.id(0), request)
        }
        for (id, row) in found { requests[id] = row }
        let rows = try connection.rows(
            """
            SELECT id, request, generation, attempt, last_seq, attempts, granted, outcome, skill, worker, started, ended,
                terminal_seq
            FROM jobs WHERE request = ANY($1)
            """,
            .numbers(found.map(\.1.number))
        ) { row in
            let execution = Execution(
                job: row.id(0),
                generation: UInt32(clamping: row.integer(2)),
                attempt: UInt32(clamping: row.integer(3))
            )
            return JobRow(
                request: row.integer(1),
                execution: execution,
                lastSequence: row.unsigned(4),
                attempts: row.integer(5),
                isGranted: row.flag(6),
                outcome: row.optionalText(7),
                skill: row.text(8),
                worker: row.text(9),
                started: row.integer(10),
                ended: row.optionalInteger(11),
                terminal: row.optionalInteger(12).map { UInt64(clamping: $0) }
            )
        }
        for job in rows { jobs[job.execution.job] = job }
    }
}
