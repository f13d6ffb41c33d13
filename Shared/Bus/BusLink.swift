internal import Glibc
public import Wire

/// A connection of a client to one router, at one address. A number is given once: an address that is left and found
/// again is another link.
public struct BusLink: Hashable, Sendable, CustomStringConvertible {
    let number: Int

    /// The first one, the only one of a client that was given one address.
    public static let first = BusLink(number: 0)

    /// What `Dictionary` calls. Numbers are the client's own: nobody chooses them.
    public func _rawHashValue(seed: Int) -> Int { UInt64(truncatingIfNeeded: number).mixed(seed: seed) }

    /// For logs and tests: a link of the given number.
    public init(number: Int) { self.number = number }

    /// Short, for logs.
    public var description: String { "link-\(number)" }
}

/// What uses connections to routers. Every method is called on the thread that owns the sockets, one at a time: none
/// may block, and state that only they touch needs no lock beyond what the compiler asks for.
public protocol BusClientUser: AnyObject, Sendable {
    /// A router has been reached, for the first time or again. Introduce yourself.
    func connected(_ link: BusLink)
    /// A router has gone. The client keeps trying, as long as its address is one of those that it was given.
    func disconnected(_ link: BusLink)
    /// A message. It may be consumed by moving it away.
    func received(_ message: consuming Incoming, from link: BusLink)
    /// A message of a BATCH, whose bytes are there during the call only: for those that are read at once, most of all.
    /// - Returns: Whether it was taken; otherwise it comes by ``received(_:from:)``.
    func read(_ header: Header, _ body: RawSpan, from link: BusLink) -> Bool
    /// Something that was not a message came in.
    func rejected(_ error: WireError)
    /// Called when what was waiting has been read, and at the time that the last call asked for.
    /// - Returns: When to be called next at the latest, in ``Monotonic`` milliseconds; nil for "when something comes".
    func turn(now: UInt64) -> UInt64?
    /// A router has not let this peer in, and will be asked again every few seconds: its list may change.
    func refused(_ link: BusLink)
    /// The sockets cannot be used any more; nothing is called after this. Unless a process can do without its bus, it
    /// ends.
    func failed(_ error: BusError)
}

extension BusClientUser {
    /// Leaves it.
    public func read(_ header: Header, _ body: RawSpan, from link: BusLink) -> Bool { false }

    /// Nothing.
    public func refused(_ link: BusLink) {}

    /// Ends the process: a supervisor starts it again, which is better than one that looks alive.
    public func failed(_ error: BusError) {
        let line = Array("bus: \(error)\n".utf8)
        _ = write(2, line, line.count)
        exit(1)
    }
}
