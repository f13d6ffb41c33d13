internal import Telemetry
internal import Wire

/// Several writes that become one transaction: what they need is read and locked, what they do is decided here, and
/// what they change is written, each in a few statements, however many writes there are.
///
/// Locks are taken in one order, so that two gateways never wait for each other: sessions by number, then requests by
/// number, then dead letters, then keys, then the skill log. A session's row stays locked until the commit, so its numbers become visible
/// in their order; a request's row stays locked, so nobody takes it over in between.
struct WriteGroup {
    /// A session to be made.
    struct NewSession {
        var id: Identifier
        var owner: String
        var privacy: PrivacyPolicy
        var time: Timestamp
    }

    var newSessions: [NewSession] = []
    var sessions: [Identifier: SessionRow] = [:]
    var requests: [Identifier: RequestRow] = [:]
    var jobs: [Identifier: JobRow] = [:]
    var keys: [Key: KeyRow] = [:]
    var openOfOwner: [String: Int] = [:]
    var pruned: Set<PrunedSession> = []
    var deadLetters: [Identifier: DeadLetterRow] = [:]
    /// Numbers for requests that are accepted.
    var numbers: [Int64] = []
    var changes = Changes()

    struct SessionRow {
        var number: Int64
        var owner: String
        var last: UInt64
        var hasTitle: Bool
        var open = 0
        var title: String?
        var updated: Int64?
        /// Of the events that are added.
        var bytes: Int64 = 0
    }
    struct RequestRow {
        var number: Int64
        var session: Identifier
        var isOpen: Bool
        var epoch: Int64
        var owner: String
        var hasChanged = false
        var plan: [UInt8]?
        var isCancelling = false
        var generation: Int64 = 0
        var router: Identifier?
        var state: String?
        var ended: Int64?
        var terminal: UInt64?
        var answer: String?
    }
    struct JobRow {
        var request: Int64
        var execution: Execution
        var lastSequence: UInt64
        var attempts: Int64
        var isGranted: Bool
        var outcome: String?
        var skill: String
        var worker: String
        var started: Int64
        var ended: Int64?
        var terminal: UInt64?
        var hasChanged = false
    }
    struct Key: Hashable {
        var owner: String
        var key: String
    }
    struct KeyRow {
        var hash: [UInt8]
        var request: Identifier
        var created: Int64
        var isNew = false
    }
    struct PrunedSession: Hashable {
        var id: Identifier
        var owner: String
    }
    struct EventRow {
        var session: Int64
        var seq: UInt64
        var request: Int64
        var execution: Execution?
        var number: UInt64
        var type: String
        var body: [UInt8]
    }
    struct InterruptRow {
        var session: Int64
        var before: Int64
    }
    struct AcceptedRow {
        var number: Int64
        var session: Int64
        var acceptedSequence: UInt64
        var request: Acceptance
    }
    /// What is to be written.
    struct Changes {
        var events: [EventRow] = []
        var accepted: [AcceptedRow] = []
        var interrupts: [InterruptRow] = []
        var finished: [Int64] = []
        /// Jobs that ended, in order.
        var endedJobs: [Identifier] = []
    }

    /// Sessions that have got events.
    var changedSessions: [(id: Identifier, seq: UInt64)] {
        sessions.filter { $0.value.updated != nil }.map { ($0.key, $0.value.last) }
    }

    /// Whether requests of others are to end.
    var hasInterrupts: Bool { !changes.interrupts.isEmpty }
}
