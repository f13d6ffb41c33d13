internal import SessionStore
internal import Wire

/// A page of the jobs that were given up. Encode it as it is.
struct DeadLetterPage: Codable, Sendable, Equatable {
    /// A job that was given up.
    struct Entry: Codable, Sendable, Equatable {
        /// The job.
        var id: Identifier
        /// When it was given up: RFC 3339, UTC.
        var time: String
        /// Its session.
        var session: Identifier
        /// Its request.
        var request: Identifier
        /// Its skill.
        var skill: String
        /// What the user wrote; in the list the start of it.
        var text: String
        /// How often it was started.
        var attempts: UInt32
        /// The worker that had it last; empty if none said so.
        var worker: String
        /// Why it was given up.
        var error: JobError?
        /// The request that it was sent again as.
        var retriedAs: Identifier?
    }
    /// The latest first.
    var deadLetters: [Entry]
    /// To be given as `before` for the next page; nil at the end.
    var next: Int64?
}

/// A job that was given up, with what is known of it. Encode it as it is.
struct DeadLetterDetail: Codable, Sendable, Equatable {
    /// One attempt.
    struct Attempt: Codable, Sendable, Equatable {
        /// Its number.
        var attempt: UInt32
        /// The worker that had it.
        var worker: String
        /// When it began: RFC 3339, UTC.
        var started: String
        /// How it ended.
        var reason: String
    }

    /// What the list shows of it, with the whole text.
    var deadLetter: DeadLetterPage.Entry
    /// Its attempts, oldest first.
    var attempts: [Attempt]
    /// Its last events, oldest first.
    var events: [SessionEvent]
}

extension DeadLetterPage.Entry {
    init(_ letter: DeadLetterSummary, text: String) {
        let terminal = letter.terminal.flatMap { try? JSONBody.decode(SessionEvent.self, from: $0) }
        id = letter.job
        time = "\(letter.time)"
        session = letter.session
        request = letter.job.request
        skill = letter.skill
        self.text = text
        attempts = letter.attempts
        worker = letter.worker
        error = terminal?.error
        retriedAs = letter.retriedAs
    }
}

extension DeadLetterDetail {
    init(_ record: DeadLetterRecord) {
        deadLetter = DeadLetterPage.Entry(record.summary, text: record.summary.text)
        attempts = []
        events = record.last.compactMap { try? JSONBody.decode(SessionEvent.self, from: $0.json) }
        for event in record.attempts.compactMap({ try? JSONBody.decode(SessionEvent.self, from: $0.json) }) {
            switch event.type {
            case SessionEvent.Kind.started:
                let worker = event.data["worker"]?.string ?? ""
                attempts.append(
                    Attempt(attempt: event.attempt ?? 0, worker: worker, started: event.time, reason: "")
                )
            case SessionEvent.Kind.retrying: end(event.data["reason"]?.string)
            default: end(event.error?.message)
            }
        }
    }

    /// What is said of the last attempt that has no end yet.
    private mutating func end(_ reason: String?) {
        guard let last = attempts.indices.last, attempts[last].reason.isEmpty else { return }
        attempts[last].reason = reason ?? ""
    }
}

extension SessionEvent {
    /// The error of an event that has one.
    fileprivate var error: JobError? {
        data["error"].flatMap { try? JSONBody.encode($0) }.flatMap { try? JSONBody.decode(JobError.self, from: $0) }
    }
}
