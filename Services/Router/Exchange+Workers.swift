import Bus
import Telemetry
import Wire

/// What workers send: registrations, events, and how it stands with them.
extension Exchange {
    mutating func fromWorker(_ message: consuming Incoming, _ peer: Peer, key: UInt32?, now: UInt64) {
        let header = message.header
        if header.type == .query { return question(message.body(), header, peer, .backend) }
        if header.type == .register { return register(message.body(), header, peer, key: key, now: now) }
        guard let worker = dispatcher.registry.workers[peer] else {
            // After a restart of this router, or after the worker was taken for dead.
            return complainAboutStranger(peer, .backend)
        }
        worker.lastHeard = now
        switch header.type {
        case .event:
            // One in a BATCH is small.
            if message.bodyBytes > Limits.event, let size = message.withBody({ Exchange.largestRecord($0) }),
                size > Limits.event
            {
                return dispatcher.saidTooMuch(header, size, worker: worker, now: now)
            }
            let isPassed = takeEvent(header, peer, Passage(place: passing.count), now: now) {
                message.withBody { Exchange.terminalRecord($0) }
            }
            if isPassed { _ = passing.add(message) }
        case .heartbeat:
            var running: [Execution] = []
            do throws(WireError) {
                try message.withBody { body throws(WireError) in
                    try ExecutionList.forEachWithProgress(body) { execution, _ in running.append(execution) }
                }
            } catch {
                return offend(peer, .backend, error, now: now)
            }
            dispatcher.heartbeat(
                from: worker,
                free: min(Int(clamping: header.value), worker.registration.concurrency),
                seen: header.sequence,
                running: running,
                now: now
            )
        case .credit:
            dispatcher.credited(
                worker,
                free: min(Int(clamping: header.value), worker.registration.concurrency),
                seen: header.sequence,
                now: now
            )
        case .accepted: _ = dispatcher.event(header, from: peer, now: now) { nil }
        case .nack:
            let error =
                (try? JSONBody.decode(JobError.self, from: message.body()))
                ?? JobError(code: "busy", message: "refused without a reason")
            dispatcher.refused(header.execution, by: worker, error, now: now)
        case .claim:
            var claimed: [Execution] = []
            do throws(WireError) {
                try message.withBody { body throws(WireError) in try ExecutionList.forEach(body) { claimed.append($0) }
                }
            } catch {
                return offend(peer, .backend, error, now: now)
            }
            dispatcher.claimed(claimed, by: worker, now: now)
        case .release: dispatcher.released(header.execution, by: worker, now: now)
        case .call:
            let frames = message.attachments
            dispatcher.called(header, body: message.body(), frames: frames, by: worker, now: now)
        case .drain:
            dispatcher.draining(worker)
            log.info("worker drains", ["worker": "\(worker.registration.worker)"])
        case .goodbye:
            log.info("worker left", ["worker": "\(worker.registration.worker)"])
            // It has said that it begins nothing more.
            dispatcher.workerLost(peer, reason: "its worker left", mayHaveBegun: false, now: now)
        default: unexpected(header, peer, .backend)
        }
    }

    /// Decides about an event. True when it is to be passed on, as what is said.
    mutating func takeEvent(
        _ header: Header,
        _ peer: Peer,
        _ passage: Passage,
        now: UInt64,
        terminalRecord: () -> (kind: EventKind, payload: [UInt8])?
    ) -> Bool {
        // An event goes before what the router does because of it.
        let place = dispatcher.actions.count
        switch dispatcher.event(header, from: peer, now: now, terminalRecord: terminalRecord) {
        case .forward(let gateway):
            let action = Dispatcher.Action.passOn(passage, gateway)
            if place == dispatcher.actions.count {
                dispatcher.actions.append(action)
            } else {
                dispatcher.actions.insert(action, at: place)
            }
            return true
        case .drop: return false
        case .fence:
            var body: [UInt8] = []
            ExecutionList.append(header.execution, to: &body)
            dispatcher.actions.append(.toWorker(peer, Outgoing(Header(.fenced), body: body)))
            return false
        }
    }

    /// Bytes of the largest record that does not end the job.
    static func largestRecord(_ body: RawSpan) -> Int? {
        var cursor = EventRecordCursor()
        var largest: Int?
        while let record = try? cursor.next(in: body) {
            if !record.kind.isTerminal { largest = max(largest ?? 0, record.payload.count) }
        }
        return largest
    }

    static func terminalRecord(_ body: RawSpan) -> (kind: EventKind, payload: [UInt8])? {
        var cursor = EventRecordCursor()
        var last: (kind: EventKind, payload: Range<Int>)?
        while let record = try? cursor.next(in: body) { last = record }
        guard let last, last.kind.isTerminal else { return nil }
        return (last.kind, body.withUnsafeBytes { Array($0[last.payload]) })
    }

    mutating func register(_ body: [UInt8], _ header: Header, _ peer: Peer, key: UInt32?, now: UInt64) {
        do {
            let registration = try JSONBody.decode(Registration.self, from: body)
            for manifest in registration.manifests {
                let size = try JSONBody.encode(manifest).count
                guard size <= Limits.manifest else {
                    throw JobError(
                        code: JobError.Code.badManifest,
                        message: "the manifest of \(manifest.id) has \(size) bytes, the limit is \(Limits.manifest)"
                    )
                }
            }
            try checkSkills(of: registration, key: key)
            let credit = min(Int(clamping: header.value), registration.concurrency)
            // WELCOME goes before all that comes of it: no job may reach a worker that does not know yet that it is
            // registered.
            let place = dispatcher.actions.count
            let worker = try dispatcher.registered(
                registration,
                peer: peer,
                credit: credit,
                seen: header.sequence,
                now: now
            )
            worker.key = key
            worker.sharesSlots = header.flags.contains(.sharesSlots)
            dispatcher.actions.insert(.toWorker(peer, welcomeOfWorker), at: place)
            worker.outbox.takesBatches = header.flags.contains(.takesBatches)
            dispatcher.admit(worker, now: now)
            log.info(
                "worker registered",
                [
                    "worker": "\(registration.worker)",
                    "skills": "\(registration.manifests.map(\.id).joined(separator: ","))",
                ]
            )
        } catch let error as JobError {
            log.warning("worker refused", ["peer": "\(peer)", "code": "\(error.code)", "reason": "\(error.message)"])
            complain(to: peer, .backend, error)
        } catch {
            let reason = (error as? WireError)?.description ?? "\(error)"
            log.warning("worker refused", ["peer": "\(peer)", "reason": "\(reason)"])
            complain(to: peer, .backend, JobError(code: JobError.Code.badManifest, message: reason))
        }
    }
}
