internal import CZMQ

/// A call of libzmq that failed. Errors that a caller handles (would block, peer gone) are values, not this.
public struct BusError: Error, Sendable, CustomStringConvertible {
    /// The function, and what it was called with where that helps.
    public let operation: String
    /// The error number.
    public let code: Int32

    init(_ operation: String, code: Int32 = zmq_errno()) {
        self.operation = operation
        self.code = code
    }

    /// One sentence, as libzmq words it.
    public var description: String { "\(operation): \(String(cString: zmq_strerror(code)))" }

    /// Whether an address is taken by somebody else.
    public var isAddressInUse: Bool { code == EADDRINUSE }
}
