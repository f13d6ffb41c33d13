public import Telemetry
public import Wire

/// An event before it has its number: its JSON without `seq`, which the store puts in at the commit.
public struct EventDraft: Sendable, Hashable {
    /// Its type, such as `job.delta`.
    public let type: String
    /// The event as a JSON object on one line, with at least one member and without `seq`.
    public let json: [UInt8]

    /// Makes a draft.
    public init(type: String, json: [UInt8]) {
        self.type = type
        self.json = json
    }

    /// The event's JSON with its number.
    public func numbered(_ seq: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count + 28)
        bytes += #"{"seq":"#.utf8
        bytes += String(seq).utf8
        bytes.append(UInt8(ascii: ","))
        bytes += json.dropFirst()
        return bytes
    }
}

/// An attachment as it is kept for submitting a request again.
public struct StoredAttachment: Sendable, Hashable {
    /// File name.
    public var name: String
    /// Media type.
    public var mediaType: String
    /// Content.
    public var data: [UInt8]

    /// Makes an attachment.
    public init(name: String, mediaType: String, data: [UInt8]) {
        self.name = name
        self.mediaType = mediaType
        self.data = data
    }
}

/// A request to be stored.
public struct Acceptance: Sendable {
    /// What to do while other requests of the session are open.
    public enum WhenBusy: String, Sendable {
        /// Nothing special.
        case parallel
        /// It waits for the earlier ones.
        case enqueue
        /// It is not stored.
        case reject
        /// The earlier ones are to end.
        case interrupt
    }

    /// Its id.
    public var request: Identifier
    /// Its session.
    public var session: Identifier
    /// Whose session that is.
    public var owner: String
    /// When it came.
    public var time: Timestamp
    /// What the user wrote, for messages and history.
    public var text: String
    /// What the gateway needs to submit it, opaque to the store.
    public var input: [UInt8]
    /// The plan as JSON, if it is known already.
    public var plan: [UInt8]?
    /// Attachments.
    public var attachments: [StoredAttachment]
    /// Milliseconds that it may take.
    public var timeout: Int64
    /// See ``WhenBusy-swift.enum``.
    public var whenBusy: WhenBusy
    /// Whether it ends when the session's last follower leaves.
    public var endsOnDisconnect: Bool
    /// The idempotency key and a hash of everything that must be equal.
    public var idempotency: (key: String, hash: [UInt8])?
    /// `request.accepted`, and `request.plan` if the plan is known.
    public var events: [EventDraft]
    /// The instance of the router that it will be submitted to, if one is there.
    public var router: Identifier?
    /// The dead letter that it is sent again for.
    public var retryOf: Identifier?
    /// How many requests may be open in a session.
    public var openPerSession: Int
    /// How many requests of an owner may be open.
    public var openPerOwner: Int

    /// Makes a request to be stored.
    public init(
        request: Identifier,
        session: Identifier,
        owner: String,
        time: Timestamp,
        text: String,
        input: [UInt8],
        plan: [UInt8]? = nil,
        attachments: [StoredAttachment] = [],
        timeout: Int64,
        whenBusy: WhenBusy = .parallel,
        endsOnDisconnect: Bool = false,
        idempotency: (key: String, hash: [UInt8])? = nil,
        events: [EventDraft],
        router: Identifier? = nil,
        retryOf: Identifier? = nil,
        openPerSession: Int = 50,
        openPerOwner: Int = 200
    ) {
        self.request = request
        self.session = session
        self.owner = owner
        self.time = time
        self.text = text
        self.input = input
        self.plan = plan
        self.attachments = attachments
        self.timeout = timeout
        self.whenBusy = whenBusy
        self.endsOnDisconnect = endsOnDisconnect
        self.idempotency = idempotency
        self.events = events
        self.router = router
        self.retryOf = retryOf
        self.openPerSession = openPerSession
        self.openPerOwner = openPerOwner
    }
}

/// What became of a request to be stored.
public enum AcceptanceOutcome: Sendable, Equatable {
    /// It is stored: its place in the order of acceptance.
    case accepted(number: Int64)
    /// The key was seen before with the same hash: that request stands.
    case replayed(Identifier)
    /// The key was seen before with another hash.
    case mismatch
    /// So many requests of the session are open, and it was not to wait.
    case busy(Int)
    /// So many are open in the session; that is the limit.
    case tooManyInSession(Int)
    /// So many are open of the owner; that is the limit.
    case tooManyOfOwner(Int)
}

/// What every store does with idempotency keys.
enum StoredKeys {
    /// How long one is valid, in milliseconds: 24 hours.
    static let lifetime: Int64 = 24 * 3600 * 1000
}

/// What every store calls a session in the list.
enum SessionTitle {
    /// The first line of its first request, cut.
    static func of(_ text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return String(line.prefix(80))
    }
}
