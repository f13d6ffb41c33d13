public import Telemetry
public import Wire

/// A page of events.
public struct StoredPage: Sendable, Equatable {
    /// In order.
    public var events: [StoredEvent]
    /// The number of the session's last event, as of the same look.
    public var lastSequence: UInt64
}

/// A session for the list.
public struct SessionSummary: Sendable, Equatable {
    /// Its place in the list.
    public var number: Int64
    /// Its id.
    public var id: Identifier
    /// When it was made.
    public var created: Timestamp
    /// When its last event was written.
    public var updated: Timestamp
    /// Its last event.
    public var lastSequence: UInt64
    /// The start of its first request's text.
    public var title: String
    /// Requests that are open.
    public var open: Int
}

/// A session as of one moment.
public struct SessionRecord: Sendable {
    /// Its last event.
    public var lastSequence: UInt64
    /// What of it may go to outside parties.
    public var privacy = PrivacyPolicy.localOnly
    /// What was said before, in short; nil where nobody has summarised it.
    public var summary: ConversationSummary?
    /// Its last requests, oldest first.
    public var requests: [RequestRecord]
    /// What has happened to its open requests.
    public var openEvents: [OpenEvent]
}

/// What has happened to a request that is open, as far as it says how the request stands: the texts of a job are one,
/// and of what a job says again and again the last is kept.
public struct OpenEvent: Sendable, Equatable {
    /// The request.
    public var request: Identifier
    /// The job; nil for an event of the request itself.
    public var job: Identifier?
    /// Its type, such as `job.delta`.
    public var type: String
    /// Of `job.delta`: the text.
    public var text = ""
    /// Of any other type: the event as JSON.
    public var json: [UInt8] = []
}

/// A request.
public struct RequestRecord: Sendable, Equatable {
    /// Its id.
    public var id: Identifier
    /// How it stands.
    public var state: RequestState
    /// What the user wrote.
    public var text: String
    /// What was answered; nil while it is open.
    public var answer: String?
    /// When it came.
    public var created: Timestamp
    /// When it ended.
    public var ended: Timestamp?
    /// The number of its first event.
    public var acceptedSequence: UInt64
    /// The number of its terminal event.
    public var terminalSequence: UInt64?
}

/// A turn of the conversation.
public struct HistoryRecord: Sendable, Equatable {
    /// What the user wrote.
    public var text: String
    /// What was answered; nil if it failed.
    public var answer: String?
    /// The plan, as JSON.
    public var plan: [UInt8]?
    /// Its place in the order of acceptance.
    public var number: Int64

    /// Makes a turn.
    public init(text: String, answer: String?, plan: [UInt8]?, number: Int64 = 0) {
        self.text = text
        self.answer = answer
        self.plan = plan
        self.number = number
    }
}

/// A request that has not ended, with all that is needed to go on with it.
public struct OpenRequestRecord: Sendable {
    /// A file that came with it. Its content is read when it is sent.
    public struct Attachment: Sendable, Equatable {
        /// File name.
        public var name: String
        /// Media type.
        public var mediaType: String
        /// Size of the content.
        public var bytes: Int
    }

    /// A job of it.
    public struct Job: Sendable, Equatable {
        /// Its last attempt.
        public var execution: Execution
        /// The last event of that attempt.
        public var lastSequence: UInt64
        /// How it ended; nil if it has not.
        public var outcome: String?
        /// The JSON of its terminal event.
        public var terminal: [UInt8]?
    }

    /// Its place in the order of acceptance.
    public var number: Int64
    /// Its id.
    public var id: Identifier
    /// Its session.
    public var session: Identifier
    /// Whose it is.
    public var owner: String
    /// What of its session may go to outside parties.
    public var privacy = PrivacyPolicy.localOnly
    /// The epoch under which whoever goes on with it writes, where several gateways share the store.
    public var epoch: Int64 = 1
    /// The last generation under which it was submitted.
    public var generation: UInt32
    /// The instance of the router that it was submitted to last, or was about to be.
    public var router: Identifier?
    /// Whether it waits for earlier ones.
    public var enqueued: Bool
    /// Whether it is to end.
    public var cancelRequested: Bool
    /// Whether it ends when the session's last follower leaves.
    public var endsOnDisconnect: Bool
    /// When it came.
    public var created: Timestamp
    /// Milliseconds that it may take.
    public var timeout: Int64
    /// What the user wrote.
    public var text: String
    /// What the gateway stored to submit it.
    public var input: [UInt8]
    /// The plan, as JSON.
    public var plan: [UInt8]?
    /// Its attachments.
    public var attachments: [Attachment]
    /// Its jobs.
    public var jobs: [Job]
}

/// A job that has ended, for the skill log.
public struct JobRecord: Sendable, Equatable {
    /// Its place in the log.
    public var number: Int64
    /// The job.
    public var job: Identifier
    /// Its session.
    public var session: Identifier
    /// Its skill.
    public var skill: String
    /// The worker that ran it last; empty if none did.
    public var worker: String
    /// How often it was dispatched.
    public var attempts: UInt32
    /// Its first event.
    public var started: Timestamp
    /// Its last event.
    public var ended: Timestamp
    /// `finished`, `cached`, or the error's code.
    public var outcome: String
}
