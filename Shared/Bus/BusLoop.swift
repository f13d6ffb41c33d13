internal import Credentials
internal import Wire

/// What the thread of a client works with: the connections, and what it remembers from turn to turn.
///
/// Sendable although sockets belong to one thread at a time: it cannot be copied, so whoever has it is the only one,
/// and it changes hands through the lock of a ``Baton``, which is the memory barrier that libzmq asks for then.
struct BusLoop: ~Copyable, @unchecked Sendable {
    // Its own context: it ends with the sockets, which waits until what was sent has left (for as long as ZMQ_LINGER
    // allows). Were it kept by others, a process could exit before its last words are out.
    private let context: Context
    private let key: ClientKey?
    private let wakeUp: WakeUp
    private(set) var connections: [Connection] = []
    private var nextLink = 0
    private var monitors = 0
    var poller = Poller()
    /// Empty between turns; its memory is used again.
    var sending: [Outgoing] = []
    var batch = BatchWriter()
    /// Addresses that are to have a connection.
    var wanted: [String] = []
    /// Addresses under which a router was reached that has another one already. They are tried again after a loss.
    var parked: Set<String> = []
    /// Whether a connection was lost since the last look.
    var hasLost = false
    /// Whether the thread has just worked on something else: what has come meanwhile is read before more of that.
    var hasWorked = false
    /// When the user wants to be called next at the latest; nil for "when something comes".
    var next: UInt64?

    init(key: ClientKey?, wakeUp: WakeUp) throws(BusError) {
        context = try Context()
        self.key = key
        self.wakeUp = wakeUp
        poller.add(wakeUp)
    }

    /// Whether any router is there.
    var isConnected: Bool { connections.contains { $0.isConnected } }

    /// When a connection is to begin anew; nil for none.
    var beginsAnew: UInt64? {
        var first: UInt64?
        for connection in connections {
            if let time = connection.beginsAnew { first = min(first ?? time, time) }
        }
        return first
    }

    /// Places of a connection's socket in the poller; that of its monitor comes after it. The wake-up is at 0.
    static func place(_ index: Int) -> Int { 1 + 2 * index }

    /// Connects to an address.
    mutating func open(_ endpoint: String) throws(BusError) -> BusLink {
        let link = BusLink(number: nextLink)
        connections.append(try connection(link, endpoint))
        nextLink += 1
        try look()
        return link
    }

    /// Connects anew, where libzmq would not do it by itself.
    mutating func renew(_ index: Int) throws(BusError) {
        let old = connections[index]
        connections[index] = try connection(old.link, old.endpoint)
        try look()
    }

    /// Ends connections.
    mutating func close(where isOver: (Connection) -> Bool) throws(BusError) {
        connections.removeAll(where: isOver)
        try look()
    }

    private mutating func connection(_ link: BusLink, _ endpoint: String) throws(BusError) -> Connection {
        monitors += 1
        return try Connection(
            link,
            to: endpoint,
            in: context,
            key: key,
            monitorAddress: "inproc://monitor-\(monitors)"
        )
    }

    private mutating func look() throws(BusError) {
        poller = Poller()
        poller.add(wakeUp)
        for connection in connections {
            try poller.add(connection.socket)
            try poller.add(connection.monitor, isSentOn: false)
        }
    }
}

/// Work that the bus thread may do itself between two turns, to spare the wake-ups of another thread and back.
///
/// While it works its loop lies in the baton. Work that takes longer than expected holds nothing up: a second thread
/// takes the loop and is the bus thread from then on.
public protocol BusWork: AnyObject, Sendable {
    /// Asked once a turn, after everything has been sent; `mayPerform` tells whether a thread is there to take over.
    /// - Returns: What the turn ends with.
    func next(now: UInt64, mayPerform: Bool) -> BusWorkStep
    /// Works for a fraction of a millisecond, as far as that can be told beforehand.
    func perform()
    /// ``perform()`` came to its end in time.
    /// - Returns: Whether there is more to do.
    func performed() -> Bool
    /// ``perform()`` is still working, and the thread that calls this is the bus thread now.
    func overran(now: UInt64)
}

/// What a turn of the bus thread ends with.
public enum BusWorkStep: Sendable {
    /// Waiting for messages.
    case wait
    /// Waiting for messages, a millisecond at most.
    case waitShortly
    /// ``BusWork/perform()``.
    case perform
}

/// Holds a loop while the bus thread works on something else, and gives it to whoever may go on with it.
struct Baton: ~Copyable {
    /// How long work may take before another thread takes over, in milliseconds.
    private static let patience: UInt64 = 5
    /// For how long after the last work the second thread stays awake.
    private static let alertness: UInt64 = 50

    private var loop: BusLoop?
    private var laidDown: UInt64 = 0
    private var isWatched = false
    /// Whether the second thread is where it should be.
    var hasSecond = false
    var isOver = false

    /// Lays the loop down. True when the second thread must be woken to watch.
    mutating func put(_ loop: consuming BusLoop?, now: UInt64) -> Bool {
        self.loop = loop
        laidDown = now
        defer { isWatched = true }
        return !isWatched
    }

    /// Takes the loop up again; nil when another thread has it.
    mutating func take() -> BusLoop? { loop.take() }

    enum Watch: ~Copyable { case over, rest, again, takeOver(BusLoop) }

    /// The second thread's look, every few milliseconds.
    mutating func watch(now: UInt64) -> Watch {
        if isOver { return .over }
        if now >= laidDown + Baton.patience, let late = loop.take() {
            isWatched = false
            hasSecond = false
            return .takeOver(late)
        }
        if now >= laidDown + Baton.alertness {
            isWatched = false
            return .rest
        }
        return .again
    }
}
