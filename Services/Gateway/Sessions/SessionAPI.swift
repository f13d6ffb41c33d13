internal import SessionStore
internal import Wire

/// What HTTP needs of the gateway: the whole of it. `SessionService` is it; tests of HTTP put a stand-in here.
///
/// Everything is asynchronous and blocks no thread of the pool. What has been returned is on disk. A session has an owner,
/// and there is none for anybody else.
protocol SessionAPI: Sendable {
    /// Makes a session, durably. Without a policy it gets the gateway's.
    func createSession(owner: String, privacy: PrivacyPolicy?) async throws(GatewayError) -> Identifier

    /// The user's answer to the question whether data may go to an outside party; without a party to the only question
    /// that is open. Stored, and sent on to whoever waits for it.
    /// - Throws: `requestNotFound`, `noQuestion` when it has ended or nothing is open, `invalid` when several are,
    ///   `draining`, `storeUnavailable`.
    func approve(
        _ choice: ApprovalChoice,
        party: String?,
        of request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(GatewayError)

    /// What was sent to outside parties, the latest first, of one session or of all of an owner; at most `limit` (up to
    /// 1000).
    func disclosures(
        owner: String,
        in session: Identifier?,
        before place: DisclosureRecord.Place?,
        limit: Int
    ) async throws(GatewayError) -> DisclosurePage

    /// Ends what runs in a session, and deletes it with everything of it from the store.
    /// - Throws: `sessionNotFound`; `busy` when something does not end; `draining`, `storeUnavailable`.
    func forget(_ session: Identifier, owner: String) async throws(GatewayError)

    /// Takes a request. When this returns, the request is on disk and will reach a terminal event.
    /// - Throws: `sessionNotFound`, `invalid`, `tooLarge`, `busy` (`whenBusy` is `reject`), `idempotencyMismatch`,
    ///   `tooManyRequests`, `draining`, `storeUnavailable`.
    func submit(
        _ request: NewRequest,
        in session: Identifier,
        owner: String
    ) async throws(GatewayError) -> SubmittedRequest

    /// Cancels a request: stored, and sent on to the router. The terminal event comes within about a second.
    /// - Returns: How the request stands: `cancelling`, or ended already.
    func cancel(
        _ request: Identifier,
        in session: Identifier,
        owner: String
    ) async throws(GatewayError) -> CancelOutcome

    /// The session's messages and what is running, as of event number `seq`: follow on from there.
    func snapshot(of session: Identifier, owner: String) async throws(GatewayError) -> SessionSnapshot

    /// Sessions, newest first, at most `limit` (up to 1000). The cursor is `next` of the page before, nil for the first.
    func sessions(owner: String, before cursor: Int64?, limit: Int) async throws(GatewayError) -> SessionPage

    /// Stored events after a number, ready to be sent.
    ///
    /// Read until a page is empty, then wait for the follower's next change and read again from the page's `next`.
    /// The number is that of the last event that the client has, 0 for all. A page ends before it would pass
    /// `maxBytes`, but has at least one event if there is one.
    func events(
        of session: Identifier,
        owner: String,
        after number: UInt64,
        maxBytes: Int
    ) async throws(GatewayError) -> EventPage

    /// Counts in somebody who follows the session, until ``Follower/stop()``.
    ///
    /// Call it before the first ``events(of:owner:after:maxBytes:)``, so that no change falls between the two.
    func follow(_ session: Identifier, owner: String) async throws(GatewayError) -> Follower

    /// The registry as the router gives it: JSON `{"skills": [...]}`, to be sent as it is.
    /// - Throws: `noRouter` when none is connected or it does not answer.
    func skills() async throws(GatewayError) -> [UInt8]

    /// What the router would do with a text and descriptions of attachments, with every skill's score. Nothing is run
    /// or stored.
    func route(_ text: String, attachments: [JobInput.Attachment]) async throws(GatewayError) -> Plan

    /// The skill log, oldest first: jobs that have ended, at most `limit` (up to 1000). The cursor is `next` of the page
    /// before; nil asks for the last ones.
    func jobLog(owner: String, after cursor: Int64?, limit: Int) async throws(GatewayError) -> JobLogPage

    /// Jobs that were given up because they kept ending their workers, the latest first. The cursor is `next` of the page
    /// before, nil for the first.
    func deadLetters(owner: String, before cursor: Int64?, limit: Int) async throws(GatewayError) -> DeadLetterPage

    /// One of them, with its attempts and last events.
    /// - Throws: `deadLetterNotFound`, `storeUnavailable`.
    func deadLetter(_ id: Identifier, owner: String) async throws(GatewayError) -> DeadLetterDetail

    /// Sends its request again, as a new one in the same session. One that has been sent again before is not sent once
    /// more: that request is returned.
    /// - Throws: `deadLetterNotFound`, and what ``submit(_:in:owner:)`` throws.
    func retryDeadLetter(_ id: Identifier, owner: String) async throws(GatewayError) -> SubmittedRequest

    /// Takes it off the list.
    /// - Throws: `deadLetterNotFound`, `draining`, `storeUnavailable`.
    func discardDeadLetter(_ id: Identifier, owner: String) async throws(GatewayError)

    /// Whether requests can be served now. Asks nobody: cheap enough for a probe every second.
    var readiness: Readiness { get }
}

extension SessionAPI {
    /// Makes a session with the gateway's policy.
    func createSession(owner: String) async throws(GatewayError) -> Identifier {
        try await createSession(owner: owner, privacy: nil)
    }
}

/// A request as a client gives it.
struct NewRequest: Sendable {
    /// A file that comes with a request.
    struct Attachment: Sendable {
        /// File name, without folders.
        var name: String
        /// Media type, such as `text/plain`.
        var mediaType: String
        /// Content, decoded.
        var data: [UInt8]
    }

    /// What to do while another request of the session runs.
    enum WhenBusy: String, Sendable, CaseIterable {
        /// Run at the same time.
        case parallel
        /// Wait until the earlier ones have ended.
        case enqueue
        /// Refuse this one.
        case reject
        /// Cancel the earlier ones.
        case interrupt
    }

    /// What to do when the last follower of the session leaves.
    enum OnDisconnect: String, Sendable, CaseIterable {
        /// Go on.
        case `continue`
        /// Cancel the request.
        case cancel
    }

    /// What goes first among the requests of one user that wait for a skill.
    enum Priority: String, Sendable, CaseIterable, Codable {
        /// Before the others.
        case high
        /// As usual.
        case normal
        /// After the others.
        case low
    }

    /// What the user wants.
    var text: String
    /// The skill, where the user names one.
    var skill: String?
    /// Arguments for that skill: an object.
    var arguments: JSONValue?
    /// Files.
    var attachments: [Attachment] = []
    /// See ``WhenBusy``.
    var whenBusy = WhenBusy.parallel
    /// See ``Priority-swift.enum``.
    var priority = Priority.normal
    /// See ``OnDisconnect``.
    var onDisconnect = OnDisconnect.continue
    /// The same key with the same content gives the first request again.
    var idempotencyKey: String?
    /// Whether the plan shows every skill's score.
    var explain = false
    /// What may go to outside parties, where that is less than the session allows.
    var privacy: PrivacyPolicy?
    /// Whether an output that was made before for the same input may be the answer.
    var cache = true
    /// Whether the client asks the user where two skills fit.
    var canClarify = false
    /// Who chooses the skill, where none is named.
    var routing = Routing.local
    /// Seconds after which the request ends as failed(timeout); nil for ten minutes.
    var timeout: Double?
}

/// A request that has been taken.
struct SubmittedRequest: Sendable, Equatable {
    /// Its id.
    var id: Identifier
    /// Its session.
    var session: Identifier
    /// True when the idempotency key was seen before: nothing new was started.
    var replayed: Bool
}

/// What a cancel came to.
enum CancelOutcome: String, Sendable {
    /// It has been stored and sent on; `request.cancelled` follows.
    case cancelling
    /// The request had finished before.
    case finished
    /// The request had failed before.
    case failed
    /// The request was cancelled before.
    case cancelled
}

/// The answer of `GET /v1/sessions/{id}` (docs/api.md). Encode it as it is.
struct SessionSnapshot: Codable, Sendable, Equatable {
    /// Something that was said.
    struct Message: Codable, Sendable, Equatable {
        /// `user` or `assistant`.
        var role: String
        /// What was said.
        var text: String
        /// The request it belongs to.
        var request: Identifier
        /// When: RFC 3339, UTC.
        var time: String
    }
    /// A request that has not ended.
    struct Running: Codable, Sendable, Equatable {
        /// The request.
        var request: Identifier
        /// What the user wrote.
        var text: String
        /// Its steps so far; empty before the plan is known.
        var steps: [Step]
    }
    /// A step of a running request.
    struct Step: Codable, Sendable, Equatable {
        /// `s1`, ...
        var id: String
        /// Its skill.
        var skill: String
        /// `waiting`, `running`, `finished` or `failed`.
        var state: String
        /// The last progress message or thought.
        var message: String?
        /// How much is done, 0 to 1.
        var fraction: Double?
        /// The text streamed so far by the current attempt, or the output's.
        var text: String
    }

    /// The session.
    var id: Identifier
    /// The last event that this takes into account.
    var seq: UInt64
    /// What may go to outside parties.
    var privacy: PrivacyPolicy
    /// What was said before, in short: of the turns that do not go along with a request any more.
    struct Summary: Codable, Sendable, Equatable {
        /// The summary.
        var text: String
        /// How many requests it covers, the oldest ones.
        var requests: Int
        /// When it was made: RFC 3339, UTC.
        var time: String
    }
    /// What was said before, in short; nil where nobody has summarised it.
    var summary: Summary?
    /// What was said, oldest first (the last 1000).
    var messages: [Message]
    /// What has not ended, oldest first.
    var running: [Running]
}

/// A page of the list of sessions. Encode it as it is.
struct SessionPage: Codable, Sendable, Equatable {
    /// A session in the list.
    struct Entry: Codable, Sendable, Equatable {
        /// Its id.
        var id: Identifier
        /// When it was made: RFC 3339, UTC.
        var created: String
        /// When its last event was written.
        var updated: String
        /// Its last event.
        var seq: UInt64
        /// The start of its first request's text; empty if there is none.
        var title: String
        /// Requests that have not ended.
        var running: Int
    }
    /// Newest first.
    var sessions: [Entry]
    /// To be given as `before` for the next page; nil at the end.
    var next: Int64?
}

/// A page of the skill log. Encode it as it is.
struct JobLogPage: Codable, Sendable, Equatable {
    /// A job that has ended.
    struct Entry: Codable, Sendable, Equatable {
        /// When it ended: RFC 3339, UTC.
        var time: String
        /// The session.
        var session: Identifier
        /// The request.
        var request: Identifier
        /// The job.
        var job: Identifier
        /// The skill.
        var skill: String
        /// The worker that ran it last; empty if none did.
        var worker: String
        /// How often it was dispatched.
        var attempts: UInt32
        /// From its first start to its end.
        var milliseconds: Int64
        /// `finished`, `cached`, `cancelled`, or the error's code.
        var outcome: String
    }
    /// Oldest first.
    var jobs: [Entry]
    /// To be given as `after` for what comes later.
    var next: Int64
}

/// Events ready to be sent.
struct EventPage: Sendable {
    /// In order.
    var events: [StoredEvent]
    /// What the client asked for and cannot get, as the JSON of a `gap` event without `seq`: it is to be sent before
    /// the events, without `id:`.
    var gap: [UInt8]?
    /// The number to ask with for what comes after this page.
    var next: UInt64
}

/// Whether requests can be served.
struct Readiness: Sendable, Equatable {
    /// Whether a router has greeted us.
    var router: Bool
    /// Whether the store takes writes.
    var store: Bool
    /// Whether the process is shutting down.
    var draining: Bool

    /// All is well.
    var isReady: Bool { router && store && !draining }
}
