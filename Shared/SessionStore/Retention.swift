public import Wire

/// How long sessions are kept. Nothing of a request that has not ended is ever deleted.
public struct Retention: Sendable, Equatable {
    /// Milliseconds after its last event for which a session is kept, and after its end for which a request is; nil for
    /// ever.
    public var age: Int64?
    /// Bytes of the store above which the sessions that were used least recently are deleted; nil for no limit. What was
    /// used within ``leastAge`` stays all the same.
    public var bytes: Int64?
    /// Milliseconds within which nothing is deleted for its size: an answer that somebody is reading.
    public static let leastAge: Int64 = 3_600_000

    /// Makes a rule.
    public init(age: Int64? = nil, bytes: Int64? = nil) {
        self.age = age
        self.bytes = bytes
    }

    /// Whether anything is ever deleted.
    public var deletes: Bool { age != nil || bytes != nil }
}

/// What was deleted in one go.
public struct Pruned: Sendable, Equatable {
    /// Sessions that are gone: who follows one is to be told.
    public var sessions: [Identifier] = []
    /// Requests.
    public var requests = 0
    /// Events.
    public var events = 0

    /// Nothing.
    public init() {}

    /// Adds what another go has deleted.
    public mutating func add(_ other: Pruned) {
        sessions += other.sessions
        requests += other.requests
        events += other.events
    }
}
