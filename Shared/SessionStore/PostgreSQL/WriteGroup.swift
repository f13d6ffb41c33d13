internal import Telemetry
internal import Wire

/// Several writes that become one transaction: what they need is read and locked, what they do is decided here, and
/// what they change is written, each in a few statements, however many writes there are.
///
/// Locks are taken in one order, so that two gateways never wait for each other: sessions by number, then requests by
/// number, then keys, then the skill log. A session's row stays locked until the commit, so its numbers become visible
/// in their order; a request's row stays locked, so nobody takes it over in between.
struct WriteGroup {
    /// A session to be made.
    struct NewSession {
        var id: Identifier
        var owner: String
        var time: Timestamp
    }

    var newSessions: [NewSession] = []
    private var sessions: [Identifier: SessionRow] = [:]
    private var requests: [Identifier: RequestRow] = [:]
    private var jobs: [Identifier: JobRow] = [:]
    private var keys: [Key: KeyRow] = [:]
    private var openOfOwner: [String: Int] = [:]
    private var pruned: Set<PrunedSession> = []
    /// Numbers for requests that are accepted.
    private var numbers: [Int64] = []
    private var changes = Changes()

    struct SessionRow {
        var number: Int64
        var owner: String
        var last: UInt64
        var hasTitle: Bool
        var open = 0
        var title: String?
        var updated: Int64?
        /// Of the events that are added.
        var bytes: Int64 = 0
    }
    struct RequestRow {
        var number: Int64
        var session: Identifier
        var isOpen: Bool
        var epoch: Int64
        var owner: String
        var hasChanged = false
        var plan: [UInt8]?
        var isCancelling = false
        var generation: Int64 = 0
        var router: Identifier?
        var state: String?
        var ended: Int64?
        var terminal: UInt64?
        var answer: String?
    }
    struct JobRow {
        var request: Int64
        var execution: Execution
        var lastSequence: UInt64
        var attempts: Int64
        var isGranted: Bool
        var outcome: String?
        var skill: String
        var worker: String
        var started: Int64
        var ended: Int64?
        var terminal: UInt64?
        var hasChanged = false
    }
    struct Key: Hashable {
        var owner: String
        var key: String
    }
    struct KeyRow {
        var hash: [UInt8]
        var request: Identifier
        var created: Int64
        var isNew = false
    }
    private struct PrunedSession: Hashable {
        var id: Identifier
        var owner: String
    }
    struct EventRow {
        var session: Int64
        var seq: UInt64
        var request: Int64
        var execution: Execution?
        var number: UInt64
        var type: String
        var body: [UInt8]
    }
    struct InterruptRow {
        var session: Int64
        var before: Int64
    }
    struct AcceptedRow {
        var number: Int64
        var session: Int64
        var acceptedSequence: UInt64
        var request: Acceptance
    }
    /// What is to be written.
    struct Changes {
        var events: [EventRow] = []
        var accepted: [AcceptedRow] = []
        var interrupts: [InterruptRow] = []
        var finished: [Int64] = []
        /// Jobs that ended, in order.
        var endedJobs: [Identifier] = []
    }

    /// Sessions that have got events.
    var changedSessions: [(id: Identifier, seq: UInt64)] {
        sessions.filter { $0.value.updated != nil }.map { ($0.key, $0.value.last) }
    }

    /// Whether requests of others are to end.
    var hasInterrupts: Bool { !changes.interrupts.isEmpty }

    // MARK: Reading and locking

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

    // MARK: Deciding

    /// What becomes of a request to be stored.
    mutating func accept(_ request: Acceptance) -> Result<AcceptanceOutcome, StoreError> {
        let now = request.time.milliseconds
        // The key is looked at first: a repeated request gets its first answer whatever has happened since.
        let key = request.idempotency.map { Key(owner: request.owner, key: $0.key) }
        if let key, let hash = request.idempotency?.hash, let known = keys[key],
            known.created > now - StoredKeys.lifetime
        {
            return .success(known.hash == hash ? .replayed(known.request) : .mismatch)
        }
        guard var session = sessions[request.session], session.owner == request.owner else {
            let wasPruned = pruned.contains(PrunedSession(id: request.session, owner: request.owner))
            return .failure(wasPruned ? .pruned : .notFound)
        }
        if request.whenBusy == .reject, session.open > 0 { return .success(.busy(session.open)) }
        if session.open >= request.openPerSession { return .success(.tooManyInSession(session.open)) }
        let openOfOwner = openOfOwner[request.owner] ?? 0
        if openOfOwner >= request.openPerOwner { return .success(.tooManyOfOwner(openOfOwner)) }
        guard let number = numbers.popLast() else { return .failure(.busy) }

        changes.accepted.append(
            AcceptedRow(
                number: number,
                session: session.number,
                acceptedSequence: session.last + 1,
                request: request
            )
        )
        if request.whenBusy == .interrupt {
            changes.interrupts.append(InterruptRow(session: session.number, before: number))
        }
        for event in request.events { add(event, to: &session, request: number) }
        session.open += 1
        session.updated = now
        if !session.hasTitle, session.title ?? "" == "" { session.title = SessionTitle.of(request.text) }
        sessions[request.session] = session
        self.openOfOwner[request.owner] = openOfOwner + 1
        if let key, let hash = request.idempotency?.hash {
            keys[key] = KeyRow(hash: hash, request: request.request, created: now, isNew: true)
        }
        return .success(.accepted(number: number))
    }

    /// What becomes of a batch.
    mutating func append(_ batch: EventBatch) -> Result<AppendOutcome, StoreError> {
        let now = batch.time.milliseconds
        guard var request = requests[batch.request], var session = sessions[batch.session],
            request.session == batch.session
        else { return .failure(.notFound) }
        let before = session.last
        var outcome = AppendOutcome(lastSequence: before, stored: 0, fenced: [], denied: [], wasOver: !request.isOpen)
        outcome.isSuperseded = request.epoch != batch.epoch
        for item in batch.items {
            guard request.isOpen, !outcome.isSuperseded else {
                switch item {
                case .job(let events): outcome.fenced.append(events.execution)
                case .grant(let execution, _): outcome.denied.append(execution)
                default: break
                }
                continue
            }
            switch item {
            case .plan(let plan, let event):
                request.plan = plan
                request.hasChanged = true
                add(event, to: &session, request: request.number)
            case .job(let events):
                if !add(events, of: request, to: &session, now) { outcome.fenced.append(events.execution) }
            case .cancelRequested:
                request.isCancelling = true
                request.hasChanged = true
            case .generation(let generation):
                request.generation = max(request.generation, Int64(generation))
                request.hasChanged = true
            case .router(let router):
                request.router = router
                request.hasChanged = true
            case .grant(let execution, let skill):
                if !grant(execution, skill: skill, request: request.number, now) { outcome.denied.append(execution) }
            case .end(let state, let event, let answer):
                request.state = state.rawValue
                request.ended = now
                request.terminal = session.last + 1
                request.answer = answer
                request.isOpen = false
                request.hasChanged = true
                add(event, to: &session, request: request.number)
                endJobs(of: request.number, as: state == .cancelled ? "cancelled" : "abandoned", now)
                // What failed may be sent again by the user later; what finished needs its files no more.
                if state == .finished { changes.finished.append(request.number) }
                session.open -= 1
                openOfOwner[request.owner, default: 1] -= 1
            }
        }
        if session.last != before { session.updated = now }
        sessions[batch.session] = session
        requests[batch.request] = request
        outcome.lastSequence = session.last
        outcome.stored = Int(session.last - before)
        return .success(outcome)
    }

    private mutating func add(
        _ event: EventDraft,
        to session: inout SessionRow,
        request: Int64,
        of execution: Execution? = nil,
        number: UInt64 = 0
    ) {
        session.last += 1
        let body = event.numbered(session.last)
        session.bytes += Int64(body.count)
        changes.events.append(
            EventRow(
                session: session.number,
                seq: session.last,
                request: request,
                execution: execution,
                number: number,
                type: event.type,
                body: body
            )
        )
    }

    /// Adds events of a job, unless a later attempt is known, the job has ended, or they are stored already.
    private mutating func add(
        _ events: JobEvents,
        of request: RequestRow,
        to session: inout SessionRow,
        _ now: Int64
    ) -> Bool {
        let execution = events.execution
        var job =
            jobs[execution.job]
            ?? JobRow(
                request: request.number,
                execution: execution,
                lastSequence: 0,
                attempts: Int64(min(execution.attempt, 1)),
                isGranted: false,
                skill: "",
                worker: "",
                started: now
            )
        guard job.outcome == nil, !execution.isOlder(than: job.execution) else { return false }
        if execution == job.execution, events.lastSequence != 0, events.lastSequence <= job.lastSequence {
            return false
        }
        if execution != job.execution {
            job.attempts += 1
            job.execution = execution
            job.lastSequence = 0
        }
        job.lastSequence = max(job.lastSequence, events.lastSequence)
        if job.skill.isEmpty { job.skill = events.skill }
        if let worker = events.worker, !worker.isEmpty { job.worker = worker }
        job.hasChanged = true
        // The events were counted by their sender, and some may have been merged: the last one has the last number.
        let count = UInt64(events.events.count)
        for (index, event) in events.events.enumerated() {
            let number = events.lastSequence >= count ? events.lastSequence - (count - 1 - UInt64(index)) : 0
            add(event, to: &session, request: request.number, of: execution, number: number)
        }
        if let outcome = events.outcome {
            job.outcome = outcome
            job.ended = now
            job.terminal = events.events.isEmpty ? nil : session.last
            changes.endedJobs.append(execution.job)
        }
        jobs[execution.job] = job
        return true
    }

    private mutating func endJobs(of request: Int64, as outcome: String, _ now: Int64) {
        for id in jobs.filter({ $0.value.request == request && $0.value.outcome == nil }).keys.sorted() {
            jobs[id]?.outcome = outcome
            jobs[id]?.ended = now
            jobs[id]?.hasChanged = true
            changes.endedJobs.append(id)
        }
    }

    /// Notes that a job which must not run twice is about to run. False when it was noted before for another attempt.
    private mutating func grant(_ execution: Execution, skill: String, request: Int64, _ now: Int64) -> Bool {
        var job =
            jobs[execution.job]
            ?? JobRow(
                request: request,
                execution: execution,
                lastSequence: 0,
                attempts: 1,
                isGranted: false,
                skill: skill,
                worker: "",
                started: now
            )
        guard job.outcome == nil, !job.isGranted || job.execution == execution else { return false }
        job.isGranted = true
        job.execution = execution
        job.hasChanged = true
        jobs[execution.job] = job
        return true
    }

    // MARK: Writing

    /// Writes what was decided; runs within the transaction.
    func write(_ connection: PostgresConnection, gateway: Identifier) throws(StoreError) {
        if !newSessions.isEmpty {
            try connection.run(
                "INSERT INTO sessions(id, owner, created, updated) SELECT i, o, t, t FROM unnest($1, $2, $3) AS n(i, o, t)",
                .ids(newSessions.map(\.id)),
                .texts(newSessions.map(\.owner)),
                .numbers(newSessions.map(\.time.milliseconds))
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
    }
}
