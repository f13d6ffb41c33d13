public import Telemetry
public import Wire

/// What the user answers when he is asked whether data may go to an outside party.
public enum ApprovalChoice: String, Codable, Sendable, CaseIterable {
    /// For this request.
    case allow
    /// For all requests of the session.
    case always
    /// Not for this request.
    case deny

    /// Whether data may go there.
    public var isAllowed: Bool { self != .deny }
}

/// An answer of the user.
public struct ApprovalRecord: Sendable, Equatable {
    /// The party that it is about.
    public var party: String
    /// The answer.
    public var choice: ApprovalChoice

    /// Makes an answer.
    public init(party: String, choice: ApprovalChoice) {
        self.party = party
        self.choice = choice
    }
}

/// A `disclosure` event of a session.
public struct DisclosureRecord: Sendable, Equatable {
    /// Its place among those of an owner: those of later sessions, and later ones of a session, are greater.
    public struct Place: Sendable, Equatable {
        /// The session's place in the list of sessions.
        public var session: Int64
        /// The event's number in the session.
        public var seq: UInt64

        /// Makes a place.
        public init(session: Int64, seq: UInt64) {
            self.session = session
            self.seq = seq
        }
    }

    /// Its place.
    public var place: Place
    /// The event as JSON.
    public var json: [UInt8]
}

extension SessionStore {
    /// Makes a session from which nothing may go to outside parties.
    public func createSession(_ session: Identifier, owner: String, at time: Timestamp) async throws(StoreError) {
        try await createSession(session, owner: owner, privacy: .localOnly, at: time)
    }
}
