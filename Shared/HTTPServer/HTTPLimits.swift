/// What one server allows a client. Every bound has an answer of its own: 408, 413, 414, 431 or 503.
public struct HTTPLimits: Sendable {
    /// Bytes of a request's body, also of a chunked one.
    public var body = 36 * 1024 * 1024
    /// Bytes above which a body is a large one, and one whose length is not announced is too.
    public var largeBody = 1024 * 1024
    /// Bytes of all large bodies that are being received or worked on, together. One takes its part with its headers.
    public var bodies = 128 * 1024 * 1024
    /// Bytes of all others, together: large ones do not keep them out.
    public var smallBodies = 32 * 1024 * 1024
    /// Bytes of the request line and headers.
    public var header = 16 * 1024
    /// Header fields.
    public var headerFields = 100
    /// Bytes of the request target.
    public var target = 8 * 1024
    /// Connections; those above it are told so and closed.
    public var connections = 1000
    /// Connections of one address that is not loopback.
    public var connectionsPerAddress = 100
    /// From a connection's first moment to the end of the headers, in sum: a client that drips bytes gains nothing.
    public var headerTime = Duration.seconds(10)
    /// From the end of the headers to the end of the body, in sum, with a second more for each 64 KiB received.
    public var bodyTime = Duration.seconds(30)
    /// How long a connection may wait for its next request, or stand still while a response is being written.
    public var idleTime = Duration.seconds(60)
    /// Bytes of a stream that wait for one client; its producer waits when they are full.
    public var streamBuffer = 64 * 1024

    /// The defaults.
    public init() {}
}
