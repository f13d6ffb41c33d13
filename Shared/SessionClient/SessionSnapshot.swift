/// Where a session stands. Fields that a gateway leaves out are empty.
public struct SessionSnapshot: Codable, Equatable, Sendable {
    /// One thing that was said.
    public struct Message: Codable, Equatable, Sendable {
        /// `user` or `assistant`.
        public var role: String
        /// What was said.
        public var text: String
        /// The request it belongs to.
        public var request: String?
        /// When.
        public var time: String?
    }

    /// A step of a running request.
    public struct Step: Codable, Equatable, Sendable {
        /// Its id in the plan.
        public var id: String
        /// Its skill.
        public var skill: String
        /// What it is doing.
        public var state: String?
        /// The last progress message.
        public var message: String?
        /// How much is done.
        public var fraction: Double?
        /// The text so far.
        public var text: String?
    }

    /// A request that has not ended.
    public struct Running: Codable, Equatable, Sendable {
        /// The request.
        public var request: String
        /// What the user wants.
        public var text: String?
        /// Its steps.
        public var steps: [Step]?
    }

    /// What was said before, in short: the oldest requests, which do not go along with a new one word for word.
    public struct Summary: Codable, Equatable, Sendable {
        /// The summary.
        public var text: String
        /// How many requests it covers.
        public var requests: Int?
        /// When it was made.
        public var time: String?
    }

    /// The session.
    public var id: String
    /// The number of its last event.
    public var seq: UInt64
    /// What was said before, in short; nil where nobody has summarised it.
    public var summary: Summary?
    /// What was said, oldest first.
    public var messages: [Message]
    /// What runs.
    public var running: [Running]
}

/// The skill log.
public struct JobLog: Codable, Equatable, Sendable {
    /// A job that has ended.
    public struct Entry: Codable, Equatable, Sendable {
        /// When it ended.
        public var time: String
        /// Its session.
        public var session: String
        /// Its request.
        public var request: String?
        /// Its step.
        public var step: String?
        /// Its skill.
        public var skill: String
        /// The worker that ran it last; nil if none did.
        public var worker: String?
        /// How many attempts it took.
        public var attempts: Int?
        /// How long it took.
        public var milliseconds: Double?
        /// `finished`, or the code of its error.
        public var outcome: String
    }

    /// Oldest first.
    public var jobs: [Entry]
    /// What to pass to hear of later ones.
    public var next: Int64?
}
