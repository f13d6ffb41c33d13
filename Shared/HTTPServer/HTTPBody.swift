internal import Synchronization

/// The body of a request. Who reads a large one takes it away, so that it does not lie in memory beside what was made
/// of it until the request has been answered.
public final class HTTPBody: Sendable {
    private let content: Mutex<[UInt8]>
    /// How many bytes came.
    public let count: Int

    /// A body of these bytes.
    public init(_ bytes: [UInt8]) {
        count = bytes.count
        content = Mutex(bytes)
    }

    /// The bytes; none once they have been taken.
    public var bytes: [UInt8] { content.withLock { $0 } }

    /// The bytes, which are the caller's from here on.
    public func take() -> [UInt8] {
        content.withLock { content in
            defer { content = [] }
            return content
        }
    }
}
