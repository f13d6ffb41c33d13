public import Wire

/// A message as it came in: header and body in one frame, or the body in the second, then attachments.
public struct Incoming: ~Copyable {
    /// The header.
    public private(set) var header: Header
    private var first: Message
    private var second: Message?
    /// Attachments. They are shared, not copied, when passed on.
    public let attachments: [SharedFrame]

    /// Reads the rest of a message whose first frame has been taken from the socket.
    ///
    /// All its frames are taken from the socket whatever is wrong with it, so that the next message starts right.
    /// - Throws: `IncomingError` with what was wrong.
    public init(first: consuming Message, from socket: borrowing Socket) throws(IncomingError) {
        var isFollowed = first.isFollowed
        var rest: [SharedFrame] = []
        var total = first.count
        var tooMany = false
        while isFollowed {
            guard var frame = try Incoming.next(socket) else { break }
            isFollowed = frame.isFollowed
            total += frame.count
            if rest.count + 1 >= Limits.frames || total > Limits.message {
                tooMany = true
                rest = []
                continue
            }
            rest.append(SharedFrame(frame))
        }
        if tooMany {
            throw .wire(.tooLarge(what: "message", limit: Limits.message, got: total))
        }
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
        second = hasBodyFrame ? rest.removeFirst().share() : nil
        attachments = rest
    }

    private static func next(_ socket: borrowing Socket) throws(IncomingError) -> Message? {
        do { return try socket.receive() } catch { throw .bus(error) }
    }

    /// Size of the body.
    public var bodyCount: Int {
        mutating get {
            // swift-format-ignore: NeverForceUnwrap
            second != nil ? second!.count : first.count - Header.size
        }
    }

    /// The body.
    public mutating func withBody<Result, Failure: Error>(
        _ read: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if second != nil {
            // swift-format-ignore: NeverForceUnwrap
            return try second!.withBytes(read)
        }
        return try first.withBytes { span throws(Failure) in
            try read(span.extracting(droppingFirst: Header.size))
        }
    }

    /// A copy of the body.
    public mutating func body() -> [UInt8] {
        // swift-format-ignore: NeverForceUnwrap
        second != nil ? second!.bytes() : first.bytes(from: Header.size)
    }

    /// Writes another header over the one that came, for passing the message on.
    public mutating func rewrite(_ header: Header) {
        self.header = header
        first.withMutableBytes { header.write(to: $0) }
    }

    /// Passes the message on to a peer, frame by frame, without copying.
    public consuming func forward(on socket: borrowing Socket, to peer: Peer) throws(BusError) -> Socket.Outcome {
        let outcome = try socket.address(peer)
        guard outcome == .sent else { return outcome }
        var remaining = attachments.count + (second == nil ? 0 : 1)
        _ = try socket.send(first, more: remaining > 0)
        if let second {
            remaining -= 1
            _ = try socket.send(second, more: remaining > 0)
        }
        for attachment in attachments {
            remaining -= 1
            _ = try socket.send(attachment.share(), more: remaining > 0)
        }
        return .sent
    }

    /// Keeps the message, to be sent once or several times.
    public consuming func keep() -> Parcel {
        let second: SharedFrame? = if let second { SharedFrame(second) } else { nil }
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
