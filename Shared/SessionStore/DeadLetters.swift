public import Telemetry
public import Wire

/// A job that was given up because it kept ending its workers, for the list.
public struct DeadLetterSummary: Sendable, Equatable {
    /// Its place in the list.
    public var number: Int64
    /// The job.
    public var job: Identifier
    /// Its session.
    public var session: Identifier
    /// Its skill.
    public var skill: String
    /// What the user wrote.
    public var text: String
    /// When it was given up.
    public var time: Timestamp
    /// How often it was started.
    public var attempts: UInt32
    /// The worker that had it last.
    public var worker: String
    /// The request that it was sent again as; nil if it was not.
    public var retriedAs: Identifier?
    /// The JSON of the event that ended it.
    public var terminal: [UInt8]?
}

/// A dead letter with what is known of its job. The request with its input and files is kept as long as it is.
public struct DeadLetterRecord: Sendable {
    /// What the list shows of it.
    public var summary: DeadLetterSummary
    /// The events of the job that say how it went: its starts, what came between them, and its end, as JSON.
    public var attempts: [StoredEvent]
    /// The last events of the job, as JSON.
    public var last: [StoredEvent]
}

/// What is needed to send a dead letter again.
public struct DeadLetterInput: Sendable {
    /// Its request.
    public var request: Identifier
    /// The session of that.
    public var session: Identifier
    /// What the user wrote.
    public var text: String
    /// What the gateway stored to submit it.
    public var input: [UInt8]
    /// Milliseconds that it may take.
    public var timeout: Int64
    /// Its attachments.
    public var attachments: [OpenRequestRecord.Attachment]
}
