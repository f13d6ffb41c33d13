import Bus
import Telemetry
import Wire

/// From a socket to whoever takes the message: whole messages, the parts of a BATCH, and what cannot be read.
extension Exchange {
    /// Reads what waits on a socket, up to a limit that lets the others have their turn, and decides. What comes of it
    /// is sent at the end of the turn: sends that follow each other closely leave in one packet, which is worth more
    /// than anything else here (a message by itself costs the I/O thread a system call and the peer a wake-up).
    mutating func receive(
        from socket: borrowing Socket,
        as side: Side,
        frontend: borrowing Socket,
        backend: borrowing Socket,
        now: UInt64
    ) throws(BusError) {
        for _ in 0..<Exchange.turn {
            guard var identity = try socket.receive() else { return }
            let peer = identity.withBytes { Peer(routingID: $0) }
            guard identity.isFollowed, let first = try socket.receive() else { continue }
            var message: Incoming
            do throws(IncomingError) {
                message = try Incoming(first: first, from: socket)
            } catch {
                switch error {
                case .bus(let error): throw error
                case .wire(let error): if let peer { offend(peer, side, error, now: now) }
                }
                continue
            }
            guard let peer else {
                log.warning("a peer that chose its own routing id is ignored")
                continue
            }
            if offenders.isShut(peer, now: now) { continue }
            var key: UInt32?
            if let access {
                key = message.keyNumber
                guard isAllowed(message.header, key: key, peer, side, access: access) else { continue }
            }
            if message.header.type == .batch {
                unpack(message, peer, side, key: key, now: now)
            } else {
                take(message, peer, side, key: key, now: now)
            }
            if dispatcher.actions.count >= Exchange.turn || passing.bytes >= Exchange.turnBytes {
                try perform(frontend: frontend, backend: backend, now: now)
            }
        }
    }

    mutating func take(
        _ message: consuming Incoming,
        _ peer: Peer,
        _ side: Side,
        key: UInt32?,
        now: UInt64
    ) {
        switch side {
        case .backend: fromWorker(message, peer, key: key, now: now)
        case .frontend: fromGateway(message, peer, key: key, now: now)
        }
    }

    /// Takes the messages of a BATCH one by one. Events stay where they are.
    mutating func unpack(
        _ message: consuming Incoming,
        _ peer: Peer,
        _ side: Side,
        key: UInt32?,
        now: UInt64
    ) {
        let isKnown =
            side == .backend ? dispatcher.registry.workers[peer] != nil : dispatcher.registry.gateway(of: peer) != nil
        guard isKnown else { return complainAboutStranger(peer, side) }
        let place = passing.count
        var hasPassing = false
        do throws(WireError) {
            try message.withBody { body throws(WireError) in
                var cursor = BatchCursor()
                while let part = try cursor.next(in: body), !offenders.isShut(peer, now: now) {
                    do throws(WireError) {
                        if try take(part, of: body, at: place, peer, side, key: key, now: now) { hasPassing = true }
                    } catch {
                        offend(peer, side, error, now: now)
                    }
                }
            }
        } catch {
            offend(peer, side, error, now: now)
        }
        if hasPassing { _ = passing.add(message) }
    }

    /// Takes a message of a BATCH. True when it is passed on from where it is.
    mutating func take(
        _ part: Range<Int>,
        of body: RawSpan,
        at place: Int,
        _ peer: Peer,
        _ side: Side,
        key: UInt32?,
        now: UInt64
    ) throws(WireError) -> Bool {
        let bytes = body.extracting(part)
        let header = try Header(reading: bytes)
        guard side == .backend, header.type == .event, header.flags.isDisjoint(with: [.bodyFrame, .attachments]),
            let worker = dispatcher.registry.workers[peer]
        else {
            take(try Incoming(copying: bytes), peer, side, key: key, now: now)
            return false
        }
        worker.lastHeard = now
        // Counted from the start of the frame, which is small: the body of a BATCH has none of its own.
        let passage = Passage(place: place, part: part.lowerBound + Header.size..<part.upperBound + Header.size)
        return takeEvent(header, peer, passage, now: now) {
            Exchange.terminalRecord(bytes.extracting(droppingFirst: Header.size))
        }
    }

    mutating func offend(_ peer: Peer, _ side: Side, _ error: WireError, now: UInt64) {
        if case .unknownType(_, let mayIgnore) = error, mayIgnore { return }
        let count = offenders.count(peer, now: now)
        log.warning("unreadable message", ["peer": "\(peer)", "reason": "\(error)", "count": .number(count)])
        guard count <= Limits.protocolErrors else { return }
        let code = if case .version = error { "unsupported_version" } else { JobError.Code.badMessage }
        complain(to: peer, side, JobError(code: code, message: error.description))
    }

    /// `sequence` is the number of the question that it answers, if one.
    mutating func complain(to peer: Peer, _ side: Side, _ error: JobError, sequence: UInt64 = 0) {
        guard let message = try? Outgoing(Header(.error, sequence: sequence), json: error) else { return }
        reply(message, to: peer, side)
    }

    mutating func complainAboutStranger(_ peer: Peer, _ side: Side) {
        let greeting = side == .backend ? "REGISTER" : "HELLO"
        // A worker can do something about it.
        let mayRetry = side == .backend
        complain(
            to: peer,
            side,
            JobError(code: "unregistered", message: "say \(greeting) first", retryable: mayRetry)
        )
    }

    mutating func reply(_ message: Outgoing, to peer: Peer, _ side: Side) {
        switch side {
        case .backend: dispatcher.actions.append(.toWorker(peer, message))
        case .frontend:
            let link =
                dispatcher.registry.gateway(of: peer) ?? GatewayLink(id: "", peer: peer, now: Monotonic.milliseconds)
            dispatcher.actions.append(.toGateway(link, message))
        }
    }

    mutating func unexpected(_ header: Header, _ peer: Peer, _ side: Side) {
        let place = side == .frontend ? "a gateway" : "a worker"
        complain(
            to: peer,
            side,
            JobError(code: "unexpected", message: "a \(header.type) message is not for \(place) to send")
        )
    }
}

/// Peers that send what cannot be read: after ten such messages nothing of theirs is read for a minute.
struct Offenders {
    private static let minute: UInt64 = 60_000
    private var records: [Peer: (count: Int, since: UInt64)] = [:]

    mutating func count(_ peer: Peer, now: UInt64) -> Int {
        let count = (records[peer]?.count ?? 0) + 1
        records[peer] = (count, now)
        return count
    }

    func isShut(_ peer: Peer, now: UInt64) -> Bool {
        guard !records.isEmpty, let record = records[peer] else { return false }
        return record.count > Limits.protocolErrors && now < record.since + Offenders.minute
    }

    mutating func forget(now: UInt64) {
        guard !records.isEmpty else { return }
        records = records.filter { now < $0.value.since + Offenders.minute }
    }
}
