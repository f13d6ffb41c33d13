public import Wire

/// A store that several gateways share. Each open request has one owner, a gateway that goes on with it under a lease;
/// when the owner's lease is over, another one takes the request over under a higher epoch, and what the former owner
/// writes after that is not stored.
public protocol SharedSessionStore: SessionStore {
    /// Begins to hold a lease, to take over what nobody goes on with, and to tell the member what others do. To be
    /// called once.
    func join(_ member: any StoreMember)

    /// Requests without a terminal event that this gateway goes on with: before ``join(_:)``, those of the process before
    /// it.
    func ownRequests() async throws(StoreError) -> [OpenRequestRecord]

    /// Whether this gateway holds its lease, by its own clock: without one it starts and ends nothing by itself.
    var holdsLease: Bool { get }

    /// Something that the member is asked for has changed: sessions are followed, or requests wait for those of others.
    func lookAgain()

    /// Asks the owner of a request, whichever gateway that is, to end it.
    /// - Returns: False if it has ended already.
    func requestCancel(_ request: Identifier, reason: String) async throws(StoreError) -> Bool

    /// Nobody follows the session here any more. If nobody does elsewhere, requests that end with their last follower
    /// are asked to end.
    func lastFollowerLeft(_ session: Identifier)
}

/// A request that has another owner now.
public struct TakenRequest: Sendable, Equatable {
    /// The request.
    public var id: Identifier
    /// Whether its former owner has given it back and does nothing more about it. Of any other, what it has begun must be
    /// fenced off: it may be there still, and not know.
    public var isReleased: Bool
}

/// A gateway, as a store that it shares with others sees it. Everything is called on a thread of the store and must not
/// block.
public protocol StoreMember: AnyObject, Sendable {
    /// Sessions that are followed here.
    var followedSessions: [Identifier] { get }
    /// Requests here that wait for earlier ones of their session, which others may have.
    var blockedRequests: [Identifier] { get }
    /// Requests that this gateway goes on with.
    var ownedRequests: [Identifier] { get }

    /// These are this gateway's from now on.
    func tookOver(_ requests: [TakenRequest])
    /// These are another's from now on.
    func lost(_ requests: [Identifier])
    /// Somebody wants these of this gateway to end.
    func endRequested(_ requests: [(id: Identifier, reason: String?)])
    /// Nothing earlier of their sessions is open any more.
    func unblocked(_ requests: [Identifier])
    /// A session has got events, or has been deleted.
    func changed(_ session: Identifier)
}
