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
