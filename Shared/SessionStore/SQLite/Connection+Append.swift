internal import Telemetry
internal import Wire

extension Connection {
    private struct Position {
        var request: Int64
        var session: Int64
        var seq: UInt64
    }

    /// Stores a batch; runs within a transaction.
    func append(_ batch: EventBatch) throws(StoreError) -> AppendOutcome {
        let now = batch.time.milliseconds
        let found = try first(
            """
            SELECT r.number, r.session, s.next_seq - 1, r.state = 'open'
            FROM requests r JOIN sessions s ON s.number = r.session WHERE r.id = ?1
            """,
            .id(batch.request)
        ) { row in
            (Position(request: row.integer(0), session: row.integer(1), seq: row.unsigned(2)), row.integer(3) != 0)
        }
        guard var (position, isOpen) = found else { throw .notFound }
        let before = position.seq
        var outcome = AppendOutcome(lastSequence: before, stored: 0, fenced: [], denied: [], wasOver: !isOpen)
        for item in batch.items {
            guard isOpen else {
                switch item {
                case .job(let events): outcome.fenced.append(events.execution)
                case .grant(let execution, _): outcome.denied.append(execution)
                default: break
                }
                continue
            }
            switch item {
            case .plan(let plan, let event):
                try run("UPDATE requests SET plan = ?2 WHERE number = ?1", .integer(position.request), .blob(plan))
                try add(event, &position)
            case .note(let event): try add(event, &position)
            case .job(let events):
                if try !add(events, &position, now) { outcome.fenced.append(events.execution) }
            case .cancelRequested:
                try run("UPDATE requests SET cancelling = 1 WHERE number = ?1", .integer(position.request))
            case .generation(let generation):
                try run(
                    "UPDATE requests SET generation = max(generation, ?2) WHERE number = ?1",
                    .integer(position.request),
                    .number(generation)
                )
            case .router(let router):
                try run(
                    "UPDATE requests SET router = ?2 WHERE number = ?1",
                    .integer(position.request),
                    .id(router)
                )
            case .grant(let execution, let skill):
                if try !grant(execution, skill: skill, request: position.request, now) {
                    outcome.denied.append(execution)
                }
            case .end(let state, let event, let answer):
                try end(state, event, answer: answer, &position, now)
                isOpen = false
            }
        }
        if position.seq != before {
            try run(
                "UPDATE sessions SET next_seq = ?2, updated = ?3 WHERE number = ?1",
                .integer(position.session),
                .number(position.seq + 1),
                .integer(now)
            )
        }
        outcome.lastSequence = position.seq
        outcome.stored = Int(position.seq - before)
        return outcome
    }

    private func add(_ event: EventDraft, _ position: inout Position) throws(StoreError) {
        position.seq += 1
        try insert(event, session: position.session, seq: position.seq, request: position.request)
    }

    /// Stores events of a job, unless a later attempt is known, the job has ended, or they are stored already.
    private func add(_ events: JobEvents, _ position: inout Position, _ now: Int64) throws(StoreError) -> Bool {
        let execution = events.execution
        // Row values compare as the pair (generation, attempt): generation counts first.
        let changed = try run(
            """
            INSERT INTO jobs(id, request, skill, worker, generation, attempt, last_seq, attempts, started)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, min(?6, 1), ?8)
            ON CONFLICT(id) DO UPDATE SET
                skill = CASE jobs.skill WHEN '' THEN excluded.skill ELSE jobs.skill END,
                worker = CASE excluded.worker WHEN '' THEN jobs.worker ELSE excluded.worker END,
                last_seq = CASE WHEN (excluded.generation, excluded.attempt) = (jobs.generation, jobs.attempt)
                    THEN max(jobs.last_seq, excluded.last_seq) ELSE excluded.last_seq END,
                attempts = jobs.attempts
                    + (?9 AND (excluded.generation, excluded.attempt) <> (jobs.generation, jobs.attempt)),
                generation = excluded.generation,
                attempt = excluded.attempt
            WHERE jobs.outcome IS NULL
                AND ((excluded.generation, excluded.attempt) > (jobs.generation, jobs.attempt)
                    OR ((excluded.generation, excluded.attempt) = (jobs.generation, jobs.attempt)
                        AND (excluded.last_seq = 0 OR excluded.last_seq > jobs.last_seq)))
            """,
            .id(execution.job),
            .integer(position.request),
            .text(events.skill),
            .text(events.worker ?? ""),
            .number(execution.generation),
            .number(execution.attempt),
            .number(events.lastSequence),
            .integer(now),
            .integer(events.isEndByRouter ? 0 : 1)
        )
        guard changed > 0 else { return false }
        // The events were counted by their sender, and some may have been merged: the last one has the last number.
        let count = UInt64(events.events.count)
        for (index, event) in events.events.enumerated() {
            position.seq += 1
            let number = events.lastSequence >= count ? events.lastSequence - (count - 1 - UInt64(index)) : 0
            try insert(
                event,
                session: position.session,
                seq: position.seq,
                request: position.request,
                of: execution,
                number: number
            )
        }
        if let outcome = events.outcome {
            try endJob(execution.job, outcome: outcome, terminal: events.events.isEmpty ? nil : position.seq, now)
        }
        return true
    }

    private func endJob(_ job: Identifier, outcome: String, terminal: UInt64?, _ now: Int64) throws(StoreError) {
        try run(
            """
            UPDATE jobs SET outcome = ?2, ended = ?3, terminal_seq = ?4,
                log = (SELECT coalesce(max(log), 0) + 1 FROM jobs WHERE log IS NOT NULL)
            WHERE id = ?1
            """,
            .id(job),
            .text(outcome),
            .integer(now),
            terminal.map { .number($0) } ?? .null
        )
        if outcome == JobError.Code.deadLettered { try addDeadLetter(job, now) }
    }

    /// Notes that a job which must not run twice is about to run. False when it was noted before for another attempt.
    private func grant(
        _ execution: Execution,
        skill: String,
        request: Int64,
        _ now: Int64
    ) throws(StoreError) -> Bool {
        let changed = try run(
            """
            INSERT INTO jobs(id, request, skill, generation, attempt, last_seq, attempts, granted, started)
            VALUES(?1, ?2, ?3, ?4, ?5, 0, 1, 1, ?6)
            ON CONFLICT(id) DO UPDATE SET granted = 1, generation = excluded.generation, attempt = excluded.attempt
            WHERE jobs.outcome IS NULL
                AND (jobs.granted = 0 OR (jobs.generation, jobs.attempt) = (excluded.generation, excluded.attempt))
            """,
            .id(execution.job),
            .integer(request),
            .text(skill),
            .number(execution.generation),
            .number(execution.attempt),
            .integer(now)
        )
        return changed > 0
    }

    private func end(
        _ state: RequestState,
        _ event: EventDraft,
        answer: String,
        _ position: inout Position,
        _ now: Int64
    ) throws(StoreError) {
        let changed = try run(
            """
            UPDATE requests SET state = ?2, ended = ?3, terminal_seq = ?4, answer = ?5
            WHERE number = ?1 AND terminal_seq IS NULL
            """,
            .integer(position.request),
            .text(state.rawValue),
            .integer(now),
            .number(position.seq + 1),
            .text(answer)
        )
        guard changed > 0 else { return }
        try add(event, &position)
        var open: [Identifier] = []
        try rows("SELECT id FROM jobs WHERE request = ?1 AND outcome IS NULL", .integer(position.request)) { row in
            open.append(row.id(0))
            return true
        }
        for job in open {
            try endJob(job, outcome: state == .cancelled ? "cancelled" : "abandoned", terminal: nil, now)
        }
        // What failed may be sent again by the user later; what finished needs its files no more.
        if state == .finished {
            try run("DELETE FROM attachments WHERE request = ?1", .integer(position.request))
        }
    }
}
