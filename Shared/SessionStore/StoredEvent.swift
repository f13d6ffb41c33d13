/// An event as it lies in the store: its JSON is made once, when it is written, and sent as it is to every follower.
public struct StoredEvent: Sendable, Hashable {
    /// Its number in the session.
    public let seq: UInt64
    /// Its type, such as `job.delta`.
    public let type: String
    /// The whole event as JSON on one line: no byte of it is a line feed or a carriage return.
    public let json: [UInt8]

    /// Makes an event.
    public init(seq: UInt64, type: String, json: [UInt8]) {
        self.seq = seq
        self.type = type
        self.json = json
    }
}
