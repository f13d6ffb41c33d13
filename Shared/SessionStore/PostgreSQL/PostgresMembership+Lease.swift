internal import Synchronization
internal import Wire

/// The lease of a gateway, and requests that have another owner: taken over, lost, or found to be this gateway's.
extension PostgresMembership {
    /// Requests that are taken over at a time, so that several gateways share them.
    private static let share = 50
    /// Milliseconds within which the server must have begun to take over, or not do it.
    private static let late: Int64 = 1000

    /// Renews the lease, and looks what has become of this gateway's requests.
    func renew(
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
    func takeOver(
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
}
