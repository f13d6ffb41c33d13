import Bus
import Telemetry
import Wire

/// What goes to one peer in a turn, by its place among what was decided.
final class Outbox {
    /// Whether the peer has said that it takes BATCH.
    var takesBatches = false
    var places: [Int] = []
}

/// Sending what was decided. To each peer goes what it gets in the order of the decisions, and small messages together:
/// between peers there is no order to keep.
extension Exchange {
    /// Performs what the dispatcher wants. What cannot be delivered has consequences, which are performed too.
    mutating func perform(
        frontend: borrowing Socket,
        backend: borrowing Socket,
        now: UInt64
    ) throws(BusError) {
        while true {
            dispatcher.passOnAcknowledgements()
            guard !dispatcher.actions.isEmpty else { break }
            dispatcher.takeActions(into: &taken)
            for place in taken.indices where !isForNobody(place) {
                guard let outbox = outbox(of: place) else {
                    try send(place, frontend: frontend, backend: backend, now: now)
                    continue
                }
                if outbox.places.isEmpty { filled.append(outbox) }
                outbox.places.append(place)
            }
            for outbox in filled { try empty(outbox, frontend: frontend, backend: backend, now: now) }
            filled.removeAll(keepingCapacity: true)
            taken.removeAll(keepingCapacity: true)
            passing.removeAll()
        }
    }

    /// Whether an action is for a gateway that is gone: where it was, somebody may be who must not see it.
    private func isForNobody(_ place: Int) -> Bool {
        switch taken[place] {
        case .passOn(_, let gateway), .toGateway(let gateway, _): !gateway.isConnected
        default: false
        }
    }

    /// The outbox of whom an action is for, if that is somebody who takes batches.
    private func outbox(of place: Int) -> Outbox? {
        let outbox: Outbox? =
            switch taken[place] {
            case .passOn(_, let gateway), .toGateway(let gateway, _): gateway.outbox
            case .dispatch(_, let worker, _): worker.outbox
            case .toWorker(let peer, _): dispatcher.registry.workers[peer]?.outbox
            case .plan: nil
            }
        guard let outbox, outbox.takesBatches else { return nil }
        return outbox
    }

    private mutating func empty(
        _ outbox: Outbox,
        frontend: borrowing Socket,
        backend: borrowing Socket,
        now: UInt64
    ) throws(BusError) {
        defer { outbox.places.removeAll(keepingCapacity: outbox.places.capacity <= 1024) }
        guard outbox.places.count > 1 else {
            for place in outbox.places { try send(place, frontend: frontend, backend: backend, now: now) }
            return
        }
        var first = 0
        for (index, place) in outbox.places.enumerated() {
            let size = sizeInBatch(place)
            if let size, batch.hasRoom(for: size) {
                append(place)
                continue
            }
            try sendBatch(of: outbox.places[first..<index], frontend: frontend, backend: backend, now: now)
            if size != nil {
                first = index
                append(place)
            } else {
                first = index + 1
                try send(place, frontend: frontend, backend: backend, now: now)
            }
        }
        try sendBatch(of: outbox.places[first...], frontend: frontend, backend: backend, now: now)
    }

    /// Bytes of a message that is small enough for a batch.
    private func sizeInBatch(_ place: Int) -> Int? {
        switch taken[place] {
        case .passOn(let passage, _): passing.isSmall(passage) ? passing.size(passage) : nil
        case .toWorker(_, let message), .toGateway(_, let message): message.isSmall ? message.count : nil
        case .dispatch(let job, _, _): job.parcel.isSmall ? job.parcel.count : nil
        case .plan: nil
        }
    }

    private mutating func append(_ place: Int) {
        switch taken[place] {
        case .passOn(let passage, _): passing.append(passage, to: &batch)
        case .toWorker(_, let message), .toGateway(_, let message): message.append(to: &batch)
        case .dispatch(let job, _, let header): job.parcel.append(to: &batch, header: header)
        case .plan: break
        }
    }

    private mutating func sendBatch(
        of places: ArraySlice<Int>,
        frontend: borrowing Socket,
        backend: borrowing Socket,
        now: UInt64
    ) throws(BusError) {
        guard let first = places.first else { return }
        let outcome: Socket.Outcome
        switch taken[first] {
        case .passOn(_, let gateway), .toGateway(let gateway, _):
            outcome = try batch.send(on: frontend, to: gateway.peer)
        case .dispatch(_, let worker, _): outcome = try batch.send(on: backend, to: worker.peer)
        case .toWorker(let peer, _): outcome = try batch.send(on: backend, to: peer)
        case .plan: return
        }
        guard outcome != .sent else { return }
        for place in places { notSent(place, outcome, now: now) }
    }

    private mutating func send(
        _ place: Int,
        frontend: borrowing Socket,
        backend: borrowing Socket,
        now: UInt64
    ) throws(BusError) {
        let outcome: Socket.Outcome
        switch taken[place] {
        case .passOn(let passage, let gateway):
            return try passing.send(passage, on: frontend, to: gateway.peer)
        case .toWorker(let peer, let message): outcome = try message.send(on: backend, to: peer)
        case .toGateway(let gateway, let message): outcome = try message.send(on: frontend, to: gateway.peer)
        case .dispatch(let job, let worker, let header):
            outcome = try job.parcel.send(on: backend, to: worker.peer, header: header)
        case .plan(let task):
            tasks[nextTask] = task
            planner.submit(.init(number: nextTask, kind: .request(body: task.parcel.body())))
            nextTask += 1
            return
        }
        if outcome != .sent { notSent(place, outcome, now: now) }
    }

    /// What follows from a message that its peer did not get.
    private mutating func notSent(_ place: Int, _ outcome: Socket.Outcome, now: UInt64) {
        switch taken[place] {
        case .dispatch(let job, let worker, _): dispatcher.undelivered(job, to: worker, now: now)
        case .toWorker(let peer, _) where outcome == .unreachable: dispatcher.unreachable(peer, now: now)
        case .toGateway(let gateway, _) where outcome == .unreachable && gateway.isConnected:
            dispatcher.registry.lose(gateway)
            if !gateway.id.isEmpty { log.warning("gateway lost", ["gateway": "\(gateway.id)"]) }
        default: break
        }
    }
}
