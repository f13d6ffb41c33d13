internal import CZMQ

/// One frame, owned. Moving it moves the 64-byte handle; the content is not copied.
///
/// Sendable although the handle holds a pointer: a frame has one owner, and what ``share()`` gives out is counted
/// atomically by libzmq and never written to afterwards.
public struct Message: ~Copyable, @unchecked Sendable {
    private var raw = zmq_msg_t()

    /// An empty frame.
    public init() { zmq_msg_init(&raw) }

    /// A frame with that many bytes, filled by the closure.
    public init(size: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        // Fails only when memory is out, in which case nothing can go on.
        let failure = zmq_msg_init_size(&raw, size)
        precondition(failure == 0, "zmq_msg_init_size: no memory for \(size) bytes")
        fill(UnsafeMutableRawBufferPointer(start: zmq_msg_data(&raw), count: size))
    }

    /// A frame with a copy of the bytes.
    public init(copying bytes: [UInt8]) {
        self.init(copying: bytes.span.bytes)
    }

    /// A frame with a copy of the bytes.
    public init(copying bytes: RawSpan) {
        self.init(size: bytes.byteCount) { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
    }

    deinit {
        var raw = raw
        zmq_msg_close(&raw)
    }

    mutating func withHandle<Result>(_ body: (UnsafeMutablePointer<zmq_msg_t>) -> Result) -> Result { body(&raw) }

    /// Size of the content.
    public var count: Int {
        mutating get { zmq_msg_size(&raw) }
    }

    /// The number that an ``Authenticator`` has given to the key of whoever sent this; nil without one.
    var keyNumber: UInt32? {
        mutating get {
            guard var digit = czmq_user(&raw) else { return nil }
            var number: UInt32 = 0
            while digit.pointee != 0 {
                guard 48...57 ~= digit.pointee else { return nil }
                number = number &* 10 &+ UInt32(digit.pointee - 48)
                digit += 1
            }
            return number
        }
    }

    /// Whether another frame of the same message follows, as received.
    public var isFollowed: Bool {
        mutating get { zmq_msg_more(&raw) != 0 }
    }

    /// A second owner of the same content, which from then on must not be written to.
    public mutating func share() -> Message {
        var other = Message()
        _ = other.withHandle { zmq_msg_copy($0, &raw) }
        return other
    }

    /// The content.
    public mutating func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(start: zmq_msg_data(&raw), count: zmq_msg_size(&raw)).bytes)
    }

    /// The content, to be changed in place. Not after ``share()``.
    public mutating func withMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        body(UnsafeMutableRawBufferPointer(start: zmq_msg_data(&raw), count: zmq_msg_size(&raw)))
    }

    /// A copy of the content from an offset on.
    public mutating func bytes(from offset: Int = 0) -> [UInt8] {
        let content = UnsafeRawBufferPointer(start: zmq_msg_data(&raw), count: zmq_msg_size(&raw))
        return offset < content.count ? Array(content[offset...]) : []
    }
}
