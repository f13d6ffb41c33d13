public import Telemetry
public import Wire

/// What happened to one request, to be stored together.
public struct EventBatch: Sendable {
    /// One thing that happened.
    public enum Item: Sendable {
        /// The plan is known: as JSON, and its event.
        case plan([UInt8], EventDraft)
        /// An event of the request itself that changes nothing else.
        case note(EventDraft)
        /// Events of a job.
        case job(JobEvents)
        /// The user, or a disconnect, wants it to end.
        case cancelRequested
        /// It has been submitted under a new generation.
        case generation(UInt32)
        /// It is about to be submitted to this instance of a router.
        case router(Identifier)
        /// A job that must not run twice is about to be started.
        case grant(Execution, skill: String)
        /// It is over: how, with which event, and the text of the answer.
        case end(RequestState, EventDraft, answer: String)
    }

    /// The session.
    public var session: Identifier
    /// The request.
    public var request: Identifier
    /// When.
    public var time: Timestamp
    /// What happened, in order.
    public var items: [Item]
    /// The epoch of the owner that writes, where several gateways share the store: with another one than is stored,
    /// nothing is.
    public var epoch: Int64

    /// Makes a batch.
    public init(session: Identifier, request: Identifier, time: Timestamp, items: [Item] = [], epoch: Int64 = 1) {
        self.session = session
        self.request = request
        self.time = time
        self.items = items
        self.epoch = epoch
    }
}

/// Events of one attempt at a job. They are stored unless a later attempt is known or the job has ended.
public struct JobEvents: Sendable, Hashable {
    /// The attempt.
    public var execution: Execution
    /// Its skill; empty if it is not known.
    public var skill: String
    /// The number of the last event; 0 for what the router says of the attempt.
    public var lastSequence: UInt64
    /// The events.
    public var events: [EventDraft]
    /// The worker, once it is known.
    public var worker: String?
    /// Set when the last event ends the job: `finished`, `cached`, or the error's code.
    public var outcome: String?
    /// Whether this is the router's word that no further attempt is made: its number is that of none.
    var isEndByRouter: Bool { lastSequence == 0 && outcome != nil }

    /// Makes an entry.
    public init(
        execution: Execution,
        skill: String,
        lastSequence: UInt64,
        events: [EventDraft] = [],
        worker: String? = nil,
        outcome: String? = nil
    ) {
        self.execution = execution
        self.skill = skill
        self.lastSequence = lastSequence
        self.events = events
        self.worker = worker
        self.outcome = outcome
    }
}

/// How a request stands.
public enum RequestState: String, Sendable, Codable {
    /// No terminal event yet.
    case open
    /// It finished.
    case finished
    /// It failed.
    case failed
    /// It was cancelled.
    case cancelled
}

/// What became of a batch.
public struct AppendOutcome: Sendable, Equatable {
    /// The number of the session's last event now.
    public var lastSequence: UInt64
    /// How many events were stored.
    public var stored: Int
    /// Executions of which events were not stored, because a later attempt is known or the job or request is over.
    public var fenced: [Execution]
    /// Jobs that may not be started: they were granted before, and how that went is not known.
    public var denied: [Execution]
    /// Whether the request had its terminal event already.
    public var wasOver: Bool
    /// Whether another gateway goes on with the request: nothing was stored, and whoever asked is to let go of it.
    public var isSuperseded = false
}
