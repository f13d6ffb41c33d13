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

    /// Channels for news of sessions: a gateway hears of those that it follows, and of few others.
    private static let channels: UInt64 = 64
    /// Requests that are taken over at a time, so that several gateways share them.
    private static let share = 50
    /// Milliseconds within which the server must have begun to take over, or not do it.
    private static let late: Int64 = 1000

    private struct State {
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
    private let link: PostgresLink
    private let instance: Identifier
    private let name: String
    private let state = Mutex(State())
    private let isClosing = Atomic(false)
    private let leaseEnd = Atomic(0)
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
    private struct Turn {
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

    private func renew(
        _ connection: PostgresConnection,
        _ turn: inout Turn,
        _ member: any StoreMember
    ) throws(StoreError) {
        let now = PostgresConnection.now
        let wasOver = !holdsLease
        let time = try renew(connection)
        // Counted from before the question: by this clock it is over sooner than by the server's.
        leaseEnd.store(now + times.lease, ordering: .relaxed)
        turn.serverTime = time - Int64(PostgresConnection.now)
        link.noteSuccess()
        if wasOver { try letGo(connection, member) }
        try findStrangers(connection, &turn, member)
    }

    /// Makes the gateway known before it takes anything, or others would take that over at once.
    func register(_ connection: PostgresConnection) throws(StoreError) {
        let now = PostgresConnection.now
        try renew(connection)
        // Of the same name is the process before this one, and it is gone: its requests are this one's at once, and the
        // router knows whom to tell about them.
        try connection.run(
            """
            UPDATE requests SET owner_gateway = $2, owner_epoch = owner_epoch + 1 WHERE state = 'open'
                AND owner_gateway IN (SELECT instance FROM gateways WHERE name = $1 AND instance <> $2)
            """,
            .text(name),
            .id(instance)
        )
        try connection.run("DELETE FROM gateways WHERE name = $1 AND instance <> $2", .text(name), .id(instance))
        try connection.run("DELETE FROM gateways WHERE lease_until < clock_timestamp() - interval '1 hour'")
        leaseEnd.store(now + times.lease, ordering: .relaxed)
    }

    /// - Returns: The server's time, in milliseconds since 1970.
    @discardableResult
    private func renew(_ connection: PostgresConnection) throws(StoreError) -> Int64 {
        let time = try connection.first(
            """
            INSERT INTO gateways(instance, name, lease_until)
            VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
            ON CONFLICT (instance) DO UPDATE SET lease_until = excluded.lease_until
            RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            """,
            .id(instance),
            .text(name),
            .number(times.lease)
        ) { $0.integer(0) }
        return time ?? 0
    }

    /// After a time without a lease: lets go of what others have taken over.
    private func letGo(_ connection: PostgresConnection, _ member: any StoreMember) throws(StoreError) {
        let owned = member.ownedRequests
        let found = try connection.rows(
            "SELECT id FROM requests WHERE id = ANY($1) AND owner_gateway <> $2",
            .ids(owned),
            .id(instance)
        ) { $0.id(0) }
        if !found.isEmpty { member.lost(found) }
    }

    /// What the store says is this gateway's, and nobody here knows, is gone on with: the answer to a statement that took
    /// it over was lost. Looked at twice, since what has just been accepted or taken over becomes known a moment later.
    private func findStrangers(
        _ connection: PostgresConnection,
        _ turn: inout Turn,
        _ member: any StoreMember
    ) throws(StoreError) {
        let stored = try connection.rows(
            "SELECT id FROM requests WHERE owner_gateway = $1 AND state = 'open'",
            .id(instance)
        ) { $0.id(0) }
        let strangers = Set(stored).subtracting(member.ownedRequests)
        let again = strangers.intersection(turn.strangers)
        turn.strangers = strangers.subtracting(again)
        guard !again.isEmpty else { return }
        let taken = try connection.rows(
            """
            UPDATE requests SET owner_epoch = owner_epoch + 1
            WHERE id = ANY($1) AND owner_gateway = $2 AND state = 'open' RETURNING id
            """,
            .ids(Array(again)),
            .id(instance)
        ) { TakenRequest(id: $0.id(0), isReleased: false) }
        if !taken.isEmpty { member.tookOver(taken) }
    }

    /// Takes over what belongs to gateways without a lease. The time is the server's alone, and what another gateway is
    /// just taking or writing is left to it. A server that stood still and reads this late does not do it any more: then
    /// all leases have ended, and this gateway has given up waiting for the answer.
    private func takeOver(
        _ connection: PostgresConnection,
        _ turn: Turn,
        _ member: any StoreMember
    ) throws(StoreError) {
        while !isClosing.load(ordering: .relaxed) {
            let taken = try connection.rows(
                """
                WITH orphans AS (
                    SELECT r.number, r.owner_gateway FROM requests r
                    WHERE r.state = 'open' AND extract(epoch FROM clock_timestamp()) * 1000 < $4 AND NOT EXISTS (
                        SELECT 1 FROM gateways g WHERE g.instance = r.owner_gateway AND g.lease_until > clock_timestamp())
                    ORDER BY r.number LIMIT $2 FOR UPDATE OF r SKIP LOCKED)
                UPDATE requests r SET owner_gateway = $1, owner_epoch = r.owner_epoch + 1
                FROM orphans o WHERE r.number = o.number RETURNING r.id, o.owner_gateway = $3
                """,
                .id(instance),
                .number(PostgresMembership.share),
                .id(.none),
                .number(turn.serverTime + Int64(PostgresConnection.now) + PostgresMembership.late)
            ) { TakenRequest(id: $0.id(0), isReleased: $0.flag(1)) }
            if !taken.isEmpty { member.tookOver(taken.sorted { $0.id < $1.id }) }
            if taken.count < PostgresMembership.share { return }
        }
    }

    /// Looks at everything that others may have changed.
    private func look(
        _ turn: inout Turn,
        _ connection: PostgresConnection,
        _ member: any StoreMember
    ) throws(StoreError) {
        try listen(&turn, connection, member)
        if !turn.known.isEmpty {
            let sessions = turn.known
            let found = try connection.rows(
                "SELECT id, next_seq - 1 FROM sessions WHERE id = ANY($1)",
                .ids(Array(sessions.keys))
            ) { ($0.id(0), $0.unsigned(1)) }
            let numbers = Dictionary(uniqueKeysWithValues: found)
            for (session, number) in sessions where numbers[session] ?? 0 != number {
                turn.known[session] = numbers[session] ?? 0
                member.changed(session)
            }
        }
        let ends = try connection.rows(
            "SELECT id, cancel_reason FROM requests WHERE owner_gateway = $1 AND state = 'open' AND cancelling",
            .id(instance)
        ) { (id: $0.id(0), reason: $0.optionalText(1)) }
        if !ends.isEmpty { member.endRequested(ends) }
        let blocked = member.blockedRequests
        guard !blocked.isEmpty else { return }
        let free = try connection.rows(
            """
            SELECT r.id FROM requests r WHERE r.id = ANY($1) AND NOT EXISTS (SELECT 1 FROM requests e
                WHERE e.session = r.session AND e.state = 'open' AND e.number < r.number)
            """,
            .ids(blocked)
        ) { $0.id(0) }
        if !free.isEmpty { member.unblocked(free) }
    }

    /// Listens for the sessions that are followed, and says which those are.
    private func listen(
        _ turn: inout Turn,
        _ connection: PostgresConnection,
        _ member: any StoreMember
    ) throws(StoreError) {
        let followed = Set(member.followedSessions)
        let new = followed.filter { turn.known[$0] == nil }
        let gone = turn.known.keys.filter { !followed.contains($0) }
        guard !new.isEmpty || !gone.isEmpty else { return }
        let wanted = Set(followed.map(PostgresMembership.channel))
        let changes =
            wanted.subtracting(turn.channels).map { "LISTEN skillbus_ev_\($0)" }
            + turn.channels.subtracting(wanted).map { "UNLISTEN skillbus_ev_\($0)" }
        if !changes.isEmpty { try connection.execute(changes.joined(separator: ";")) }
        turn.channels = wanted
        try connection.run(
            "INSERT INTO followers(session, gateway) SELECT s, $2 FROM unnest($1) AS n(s) ON CONFLICT DO NOTHING",
            .ids(Array(new)),
            .id(instance)
        )
        try connection.run(
            "DELETE FROM followers WHERE gateway = $2 AND session = ANY($1)",
            .ids(gone),
            .id(instance)
        )
        for session in gone { turn.known[session] = nil }
        // Zero is looked up and differs: what came before it was listened for is read then.
        for session in new { turn.known[session] = 0 }
    }

    /// Ends what ends with its last follower, unless another gateway has one.
    private func end(
        _ sessions: [Identifier],
        _ connection: PostgresConnection,
        _ turn: inout Turn
    ) throws(StoreError) {
        // Somebody may have come back in the meantime: then it is new to the next look.
        for session in sessions { turn.known[session] = nil }
        turn.poll = 0
        // On its own: of two gateways whose last followers leave at once, one sees that the other's is gone.
        try connection.run(
            "DELETE FROM followers WHERE gateway = $2 AND session = ANY($1)",
            .ids(sessions),
            .id(instance)
        )
        let ended = try connection.run(
            """
            UPDATE requests r SET cancelling = true,
                cancel_reason = coalesce(cancel_reason, 'the session''s last follower left')
            FROM sessions s WHERE s.id = ANY($1) AND r.session = s.number AND r.state = 'open' AND r.ends_alone
                AND NOT EXISTS (SELECT 1 FROM followers f
                    JOIN gateways g ON g.instance = f.gateway AND g.lease_until > clock_timestamp()
                    WHERE f.session = s.id)
            """,
            .ids(sessions)
        )
        if ended > 0 { state.withLock { ($0.hasRequestNews, $0.mustLook) = (true, true) } }
    }

    /// Tells the others what is new.
    /// - Returns: Whether there was anything.
    private func send(_ connection: PostgresConnection) throws(StoreError) -> Bool {
        let (news, hasRequestNews) = state.withLock { state in
            defer { (state.news, state.hasRequestNews) = ([:], false) }
            return (state.news, state.hasRequestNews)
        }
        var channels = news.keys.map { "skillbus_ev_\(PostgresMembership.channel($0))" }
        var payloads = news.map { "\($0.key) \($0.value)" }
        if hasRequestNews {
            channels.append("skillbus_requests")
            payloads.append("")
        }
        guard !channels.isEmpty else { return false }
        try connection.run(
            "SELECT pg_notify(c, p) FROM unnest($1, $2) AS n(c, p)",
            .texts(channels),
            .texts(payloads)
        )
        return true
    }

    /// What others have told.
    private func hear(
        _ connection: PostgresConnection,
        _ turn: inout Turn,
        _ member: any StoreMember
    ) throws(StoreError) {
        for (channel, payload) in try connection.notifications() {
            guard channel != "skillbus_requests" else {
                turn.poll = 0
                if payload == "left" { turn.scan = min(turn.scan, PostgresConnection.now) }
                continue
            }
            let words = payload.split(separator: " ")
            guard words.count == 2, let session = Identifier(String(words[0])), let seq = UInt64(words[1]) else {
                continue
            }
            guard turn.known[session] != nil else { continue }
            turn.known[session] = seq
            member.changed(session)
        }
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

    /// The channel of a session's news: identifiers are random there.
    private static func channel(_ session: Identifier) -> UInt64 { session.low >> 16 % channels }
}
