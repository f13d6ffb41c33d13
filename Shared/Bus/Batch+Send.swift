public import Wire

extension BatchWriter {
    /// Sends what has been written to a peer of a ROUTER, or to the one peer of a DEALER when `peer` is nil. It is empty
    /// after that, whatever became of it.
    public mutating func send(on socket: borrowing Socket, to peer: Peer?) throws(BusError) -> Socket.Outcome {
        let frame = take { Message(copying: $0.bytes) }
        if let peer {
            let outcome = try socket.address(peer)
            guard outcome == .sent else { return outcome }
        }
        return try socket.send(frame)
    }
}
