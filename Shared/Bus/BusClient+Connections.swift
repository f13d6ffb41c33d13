internal import Synchronization
internal import Wire

/// Connections that come and go, and what comes in over them.
extension BusClient {
    /// After a refusal, in milliseconds.
    private static let pause: UInt64 = 2000

    /// Connects to the first addresses.
    func connect(_ addresses: [String], _ loop: inout BusLoop) throws(BusError) {
        loop.wanted = addresses
        state.withLock { $0.queues = [] }
        for address in addresses.prefix(BusClient.links) { try open(address, &loop) }
    }

    private func open(_ address: String, _ loop: inout BusLoop) throws(BusError) {
        let link = try loop.open(address)
        state.withLock { $0.queues.append(Queue(link: link)) }
    }

    /// Does what other addresses, refusals and routers with two addresses ask for.
    func keepConnections(_ loop: inout BusLoop, _ user: any BusClientUser) throws(BusError) {
        let (addresses, parked) = state.withLock { state in
            defer {
                state.addresses = nil
                if !state.parked.isEmpty { state.parked = [] }
            }
            return (state.addresses, state.parked)
        }
        if let addresses { loop.wanted = addresses }
        for link in parked {
            guard let connection = loop.connections.first(where: { $0.link == link }) else { continue }
            loop.parked.insert(connection.endpoint)
        }
        if addresses != nil || !parked.isEmpty || loop.hasLost { try fit(&loop, user) }
        guard let time = loop.beginsAnew, Monotonic.milliseconds >= time else { return }
        for (index, connection) in loop.connections.enumerated() {
            guard let time = connection.beginsAnew, Monotonic.milliseconds >= time else { continue }
            try loop.renew(index)
            lost(connection, user)
        }
    }

    /// Has a connection for each address that is wanted. One that is no longer wanted is kept for as long as it holds.
    private func fit(_ loop: inout BusLoop, _ user: any BusClientUser) throws(BusError) {
        if loop.hasLost {
            loop.hasLost = false
            loop.parked = []
        }
        let (wanted, parked) = (loop.wanted, loop.parked)
        for connection in loop.connections where parked.contains(connection.endpoint) { lost(connection, user) }
        let isOver: (Connection) -> Bool = { connection in
            parked.contains(connection.endpoint) || !connection.isConnected && !wanted.contains(connection.endpoint)
        }
        let links = loop.connections.filter(isOver).map(\.link)
        if !links.isEmpty {
            try loop.close(where: isOver)
            state.withLock { state in state.queues.removeAll { links.contains($0.link) } }
        }
        for address in wanted where loop.connections.count < BusClient.links && !parked.contains(address) {
            guard !loop.connections.contains(where: { $0.endpoint == address }) else { continue }
            // Without a descriptor there is none for now; addresses are looked up again soon.
            try? open(address, &loop)
        }
    }

    /// Notes that a connection is gone.
    private func lost(_ connection: Connection, _ user: any BusClientUser) {
        guard connection.isConnected else { return }
        connection.isConnected = false
        note(connection, isConnected: false)
        user.disconnected(connection.link)
        resolver.withLock { $0 }?.lookSoon()
    }

    /// What waited was meant for a connection that is gone: what matters of it, its senders send again.
    private func note(_ connection: Connection, isConnected: Bool) {
        state.withLock { state in
            guard let index = state.index(of: connection.link) else { return }
            state.queues[index].isConnected = isConnected
            guard isConnected else { return }
            state.queues[index].waiting = []
            state.queues[index].bytes = 0
            state.queues[index].unsentBytes = 0
        }
    }

    func readMonitor(_ connection: Connection, _ user: any BusClientUser) throws(BusError) {
        while var event = try connection.monitor.receive() {
            let number = event.withBytes { bytes in
                bytes.byteCount >= 2 ? bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt16.self) : 0
            }
            if event.isFollowed { _ = try connection.monitor.receive() }
            if number == MonitorEvent.handshakeSucceeded {
                connection.isConnected = true
                connection.unsent = []
                note(connection, isConnected: true)
                user.connected(connection.link)
            } else if number == MonitorEvent.disconnected {
                lost(connection, user)
            } else if MonitorEvent.refused.contains(number) {
                if connection.beginsAnew == nil { connection.beginsAnew = Monotonic.milliseconds + BusClient.pause }
                user.refused(connection.link)
            }
        }
    }

    func receive(_ connection: Connection, _ user: any BusClientUser) throws(BusError) {
        for _ in 0..<256 {
            guard let first = try connection.socket.receive() else { return }
            do throws(IncomingError) {
                let message = try Incoming(first: first, from: connection.socket)
                switch message.header.type {
                case .batch:
                    unpack(message, connection, user)
                    continue
                case .welcome: connection.takesBatches = message.header.flags.contains(.takesBatches)
                case .register, .hello:
                    // Connected to itself, which happens with ports that the kernel gives out (docs/operations.md).
                    connection.beginsAnew = Monotonic.milliseconds
                    continue
                default: break
                }
                user.received(message, from: connection.link)
            } catch {
                switch error {
                case .wire(let error): user.rejected(error)
                case .bus(let error): throw error
                }
            }
        }
    }

    private func unpack(_ batch: consuming Incoming, _ connection: Connection, _ user: any BusClientUser) {
        do throws(WireError) {
            try batch.withBody { body throws(WireError) in
                var cursor = BatchCursor()
                while let part = try cursor.next(in: body) {
                    do throws(WireError) {
                        let bytes = body.extracting(part)
                        let header = try Incoming.header(ofPart: bytes)
                        if user.read(header, bytes.extracting(droppingFirst: Header.size), from: connection.link) {
                            continue
                        }
                        user.received(Incoming(header, copying: bytes), from: connection.link)
                    } catch {
                        user.rejected(error)
                    }
                }
            }
        } catch {
            user.rejected(error)
        }
    }
}
