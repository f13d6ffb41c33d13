/// One entry of a session's log: the same object in the store, in SSE, in `--json` lines and on the web page.
public struct SessionEvent: Codable, Hashable, Sendable {
    /// Place in the session, from 1 without gap. Nil only on `gap`, which is not stored.
    public var seq: UInt64?
    /// When it was merged: RFC 3339, UTC, milliseconds.
    public var time: String
    /// The session.
    public var session: String
    /// The request; nil only on `gap`.
    public var request: String?
    /// On job events: the job.
    public var job: String?
    /// On job events: the step of the plan.
    public var step: String?
    /// On job events: the skill.
    public var skill: String?
    /// On job events: the attempt.
    public var attempt: UInt32?
    /// What happened, such as `job.delta`.
    public var type: String
    /// Depends on the type.
    public var data: JSONValue

    /// Makes an event.
    public init(
        seq: UInt64?,
        time: String,
        session: String,
        request: String?,
        job: String? = nil,
        step: String? = nil,
        skill: String? = nil,
        attempt: UInt32? = nil,
        type: String,
        data: JSONValue
    ) {
        self.seq = seq
        self.time = time
        self.session = session
        self.request = request
        self.job = job
        self.step = step
        self.skill = skill
        self.attempt = attempt
        self.type = type
        self.data = data
    }
}

extension SessionEvent {
    /// The types of events.
    public enum Kind {
        /// The request is stored.
        public static let accepted = "request.accepted"
        /// The steps that it will take.
        public static let plan = "request.plan"
        /// A job runs.
        public static let started = "job.started"
        /// A thought.
        public static let thinking = "job.thinking"
        /// Progress.
        public static let progress = "job.progress"
        /// Text.
        public static let delta = "job.delta"
        /// The output so far.
        public static let partial = "job.partial"
        /// A new attempt; what the earlier one streamed is void.
        public static let retrying = "job.retrying"
        /// A job's output.
        public static let jobFinished = "job.finished"
        /// A job's error.
        public static let jobFailed = "job.failed"
        /// Data goes to an outside party.
        public static let disclosure = "disclosure"
        /// May data go to an outside party?
        public static let approval = "approval"
        /// Two skills fit; which is meant?
        public static let clarify = "clarify"
        /// Events that are no longer held.
        public static let gap = "gap"
        /// The request's output. Terminal.
        public static let finished = "request.finished"
        /// The request's error. Terminal.
        public static let failed = "request.failed"
        /// Cancelled. Terminal.
        public static let cancelled = "request.cancelled"
    }

    /// Whether nothing of the request may follow.
    public var isTerminal: Bool { type == Kind.finished || type == Kind.failed || type == Kind.cancelled }
}
