public import Wire

/// A message as it came in: header and body in one frame, or the body in the second, then attachments.
///
/// Kept small, since the router moves it several times: of nearly all messages `rest` is empty.
public struct Incoming: ~Copyable {
    /// The header.
    public let header: Header
    private var first: Message
    /// The frames after the first.
    private let rest: [SharedFrame]

    /// Reads the rest of a message whose first frame has been taken from the socket.
    ///
    /// All its frames are taken from the socket whatever is wrong with it, so that the next message starts right.
    /// - Throws: `IncomingError` with what was wrong.
    public init(first: consuming Message, from socket: borrowing Socket) throws(IncomingError) {
        let isFollowed = first.isFollowed
        let size = isFollowed ? first.count : 0
        let rest = isFollowed ? try Incoming.readRest(socket, after: size) : []
        let header: Header
        do {
            header = try first.withBytes { span throws(WireError) in try Header(reading: span) }
        } catch {
            throw .wire(error)
        }
        let hasBodyFrame = header.flags.contains(.bodyFrame)
        if hasBodyFrame, rest.isEmpty { throw .wire(.frameCount(expected: 2, got: 1)) }
        let expected = hasBodyFrame ? 2 : 1
        if !header.flags.contains(.attachments), rest.count + 1 != expected {
            throw .wire(.frameCount(expected: expected, got: rest.count + 1))
        }
        self.header = header
        self.first = first
        self.rest = rest
    }

    /// A message of a BATCH, which lies in the memory of that.
    /// - Throws: `WireError` when it is none, or one that must be sent alone.
    public init(copying bytes: RawSpan) throws(WireError) {
        self.init(try Incoming.header(ofPart: bytes), copying: bytes)
    }

    /// A message of a BATCH whose header has been read.
    init(_ header: Header, copying bytes: RawSpan) {
        self.header = header
        first = Message(copying: bytes)
        rest = []
    }

    /// The header of a message of a BATCH.
    /// - Throws: `WireError` when it is none, or one that must be sent alone.
    static func header(ofPart bytes: RawSpan) throws(WireError) -> Header {
        let header = try Header(reading: bytes)
        guard header.type != .batch else { throw .body(type: "BATCH", reason: "a BATCH in it") }
        guard header.flags.isDisjoint(with: [.bodyFrame, .attachments]) else {
            throw .body(type: "BATCH", reason: "a message of several frames in it")
        }
        return header
    }

    private static func readRest(
        _ socket: borrowing Socket,
        after size: Int
    ) throws(IncomingError) -> [SharedFrame] {
        var rest: [SharedFrame] = []
        var total = size
        var isFollowed = true
        var isTooLarge = false
        while isFollowed {
            guard var frame = try next(socket) else { break }
            isFollowed = frame.isFollowed
            total += frame.count
            if rest.count + 1 >= Limits.frames || total > Limits.message {
                isTooLarge = true
                rest = []
                continue
            }
            rest.append(SharedFrame(frame))
        }
        if isTooLarge { throw .wire(.tooLarge(what: "message", limit: Limits.message, got: total)) }
        return rest
    }

    private static func next(_ socket: borrowing Socket) throws(IncomingError) -> Message? {
        do { return try socket.receive() } catch { throw .bus(error) }
    }

    /// The number that an ``Authenticator`` has given to the key of whoever sent this; nil without one.
    public var keyNumber: UInt32? {
        mutating get { first.keyNumber }
    }

    /// The body's own frame, if it has one.
    private var second: SharedFrame? { header.flags.contains(.bodyFrame) ? rest.first : nil }

    /// Attachments. They are shared, not copied, when passed on.
    public var attachments: [SharedFrame] {
        header.flags.contains(.bodyFrame) ? Array(rest.dropFirst()) : rest
    }

    /// Bytes of the frames after the first; 0 for nearly all messages.
    public var furtherBytes: Int { rest.reduce(0) { $0 + $1.count } }

    /// Bytes of the body.
    public var bodyBytes: Int { mutating get { second?.count ?? first.count - Header.size } }

    /// The body.
    public mutating func withBody<Result, Failure: Error>(
        _ read: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if let second { return try second.withBytes(read) }
        return try first.withBytes { span throws(Failure) in
            try read(span.extracting(droppingFirst: Header.size))
        }
    }

    /// A copy of the body.
    public mutating func body() -> [UInt8] { second?.bytes() ?? first.bytes(from: Header.size) }

    /// Bytes of the first frame, of all when there is no other.
    public var firstCount: Int { mutating get { first.count } }

    /// Whether it is small enough for a BATCH.
    public var isSmall: Bool { mutating get { rest.isEmpty && first.count <= Limits.batchedMessage } }

    /// Adds it, or the part of it that is a message, to a BATCH that has room for it. Only if it ``isSmall``, or the
    /// part is.
    public mutating func append(_ part: Range<Int>? = nil, to batch: inout BatchWriter) {
        first.withBytes { bytes in
            if let part { batch.append(bytes.extracting(part)) } else { batch.append(bytes) }
        }
    }

    /// A copy of the part that is a message.
    public mutating func copy(of part: Range<Int>) -> Message {
        first.withBytes { bytes in Message(copying: bytes.extracting(part)) }
    }

    /// Passes the message on to a peer, frame by frame, without copying.
    public consuming func forward(on socket: borrowing Socket, to peer: Peer) throws(BusError) -> Socket.Outcome {
        let outcome = try socket.address(peer)
        guard outcome == .sent else { return outcome }
        var remaining = rest.count
        _ = try socket.send(first, more: remaining > 0)
        for frame in rest {
            remaining -= 1
            _ = try socket.send(frame.share(), more: remaining > 0)
        }
        return .sent
    }

    /// Keeps the message, to be sent once or several times.
    public consuming func keep() -> Parcel {
        let second = second
        let attachments = attachments
        return Parcel(header: header, first: first, second: second, attachments: attachments)
    }
}

/// Why no message could be read.
public enum IncomingError: Error, Sendable {
    /// The bytes are wrong.
    case wire(WireError)
    /// The socket failed.
    case bus(BusError)
}
