internal import Wire

/// The rules that every store keeps, whatever happened to the processes that wrote it. Each is a query for what breaks it.
extension PostgresConnection {
    /// A rule, and a query that gives a line of text for whatever breaks it.
    private struct Rule {
        let name: String
        let query: StaticString
    }

    /// Looks through the store; to be called within ``unhurriedLook(_:)``.
    func check(_ path: String) throws(StoreError) -> StoreReport {
        guard let version = try PostgresSchema.found(in: self) else {
            throw .cannotOpen(path: path, reason: "there is no session store in this database")
        }
        guard version <= PostgresSchema.version else {
            throw .newerSchema(found: version, known: PostgresSchema.version)
        }
        var report = StoreReport(path: path, version: version, current: PostgresSchema.version)
        report.sessions = try count("SELECT count(*) FROM sessions")
        report.requests = try count("SELECT count(*) FROM requests")
        report.open = try count("SELECT count(*) FROM requests WHERE state = 'open'")
        report.events = try count("SELECT count(*) FROM events")
        report.bytes = try usedBytes()
        for rule in PostgresConnection.rules {
            let found = try rows(rule.query) { $0.text(0) }
            report.problems += found.prefix(StoreReport.limit).map { .init(rule: rule.name, detail: $0) }
        }
        return report
    }

    private func count(_ sql: StaticString) throws(StoreError) -> Int { try first(sql) { Int($0.integer(0)) } ?? 0 }

    private static let rules = [
        Rule(
            name: "sequence",
            query: """
                SELECT format('session %s: %s events from %s to %s, not all from %s to %s', s.id, count(e.seq), min(e.seq),
                    max(e.seq), s.first_seq, s.next_seq - 1)
                FROM sessions s LEFT JOIN events e ON e.session = s.number GROUP BY s.number
                HAVING count(e.seq) <> s.next_seq - s.first_seq OR coalesce(min(e.seq), s.first_seq) <> s.first_seq
                    OR coalesce(max(e.seq), s.next_seq - 1) <> s.next_seq - 1 LIMIT 20
                """
        ),
        Rule(
            name: "number",
            query: """
                SELECT format('event %s of session %s says another number', e.seq, s.id)
                FROM events e JOIN sessions s ON s.number = e.session
                WHERE position(convert_to('{"seq":' || e.seq || ',', 'UTF8') IN e.body) <> 1
                    OR substr(e.body, octet_length(e.body)) <> '}'::bytea LIMIT 20
                """
        ),
        Rule(
            name: "terminal",
            query: """
                SELECT format('request %s is %s and has %s terminal events', r.id, r.state, count(e.seq))
                FROM requests r LEFT JOIN events e ON e.session = r.session AND e.request = r.number
                    AND e.type IN ('request.finished', 'request.failed', 'request.cancelled')
                GROUP BY r.number
                HAVING count(e.seq) <> (r.state <> 'open')::int
                    OR (r.state <> 'open' AND (max(e.seq) IS DISTINCT FROM r.terminal_seq
                        OR max(e.type) IS DISTINCT FROM 'request.' || r.state))
                    OR (r.state = 'open' AND r.terminal_seq IS NOT NULL) LIMIT 20
                """
        ),
        Rule(
            name: "after_end",
            query: """
                SELECT format('request %s has event %s after its end, which is %s', r.id, e.seq, r.terminal_seq)
                FROM requests r JOIN events e ON e.session = r.session AND e.request = r.number AND e.seq > r.terminal_seq
                LIMIT 20
                """
        ),
        Rule(
            name: "attempt",
            query: """
                SELECT format('event %s of job %s is of an attempt that was over', seq, job)
                FROM (SELECT seq, job, generation, attempt, lag(generation) OVER jobs AS g, lag(attempt) OVER jobs AS a
                    FROM events WHERE job IS NOT NULL WINDOW jobs AS (PARTITION BY job ORDER BY seq)) e
                WHERE (generation, attempt) < (g, a) LIMIT 20
                """
        ),
        Rule(
            name: "open_job",
            query: """
                SELECT format('job %s has not ended, and its request has', j.id)
                FROM jobs j JOIN requests r ON r.number = j.request WHERE j.outcome IS NULL AND r.state <> 'open' LIMIT 20
                """
        ),
        Rule(
            name: "job_end",
            query: """
                SELECT format('job %s ended, and its last event is not there', j.id)
                FROM jobs j JOIN requests r ON r.number = j.request JOIN sessions s ON s.number = r.session
                    LEFT JOIN events e ON e.session = r.session AND e.seq = j.terminal_seq
                        AND e.job = j.id AND e.type IN ('job.finished', 'job.failed')
                WHERE j.terminal_seq IS NOT NULL AND e.seq IS NULL AND j.terminal_seq >= s.first_seq LIMIT 20
                """
        ),
        Rule(
            name: "generation",
            query: """
                SELECT format('job %s is of generation %s, its request of %s', j.id, j.generation, r.generation)
                FROM jobs j JOIN requests r ON r.number = j.request WHERE j.generation > r.generation LIMIT 20
                """
        ),
        Rule(
            name: "accepted",
            query: """
                SELECT format('request %s does not begin with request.accepted', r.id)
                FROM requests r JOIN sessions s ON s.number = r.session
                    LEFT JOIN events e ON e.session = r.session AND e.seq = r.accepted_seq
                        AND e.request = r.number AND e.type = 'request.accepted'
                WHERE e.seq IS NULL AND r.accepted_seq >= s.first_seq LIMIT 20
                """
        ),
    ]
}
