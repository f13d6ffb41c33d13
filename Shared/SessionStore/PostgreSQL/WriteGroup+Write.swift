internal import Telemetry
internal import Wire

/// Writing what was decided: a statement for each table.
extension WriteGroup {
    /// Writes what was decided; runs within the transaction.
    func write(_ connection: PostgresConnection, gateway: Identifier) throws(StoreError) {
        if !newSessions.isEmpty {
            try connection.run(
                """
                INSERT INTO sessions(id, owner, created, updated, privacy)
                SELECT i, o, t, t, p FROM unnest($1, $2, $3, $4) AS n(i, o, t, p)
                """,
                .ids(newSessions.map(\.id)),
                .texts(newSessions.map(\.owner)),
                .numbers(newSessions.map(\.time.milliseconds)),
                .texts(newSessions.map(\.privacy.rawValue))
            )
        }
        if !changes.accepted.isEmpty { try writeAccepted(connection, gateway) }
        for interrupt in changes.interrupts {
            // With the request, so that a crash in between does not leave both running.
            try connection.run(
                """
                UPDATE requests SET cancelling = true, cancel_reason = coalesce(cancel_reason, 'a newer request took its place')
                WHERE number IN (SELECT number FROM requests
                    WHERE session = $1 AND state = 'open' AND number < $2 ORDER BY number FOR UPDATE)
                """,
                .number(interrupt.session),
                .number(interrupt.before)
            )
        }
        try writeEvents(connection)
        try writeJobs(connection)
        try writeRequests(connection)
        let changed = sessions.values.filter { $0.updated != nil }
        if !changed.isEmpty {
            try connection.run(
                """
                UPDATE sessions s SET next_seq = n.seq + 1, updated = n.updated, bytes = s.bytes + n.bytes,
                    title = CASE WHEN s.title = '' THEN coalesce(n.title, '') ELSE s.title END
                FROM unnest($1, $2, $3, $4, $5) AS n(number, seq, updated, title, bytes) WHERE s.number = n.number
                """,
                .numbers(changed.map(\.number)),
                .numbers(changed.map { Int64(clamping: $0.last) }),
                .numbers(changed.map(\.updated)),
                .blobs(changed.map { $0.title.map { Array($0.utf8) } }),
                .numbers(changed.map(\.bytes))
            )
        }
        try writeRetries(connection)
        try writeKeys(connection)
        try writeLog(connection)
    }

    private func writeAccepted(_ connection: PostgresConnection, _ gateway: Identifier) throws(StoreError) {
        let rows = changes.accepted
        try connection.run(
            """
            INSERT INTO requests(number, id, session, owner, owner_gateway, enqueued, ends_alone, timeout, created,
                accepted_seq, text, input, plan, router)
            SELECT number, id, session, owner, $1, enqueued <> 0, ends_alone <> 0, timeout, created, accepted_seq, text,
                input, plan, router
            FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS n(number, id, session, owner,
                enqueued, ends_alone, timeout, created, accepted_seq, text, input, plan, router)
            """,
            .id(gateway),
            .numbers(rows.map(\.number)),
            .ids(rows.map(\.request.request)),
            .numbers(rows.map(\.session)),
            .texts(rows.map(\.request.owner)),
            .numbers(rows.map { $0.request.whenBusy == .enqueue ? 1 : 0 }),
            .numbers(rows.map { $0.request.endsOnDisconnect ? 1 : 0 }),
            .numbers(rows.map(\.request.timeout)),
            .numbers(rows.map(\.request.time.milliseconds)),
            .numbers(rows.map { Int64(clamping: $0.acceptedSequence) }),
            .blobs(rows.map { Array($0.request.text.utf8) }),
            .blobs(rows.map(\.request.input)),
            .blobs(rows.map(\.request.plan)),
            .ids(rows.map(\.request.router))
        )
        for row in rows {
            for (position, attachment) in row.request.attachments.enumerated() {
                try connection.run(
                    "INSERT INTO attachments(request, position, name, media_type, data) VALUES ($1, $2, $3, $4, $5)",
                    .number(row.number),
                    .number(position),
                    .bytes(Array(attachment.name.utf8)),
                    .bytes(Array(attachment.mediaType.utf8)),
                    .bytes(attachment.data)
                )
            }
        }
    }

    private func writeEvents(_ connection: PostgresConnection) throws(StoreError) {
        let rows = changes.events
        guard !rows.isEmpty else { return }
        try connection.run(
            """
            INSERT INTO events(session, seq, request, job, generation, attempt, job_seq, type, body)
            SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            .numbers(rows.map(\.session)),
            .numbers(rows.map { Int64(clamping: $0.seq) }),
            .numbers(rows.map(\.request)),
            .ids(rows.map(\.execution?.job)),
            .numbers(rows.map { $0.execution.map { Int64($0.generation) } }),
            .numbers(rows.map { $0.execution.map { Int64($0.attempt) } }),
            .numbers(rows.map { $0.execution == nil ? nil : Int64(clamping: $0.number) }),
            .texts(rows.map(\.type)),
            .blobs(rows.map(\.body))
        )
    }

    private func writeJobs(_ connection: PostgresConnection) throws(StoreError) {
        let rows = jobs.values.filter(\.hasChanged)
        guard !rows.isEmpty else { return }
        try connection.run(
            """
            INSERT INTO jobs(id, request, skill, worker, generation, attempt, last_seq, attempts, granted, started, ended,
                outcome, terminal_seq)
            SELECT id, request, skill, worker, generation, attempt, last_seq, attempts, granted <> 0, started, ended,
                outcome, terminal_seq
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS n(id, request, skill, worker,
                generation, attempt, last_seq, attempts, granted, started, ended, outcome, terminal_seq)
            ON CONFLICT (id) DO UPDATE SET skill = excluded.skill, worker = excluded.worker,
                generation = excluded.generation, attempt = excluded.attempt, last_seq = excluded.last_seq,
                attempts = excluded.attempts, granted = excluded.granted, ended = excluded.ended,
                outcome = excluded.outcome, terminal_seq = excluded.terminal_seq
            """,
            .ids(rows.map(\.execution.job)),
            .numbers(rows.map(\.request)),
            .texts(rows.map(\.skill)),
            .texts(rows.map(\.worker)),
            .numbers(rows.map { Int64($0.execution.generation) }),
            .numbers(rows.map { Int64($0.execution.attempt) }),
            .numbers(rows.map { Int64(clamping: $0.lastSequence) }),
            .numbers(rows.map(\.attempts)),
            .numbers(rows.map { $0.isGranted ? 1 : 0 }),
            .numbers(rows.map(\.started)),
            .numbers(rows.map(\.ended)),
            .texts(rows.map(\.outcome)),
            .numbers(rows.map { $0.terminal.map { Int64(clamping: $0) } })
        )
    }

    private func writeRequests(_ connection: PostgresConnection) throws(StoreError) {
        let rows = requests.values.filter(\.hasChanged)
        guard !rows.isEmpty else { return }
        try connection.run(
            """
            UPDATE requests r SET plan = coalesce(n.plan, r.plan), cancelling = r.cancelling OR n.cancelling <> 0,
                generation = greatest(r.generation, n.generation), router = coalesce(n.router, r.router),
                state = coalesce(n.state, r.state), ended = coalesce(n.ended, r.ended),
                terminal_seq = coalesce(n.terminal_seq, r.terminal_seq), answer = coalesce(n.answer, r.answer)
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) AS n(number, plan, cancelling, generation, router, state,
                ended, terminal_seq, answer)
            WHERE r.number = n.number
            """,
            .numbers(rows.map(\.number)),
            .blobs(rows.map(\.plan)),
            .numbers(rows.map { $0.isCancelling ? 1 : 0 }),
            .numbers(rows.map(\.generation)),
            .ids(rows.map(\.router)),
            .texts(rows.map(\.state)),
            .numbers(rows.map(\.ended)),
            .numbers(rows.map { $0.terminal.map { Int64(clamping: $0) } }),
            .blobs(rows.map { $0.answer.map { Array($0.utf8) } })
        )
        if !changes.finished.isEmpty {
            try connection.run("DELETE FROM attachments WHERE request = ANY($1)", .numbers(changes.finished))
        }
    }

    private func writeKeys(_ connection: PostgresConnection) throws(StoreError) {
        let rows = keys.filter(\.value.isNew).sorted { ($0.key.owner, $0.key.key) < ($1.key.owner, $1.key.key) }
        guard !rows.isEmpty else { return }
        let now = rows.map(\.value.created).max() ?? 0
        // One that another gateway has stored in between stands: then this group is tried again, and finds it.
        let written = try connection.run(
            """
            INSERT INTO idempotency(owner, key, hash, request, created) SELECT * FROM unnest($1, $2, $3, $4, $5)
            ON CONFLICT (owner, key) DO UPDATE SET hash = excluded.hash, request = excluded.request,
                created = excluded.created WHERE idempotency.created <= $6
            """,
            .texts(rows.map(\.key.owner)),
            .texts(rows.map(\.key.key)),
            .blobs(rows.map(\.value.hash)),
            .ids(rows.map(\.value.request)),
            .numbers(rows.map(\.value.created)),
            .number(now - StoredKeys.lifetime)
        )
        guard written == rows.count else { throw .busy }
        // Here, so that nothing needs to run when nothing is asked for: a few at a time.
        try connection.run(
            """
            DELETE FROM idempotency WHERE (owner, key) IN
            (SELECT owner, key FROM idempotency WHERE owner = ANY($1) AND created <= $2 LIMIT 4 FOR UPDATE SKIP LOCKED)
            """,
            .texts(Array(Set(rows.map(\.key.owner)))),
            .number(now - StoredKeys.lifetime)
        )
    }

    /// Numbers of the skill log, last of all: whoever writes one has the log for himself until the commit, so that a
    /// reader who has seen a number has seen all below it.
    private func writeLog(_ connection: PostgresConnection) throws(StoreError) {
        guard !changes.endedJobs.isEmpty else { return }
        try connection.run("SELECT pg_advisory_xact_lock($1)", .number(PostgresSchema.logLock))
        try connection.run(
            """
            UPDATE jobs j SET log = n.log FROM (
                SELECT e.id, (SELECT coalesce(max(log), 0) FROM jobs WHERE log IS NOT NULL) + e.place AS log
                FROM unnest($1) WITH ORDINALITY AS e(id, place)) n
            WHERE j.id = n.id
            """,
            .ids(changes.endedJobs)
        )
        try writeDeadLetters(connection)
    }
}
