internal import Wire

/// Dead letters in a group of writes: a row for each job that is given up, in the transaction of the job's end, and what
/// one is sent again as, in the transaction of that.
extension WriteGroup {
    struct DeadLetterRow {
        var owner: String
        var retriedAs: Identifier?
        var hasChanged = false
    }

    /// Reads and locks the dead letters that are to be sent again: of two who ask for the same one, whichever gateways
    /// they ask, the second finds what the first was given.
    mutating func loadDeadLetters(
        _ connection: PostgresConnection,
        _ acceptances: [Acceptance]
    ) throws(StoreError) {
        let wanted = Set(acceptances.compactMap(\.retryOf))
        guard !wanted.isEmpty else { return }
        let found = try connection.rows(
            "SELECT job, owner, retried FROM dead_letters WHERE job = ANY($1) ORDER BY number FOR UPDATE",
            .ids(Array(wanted))
        ) { ($0.id(0), DeadLetterRow(owner: $0.text(1), retriedAs: $0.optionalID(2))) }
        for (job, row) in found { deadLetters[job] = row }
    }

    /// The request that a dead letter was sent again as before; nil if it was not.
    func retry(of job: Identifier, owner: String) -> Result<Identifier?, StoreError> {
        guard let row = deadLetters[job], row.owner == owner else { return .failure(.notFound) }
        return .success(row.retriedAs)
    }

    mutating func noteRetry(of job: Identifier, as request: Identifier) {
        deadLetters[job]?.retriedAs = request
        deadLetters[job]?.hasChanged = true
    }

    func writeRetries(_ connection: PostgresConnection) throws(StoreError) {
        let rows = deadLetters.filter(\.value.hasChanged)
        guard !rows.isEmpty else { return }
        try connection.run(
            """
            UPDATE dead_letters d SET retried = n.retried FROM unnest($1, $2) AS n(job, retried) WHERE d.job = n.job
            """,
            .ids(rows.map(\.key)),
            .ids(rows.map(\.value.retriedAs))
        )
    }

    /// Adds the jobs that were given up, in the order of their ends; under the lock of the skill log, so that the list's
    /// numbers become visible in their order too.
    func writeDeadLetters(_ connection: PostgresConnection) throws(StoreError) {
        let given = changes.endedJobs.filter { jobs[$0]?.outcome == JobError.Code.deadLettered }
        guard !given.isEmpty else { return }
        try connection.run(
            """
            INSERT INTO dead_letters(job, request, owner, time)
            SELECT j.id, j.request, r.owner, j.ended FROM unnest($1) WITH ORDINALITY AS e(id, place)
            JOIN jobs j ON j.id = e.id JOIN requests r ON r.number = j.request ORDER BY e.place
            """,
            .ids(given)
        )
    }
}
