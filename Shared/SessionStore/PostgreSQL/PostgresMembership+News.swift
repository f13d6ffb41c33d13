internal import Synchronization
internal import Wire

/// What gateways tell each other: which sessions have got events, and which requests are to end or may begin.
extension PostgresMembership {
    /// Channels for news of sessions: a gateway hears of those that it follows, and of few others.
    private static let channels: UInt64 = 64

    /// Looks at everything that others may have changed.
    func look(
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
    func end(
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
    func send(_ connection: PostgresConnection) throws(StoreError) -> Bool {
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
    func hear(
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

    /// The channel of a session's news: identifiers are random there.
    private static func channel(_ session: Identifier) -> UInt64 { session.low >> 16 % channels }
}
