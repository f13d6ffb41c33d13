public import Telemetry

/// What was said before in a session, in short: the turns that are too old to go along with a request word for word.
public struct ConversationSummary: Sendable, Equatable {
    /// The summary.
    public var text: String
    /// The place of the last turn that it covers, in the order of acceptance: ``HistoryRecord/number``.
    public var last: Int64
    /// How many turns it covers.
    public var turns: Int
    /// When it was made.
    public var time: Timestamp

    /// Makes a summary.
    public init(text: String, last: Int64, turns: Int, time: Timestamp) {
        self.text = text
        self.last = last
        self.turns = turns
        self.time = time
    }
}

/// What goes along with a request, as of one moment.
public struct ConversationRecord: Sendable, Equatable {
    /// The last turns before the request, oldest first.
    public var turns: [HistoryRecord]
    /// What was said before; nil where nobody has summarised it.
    public var summary: ConversationSummary?

    /// Makes a record.
    public init(turns: [HistoryRecord], summary: ConversationSummary? = nil) {
        self.turns = turns
        self.summary = summary
    }
}

/// Turns that are to be summarised.
public struct TurnPage: Sendable, Equatable {
    /// The oldest of those that no summary covers, in their order.
    public var turns: [HistoryRecord]
    /// The summary that they come after.
    public var summary: ConversationSummary?
    /// Whose session it is.
    public var owner: String
}
