internal import Glibc
internal import Lifecycle
internal import Synchronization
internal import Wire

/// What one gateway tells the others and hears from them: its lease, requests that it takes over, and news of sessions.
/// It has a thread and a connection of its own, so that a lease is renewed however much there is to write and to read.
///
/// A notification is a hint and never needed: once a second everything that one can be about is looked at anyway, and at
/// once when the connection is there again.
final class PostgresMembership: Sendable {
    /// Times, in milliseconds.
    struct Times: Sendable {
        /// How long a lease lasts; it is renewed three times within that.
        var lease = 15_000
        /// How often what others may have changed is looked at.
        var poll = 1000
        /// How long news of sessions are gathered.
        var news = 50
    }

    struct State {
        var member: (any StoreMember)?
        /// Sessions that have got events here, and the number of the last.
        var news: [Identifier: UInt64] = [:]
        /// Sessions that nobody follows here any more.
        var left: [Identifier] = []
        /// Whether owners of requests are to look at them.
        var hasRequestNews = false
        var mustLook = false
    }

    let times: Times
    let link: PostgresLink
    let instance: Identifier
    let name: String
    let state = Mutex(State())
    let isClosing = Atomic(false)
    let leaseEnd = Atomic(0)
    private let ended = Completion()
    private let pipe: (read: Int32, write: Int32)

    init(_ link: PostgresLink, instance: Identifier, name: String, times: Times) throws(StoreError) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw .failed(code: errno, reason: String(cString: strerror(errno))) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        pipe = (ends[0], ends[1])
        self.link = link
        self.instance = instance
        self.name = name
        self.times = times
    }

    deinit {
        close(pipe.read)
        close(pipe.write)
    }

    /// Whether the lease is held, by this process's clock.
    var holdsLease: Bool { PostgresConnection.now < leaseEnd.load(ordering: .relaxed) }

    func join(_ member: any StoreMember) {
        state.withLock { $0.member = member }
        startThread(named: "store-member") { [self] in
            run()
            ended.finish()
        }
    }

    /// Sessions have got events here. From the writers' threads.
    func tell(_ sessions: [(id: Identifier, seq: UInt64)], requests: Bool) {
        let isFirst = state.withLock { state in
            let isFirst = state.news.isEmpty && !state.hasRequestNews
            for (id, seq) in sessions { state.news[id] = seq }
            if requests { state.hasRequestNews = true }
            return isFirst && (requests || !sessions.isEmpty)
        }
        if isFirst { wake() }
    }

    func lookAgain() {
        let isFirst = state.withLock { state in
            defer { state.mustLook = true }
            return !state.mustLook
        }
        if isFirst { wake() }
    }

    func lastFollowerLeft(_ session: Identifier) {
        state.withLock { $0.left.append(session) }
        wake()
    }

    /// Gives the lease back, so that others need not wait for its end, and returns when the thread has ended.
    func leave() async {
        let hasJoined = state.withLock { $0.member != nil }
        isClosing.store(true, ordering: .relaxed)
        wake()
        if hasJoined { await ended.wait() }
        state.withLock { $0.member = nil }
    }

    private func wake() {
        var byte: UInt8 = 1
        _ = write(pipe.write, &byte, 1)
    }

    // MARK: The thread

    /// What the thread keeps between its turns.
    struct Turn {
        var renew = 0
        var scan = 0
        var poll = 0
        var news = 0
        var lastPoll = 0
        var hasBegun = false
        /// Requests that are this gateway's in the store, and not known here.
        var strangers: Set<Identifier> = []
        /// What the server's clock is ahead of this process's, in milliseconds.
        var serverTime: Int64 = 0
        var channels: Set<UInt64> = []
        /// The last number that is known of each session that is followed.
        var known: [Identifier: UInt64] = [:]
    }

    private func run() {
        guard let member = state.withLock({ $0.member }) else { return }
        var connection: PostgresConnection?
        var turn = Turn()
        while !isClosing.load(ordering: .relaxed) {
            do throws(StoreError) {
                let wasLost = connection?.isLost ?? true
                let open = try link.use(&connection)
                if wasLost { try begin(open, &turn) }
                let next = try take(&turn, open, member)
                if !isClosing.load(ordering: .relaxed) {
                    wait(open.socket, until: next)
                    try hear(open, &turn, member)
                }
            } catch {
                link.note(error)
                connection?.rollBack()
                wait(nil, until: PostgresConnection.now + 500)
            }
        }
        guard let connection, !connection.isLost else { return }
        _ = try? connection.run("DELETE FROM followers WHERE gateway = $1", .id(instance))
        _ = try? connection.run(
            "UPDATE requests SET owner_gateway = $2 WHERE owner_gateway = $1 AND state = 'open'",
            .id(instance),
            .id(.none)
        )
        _ = try? connection.run("DELETE FROM gateways WHERE instance = $1", .id(instance))
        _ = try? connection.execute("NOTIFY skillbus_requests, 'left'")
        leaseEnd.store(0, ordering: .relaxed)
    }

    /// A connection is there, for the first time or again.
    private func begin(_ connection: PostgresConnection, _ turn: inout Turn) throws(StoreError) {
        try connection.execute("LISTEN skillbus_requests")
        turn.channels = []
        turn.known = [:]
        (turn.renew, turn.poll) = (0, 0)
        // While the server was away nobody could renew a lease: the others are given the time to do so.
        let isNew = try connection.first(
            "SELECT clock_timestamp() < pg_postmaster_start_time() + $1 * interval '1 millisecond'",
            .number(times.lease)
        ) { $0.flag(0) }
        turn.scan = turn.hasBegun || isNew ?? false ? PostgresConnection.now + times.lease : 0
        turn.hasBegun = true
    }

    /// What is due.
    /// - Returns: When something is due next.
    private func take(
        _ turn: inout Turn,
        _ connection: PostgresConnection,
        _ member: any StoreMember
    ) throws(StoreError) -> Int {
        let now = PostgresConnection.now
        let (mustLook, left) = state.withLock { state in
            defer { (state.mustLook, state.left) = (false, []) }
            return (state.mustLook, state.left)
        }
        if mustLook { turn.poll = min(turn.poll, turn.lastPoll + times.news) }
        // Whoever asks whether requests can be taken must not have to send one to find out.
        if link.writeFailure != nil { turn.renew = min(turn.renew, turn.poll) }
        if now >= turn.renew {
            try renew(connection, &turn, member)
            turn.renew = now + times.lease / 3
        }
        if now >= turn.scan {
            try takeOver(connection, turn, member)
            // Not all at the same moment, and however long the lease: within five seconds of its end.
            turn.scan = now + Int.random(in: min(times.lease / 5, 3000)...min(times.lease * 3 / 10, 4500))
        }
        if !left.isEmpty { try end(left, connection, &turn) }
        if now >= turn.poll {
            try look(&turn, connection, member)
            turn.lastPoll = now
            turn.poll = now + times.poll
        }
        if now >= turn.news { if try send(connection) { turn.news = now + times.news } }
        let hasNews = state.withLock { !$0.news.isEmpty || $0.hasRequestNews }
        return min(turn.renew, turn.scan, turn.poll, hasNews ? turn.news : .max)
    }

    /// Waits for a notification, a call, or the time.
    private func wait(_ socket: Int32?, until end: Int) {
        var descriptors = [pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)]
        if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
        let left = min(max(end - PostgresConnection.now, 0), 60_000)
        _ = poll(&descriptors, UInt(descriptors.count), Int32(left))
        var buffer = [UInt8](repeating: 0, count: 256)
        while read(pipe.read, &buffer, buffer.count) > 0 {}
    }
}
