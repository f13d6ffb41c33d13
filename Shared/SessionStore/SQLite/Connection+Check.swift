internal import Wire

/// The rules that every store keeps, whatever happened to the processes that wrote it. Each is a query for what breaks it.
extension Connection {
    /// A rule, and a query that gives a line of text for whatever breaks it.
    private struct Rule {
        let name: String
        let query: StaticString
    }

    func check(_ path: String) throws(StoreError) -> StoreReport {
        let version = try Schema.version(of: self)
        var report = StoreReport(path: path, version: version, current: Schema.version)
        try rows("PRAGMA integrity_check(20)") { row in
            if row.text(0) != "ok" { report.problems.append(.init(rule: "integrity", detail: row.text(0))) }
            return true
        }
        // The rules would only say again, and less clearly, what is broken below them.
        guard report.problems.isEmpty else { return report }
        try rows("PRAGMA foreign_key_check") { row in
            let detail = "\(row.text(0)) row \(row.integer(1)) names a row of \(row.text(2)) that is not there"
            report.problems.append(.init(rule: "reference", detail: detail))
            return report.problems.count < StoreReport.limit
        }
        report.sessions = try count("SELECT count(*) FROM sessions")
        report.requests = try count("SELECT count(*) FROM requests")
        report.open = try count("SELECT count(*) FROM requests WHERE state = 'open'")
        report.events = try count("SELECT count(*) FROM events")
        report.bytes = try usedBytes()
        let numbers = version > 1 ? Connection.numbers : Connection.numbersOfVersion1
        for rule in [numbers] + Connection.rules {
            var found = 0
            try rows(rule.query) { row in
                report.problems.append(.init(rule: rule.name, detail: row.text(0)))
                found += 1
                return found < StoreReport.limit
            }
        }
        return report
    }

    private func count(_ sql: StaticString) throws(StoreError) -> Int { try first(sql) { Int($0.integer(0)) } ?? 0 }

    private static let numbers = Rule(
        name: "sequence",
        query: """
            SELECT 'session ' || lower(hex(s.id)) || ': ' || count(e.seq) || ' events from ' || coalesce(min(e.seq), '-')
                || ' to ' || coalesce(max(e.seq), '-') || ', not all from ' || s.first_seq || ' to ' || (s.next_seq - 1)
            FROM sessions s LEFT JOIN events e ON e.session = s.number GROUP BY s.number
            HAVING count(e.seq) <> s.next_seq - s.first_seq
                OR coalesce(min(e.seq), s.first_seq) <> s.first_seq OR coalesce(max(e.seq), s.next_seq - 1) <> s.next_seq - 1
            """
    )

    /// Nothing was ever deleted from a store of that version.
    private static let numbersOfVersion1 = Rule(
        name: "sequence",
        query: """
            SELECT 'session ' || lower(hex(s.id)) || ': ' || count(e.seq) || ' events from ' || coalesce(min(e.seq), '-')
                || ' to ' || coalesce(max(e.seq), '-') || ', not all from 1 to ' || (s.next_seq - 1)
            FROM sessions s LEFT JOIN events e ON e.session = s.number GROUP BY s.number
            HAVING count(e.seq) <> s.next_seq - 1 OR coalesce(max(e.seq), 0) <> s.next_seq - 1
            """
    )

    private static let rules = [
        Rule(
            name: "number",
            query: """
                SELECT 'event ' || e.seq || ' of session ' || lower(hex(s.id)) || ' says another number, or is no JSON'
                FROM events e JOIN sessions s ON s.number = e.session
                WHERE CASE WHEN json_valid(CAST(e.body AS TEXT))
                    THEN coalesce(json_extract(CAST(e.body AS TEXT), '$.seq') <> e.seq, 1) ELSE 1 END
                """
        ),
        Rule(
            name: "terminal",
            query: """
                SELECT 'request ' || lower(hex(r.id)) || ' is ' || r.state || ' and has ' || count(e.seq) || ' terminal events'
                FROM requests r LEFT JOIN events e ON e.session = r.session AND e.request = r.number
                    AND e.type IN ('request.finished', 'request.failed', 'request.cancelled')
                GROUP BY r.number
                HAVING count(e.seq) <> (r.state <> 'open')
                    OR (r.state <> 'open' AND (max(e.seq) IS NOT r.terminal_seq OR max(e.type) IS NOT 'request.' || r.state))
                    OR (r.state = 'open' AND r.terminal_seq IS NOT NULL)
                """
        ),
        Rule(
            name: "after_end",
            query: """
                SELECT 'request ' || lower(hex(r.id)) || ' has event ' || e.seq || ' after its end, which is ' || r.terminal_seq
                FROM requests r JOIN events e ON e.session = r.session AND e.request = r.number AND e.seq > r.terminal_seq
                """
        ),
        Rule(
            name: "attempt",
            query: """
                SELECT 'event ' || seq || ' of job ' || lower(hex(job)) || ' is of an attempt that was over'
                FROM (SELECT seq, job, generation, attempt, lag(generation) OVER jobs AS g, lag(attempt) OVER jobs AS a
                    FROM events WHERE job IS NOT NULL WINDOW jobs AS (PARTITION BY job ORDER BY seq))
                WHERE (generation, attempt) < (g, a)
                """
        ),
        Rule(
            name: "open_job",
            query: """
                SELECT 'job ' || lower(hex(j.id)) || ' has not ended, and its request has'
                FROM jobs j JOIN requests r ON r.number = j.request WHERE j.outcome IS NULL AND r.state <> 'open'
                """
        ),
        Rule(
            name: "job_end",
            query: """
                SELECT 'job ' || lower(hex(j.id)) || ' ended, and its last event is not there'
                FROM jobs j JOIN requests r ON r.number = j.request
                    LEFT JOIN events e ON e.session = r.session AND e.seq = j.terminal_seq
                        AND e.job = j.id AND e.type IN ('job.finished', 'job.failed')
                WHERE j.terminal_seq IS NOT NULL AND e.seq IS NULL
                    AND j.terminal_seq >= (SELECT min(seq) FROM events WHERE session = r.session)
                """
        ),
        Rule(
            name: "generation",
            query: """
                SELECT 'job ' || lower(hex(j.id)) || ' is of generation ' || j.generation || ', its request of ' || r.generation
                FROM jobs j JOIN requests r ON r.number = j.request WHERE j.generation > r.generation
                """
        ),
        Rule(
            name: "accepted",
            query: """
                SELECT 'request ' || lower(hex(r.id)) || ' does not begin with request.accepted'
                FROM requests r LEFT JOIN events e ON e.session = r.session AND e.seq = r.accepted_seq
                    AND e.request = r.number AND e.type = 'request.accepted'
                WHERE e.seq IS NULL AND r.accepted_seq >= (SELECT min(seq) FROM events WHERE session = r.session)
                """
        ),
    ]
}
