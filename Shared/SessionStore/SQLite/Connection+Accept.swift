internal import Telemetry
internal import Wire

extension Connection {
    /// Stores a request; runs within a transaction.
    func accept(_ request: Acceptance) throws(StoreError) -> AcceptanceOutcome {
        let now = request.time.milliseconds
        // The key is looked at first: a repeated request gets its first answer whatever has happened since.
        if let (key, hash) = request.idempotency {
            let known = try first(
                "SELECT hash, request FROM idempotency WHERE owner = ?1 AND key = ?2 AND created > ?3",
                .text(request.owner),
                .text(key),
                .integer(now - StoredKeys.lifetime)
            ) { (hash: $0.bytes(0), request: $0.id(1)) }
            if let known { return known.hash == hash ? .replayed(known.request) : .mismatch }
        }
        let session = try sessionRow(request.session, request.owner)
        if let deadLetter = request.retryOf, let earlier = try retry(of: deadLetter, owner: request.owner) {
            return .replayed(earlier)
        }
        let open =
            try first(
                "SELECT count(*) FROM requests WHERE session = ?1 AND state = 'open'",
                .integer(session.number)
            ) { Int($0.integer(0)) } ?? 0
        if request.whenBusy == .reject, open > 0 { return .busy(open) }
        if open >= request.openPerSession { return .tooManyInSession(open) }
        let openOfOwner =
            try first(
                "SELECT count(*) FROM requests WHERE owner = ?1 AND state = 'open'",
                .text(request.owner)
            ) { Int($0.integer(0)) } ?? 0
        if openOfOwner >= request.openPerOwner { return .tooManyOfOwner(openOfOwner) }

        var seq = session.last
        try run(
            """
            INSERT INTO requests(id, session, owner, enqueued, ends_alone, timeout, created, accepted_seq, text, input, plan,
                router)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
            """,
            .id(request.request),
            .integer(session.number),
            .text(request.owner),
            .integer(request.whenBusy == .enqueue ? 1 : 0),
            .integer(request.endsOnDisconnect ? 1 : 0),
            .integer(request.timeout),
            .integer(now),
            .number(seq + 1),
            .text(request.text),
            .blob(request.input),
            .optional(request.plan),
            request.router.map { .id($0) } ?? .null
        )
        let number = lastRow
        if let deadLetter = request.retryOf { try noteRetry(of: deadLetter, as: request.request) }
        for (position, attachment) in request.attachments.enumerated() {
            try run(
                "INSERT INTO attachments(request, position, name, media_type, data) VALUES(?1, ?2, ?3, ?4, ?5)",
                .integer(number),
                .number(position),
                .text(attachment.name),
                .text(attachment.mediaType),
                last: attachment.data
            )
        }
        // With the request, so that a crash in between does not leave both running.
        if request.whenBusy == .interrupt {
            try run(
                "UPDATE requests SET cancelling = 1 WHERE session = ?1 AND state = 'open' AND number < ?2",
                .integer(session.number),
                .integer(number)
            )
        }
        for event in request.events {
            seq += 1
            try insert(event, session: session.number, seq: seq, request: number)
        }
        try run(
            """
            UPDATE sessions SET next_seq = ?2, updated = ?3, title = CASE title WHEN '' THEN ?4 ELSE title END
            WHERE number = ?1
            """,
            .integer(session.number),
            .number(seq + 1),
            .integer(now),
            .text(SessionTitle.of(request.text))
        )
        if let (key, hash) = request.idempotency {
            try run(
                "INSERT OR REPLACE INTO idempotency(owner, key, hash, request, created) VALUES(?1, ?2, ?3, ?4, ?5)",
                .text(request.owner),
                .text(key),
                .blob(hash),
                .id(request.request),
                .integer(now)
            )
            // Here, so that nothing needs to run when nothing is asked for: a few at a time.
            try run(
                """
                DELETE FROM idempotency WHERE (owner, key) IN
                (SELECT owner, key FROM idempotency WHERE owner = ?1 AND created <= ?2 LIMIT 4)
                """,
                .text(request.owner),
                .integer(now - StoredKeys.lifetime)
            )
        }
        return .accepted(number: number)
    }

    /// A session's row number and the number of its last event.
    func sessionRow(_ session: Identifier, _ owner: String) throws(StoreError) -> (number: Int64, last: UInt64) {
        let row = try first(
            "SELECT number, next_seq - 1 FROM sessions WHERE id = ?1 AND owner = ?2",
            .id(session),
            .text(owner)
        ) { (number: $0.integer(0), last: $0.unsigned(1)) }
        guard let row else { throw try wasPruned(session, owner) ? .pruned : .notFound }
        return row
    }

    /// Stores an event under its number.
    func insert(
        _ event: EventDraft,
        session: Int64,
        seq: UInt64,
        request: Int64,
        of execution: Execution? = nil,
        number: UInt64 = 0
    ) throws(StoreError) {
        try run(
            """
            INSERT INTO events(session, seq, request, job, generation, attempt, job_seq, type, body)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            .integer(session),
            .number(seq),
            .integer(request),
            execution.map { .id($0.job) } ?? .null,
            execution.map { .number($0.generation) } ?? .null,
            execution.map { .number($0.attempt) } ?? .null,
            execution == nil ? .null : .number(number),
            .text(event.type),
            .blob(event.numbered(seq))
        )
    }
}
