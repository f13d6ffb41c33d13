public import Wire

/// A message to be sent, as any thread can make it.
public struct Outgoing: Sendable {
    /// The header.
    public var header: Header
    /// The body.
    public var body: [UInt8]
    /// Attachments.
    public var attachments: [SharedFrame]

    /// Makes a message.
    public init(_ header: Header, body: [UInt8] = [], attachments: [SharedFrame] = []) {
        self.header = header
        self.body = body
        self.attachments = attachments
    }

    /// Makes a message with a JSON body.
    /// - Throws: `WireError` when the body cannot be encoded.
    public init(_ header: Header, json: some Encodable) throws(WireError) {
        self.init(header, body: try JSONBody.encode(json))
    }

    /// Bytes that it takes.
    public var count: Int { Header.size + body.count + attachments.reduce(0) { $0 + $1.count } }

    /// Whether it is small enough for a BATCH.
    public var isSmall: Bool { attachments.isEmpty && Header.size + body.count <= Limits.batchedMessage }

    /// Adds it to a BATCH that has room for it. Only if it ``isSmall``.
    public func append(to batch: inout BatchWriter) { batch.append(header, body.span.bytes) }

    /// Refuses what is over the limits of a message. The other side would not refuse it but drop the connection, and
    /// with it everything else.
    public func check() throws(WireError) {
        let frames = 1 + (body.count > Limits.inlineBody ? 1 : 0) + attachments.count
        guard frames <= Limits.frames else { throw .frameCount(expected: Limits.frames, got: frames) }
        // No frame may be larger than the whole.
        let size = count
        guard size <= min(Limits.message, Limits.frame) else {
            throw .tooLarge(what: "message", limit: min(Limits.message, Limits.frame), got: size)
        }
    }

    /// Sends it to a peer of a ROUTER, or to the one peer of a DEALER when `peer` is nil.
    public func send(on socket: borrowing Socket, to peer: Peer?) throws(BusError) -> Socket.Outcome {
        guard body.count <= Limits.inlineBody, attachments.isEmpty else {
            return try Parcel(header: header, body: body, attachments: attachments).send(on: socket, to: peer)
        }
        if let peer {
            let outcome = try socket.address(peer)
            guard outcome == .sent else { return outcome }
        }
        return try socket.send(.joining(header, body))
    }
}
