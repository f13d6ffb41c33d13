import Bus
import Lifecycle
import Telemetry
import Wire

/// Reads messages, has the dispatcher decide, and sends what came of it. Lives on the router's thread.
struct Exchange: ~Copyable {
    enum Side { case frontend, backend }

    /// Messages read from one socket, or actions decided on, before something is sent.
    private static let turn = 256
    /// Bytes of messages to be passed on before something is sent.
    private static let turnBytes = 1024 * 1024

    let settings: RouterLoop.Settings
    let log: Log
    let planner: Planner
    /// Nil while no keys are configured.
    let access: BusAccess?
    let instance: Identifier
    var dispatcher: Dispatcher
    var taken: [Dispatcher.Action] = []
    var passing = PassingMessages()
    var batch = BatchWriter()
    /// What goes to somebody in this turn.
    var filled: [Outbox] = []
    private var offenders = Offenders()
    private var lastTick: UInt64
    private var lastHeartbeat: UInt64
    private var manifestRevision: UInt64 = 0
    private var drainStart: UInt64?
    var nextTask: UInt64 = 1
    var tasks: [UInt64: PlanningTask] = [:]
    private var questions: [UInt64: (peer: Peer, side: Side, sequence: UInt64)] = [:]

    init(
        settings: RouterLoop.Settings,
        log: Log,
        planner: Planner,
        access: BusAccess? = nil,
        now: UInt64
    ) {
        self.settings = settings
        self.access = access
        self.log = log
        self.planner = planner
        instance = .timeOrdered(milliseconds: WallClock.milliseconds)
        dispatcher = Dispatcher(
            now: now,
            heartbeat: settings.heartbeat,
            liveness: settings.liveness,
            longestWait: settings.longestWait
        )
        lastTick = now
        lastHeartbeat = now
    }

    /// How long the loop may wait: until a heartbeat or something timed is due.
    func waitTime(now: UInt64) -> Int {
        let isBusy = !dispatcher.jobs.isEmpty || !dispatcher.early.isEmpty || drainStart != nil
        let tick = lastTick + (isBusy ? 250 : settings.heartbeat)
        let next = min(tick, lastHeartbeat + settings.heartbeat)
        return next > now ? Int(next - now) : 0
    }

    mutating func wokeLate(now: UInt64) {
        // Connections may have been given up meanwhile, for the same reason: whoever is alive comes back and says so.
        dispatcher.graceEnds = now + 3 * settings.heartbeat
        for worker in dispatcher.registry.workers.values { worker.lastHeard = now }
        for gateway in dispatcher.registry.gateways.values { gateway.lastHeard = now }
    }

    // MARK: Receiving

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

    private mutating func take(
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
    private mutating func unpack(
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
    private mutating func take(
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

    /// Decides about an event. True when it is to be passed on, as what is said.
    private mutating func takeEvent(
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

    private mutating func offend(_ peer: Peer, _ side: Side, _ error: WireError, now: UInt64) {
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

    private mutating func complainAboutStranger(_ peer: Peer, _ side: Side) {
        let greeting = side == .backend ? "REGISTER" : "HELLO"
        // A worker can do something about it.
        let mayRetry = side == .backend
        complain(
            to: peer,
            side,
            JobError(code: "unregistered", message: "say \(greeting) first", retryable: mayRetry)
        )
    }

    private mutating func reply(_ message: Outgoing, to peer: Peer, _ side: Side) {
        switch side {
        case .backend: dispatcher.actions.append(.toWorker(peer, message))
        case .frontend:
            let link =
                dispatcher.registry.gateway(of: peer) ?? GatewayLink(id: "", peer: peer, now: Monotonic.milliseconds)
            dispatcher.actions.append(.toGateway(link, message))
        }
    }

    private mutating func fromGateway(_ message: consuming Incoming, _ peer: Peer, key: UInt32?, now: UInt64) {
        let header = message.header
        if header.type == .query { return question(message.body(), header, peer, .frontend) }
        if header.type == .hello { return hello(message.body(), header, peer, key: key, now: now) }
        guard let gateway = dispatcher.registry.gateway(of: peer) else {
            return complainAboutStranger(peer, .frontend)
        }
        gateway.lastHeard = now
        switch header.type {
        case .submit:
            let skill: String
            do throws(WireError) {
                skill = try message.withBody { body throws(WireError) in try JobBody.split(body).skill }
            } catch {
                return offend(peer, .frontend, error, now: now)
            }
            dispatcher.submitted(header, skill: skill, parcel: message.keep(), from: gateway, now: now)
        case .eventAck:
            do throws(WireError) {
                try message.withBody { body throws(WireError) in
                    try ExecutionList.forEach(body) { dispatcher.acknowledged($0) }
                }
            } catch {
                return offend(peer, .frontend, error, now: now)
            }
        case .cancel: dispatcher.cancelled(header.job, now: now)
        case .mayStart:
            dispatcher.mayStart(header.job, generation: header.generation, isGranted: header.value == 1, now: now)
        case .heartbeat, .drain: break
        case .goodbye:
            dispatcher.registry.lose(gateway)
            log.info("gateway left", ["gateway": "\(gateway.id)"])
        default: unexpected(header, peer, .frontend)
        }
    }

    private mutating func unexpected(_ header: Header, _ peer: Peer, _ side: Side) {
        let place = side == .frontend ? "a gateway" : "a worker"
        complain(
            to: peer,
            side,
            JobError(code: "unexpected", message: "a \(header.type) message is not for \(place) to send")
        )
    }

    private mutating func hello(_ body: [UInt8], _ header: Header, _ peer: Peer, key: UInt32?, now: UInt64) {
        do {
            let hello = try JSONBody.decode(Hello.self, from: body)
            let wrong =
                wrongName("gateway", hello.gateway, from: 1) ?? wrongName("host", hello.host)
                ?? wrongName("product", hello.product)
            if let wrong { throw WireError.body(type: "Hello", reason: wrong) }
            try checkName(of: hello, key: key)
            let link = dispatcher.registry.greet(hello, peer: peer, now: now)
            link.outbox.takesBatches = header.flags.contains(.takesBatches)
            link.takesLoad = header.flags.contains(.takesLoad)
            link.key = key
            log.info("gateway connected", ["gateway": "\(hello.gateway)"])
            dispatcher.actions.append(.toGateway(link, welcome))
        } catch let error as JobError {
            log.warning("gateway refused", ["peer": "\(peer)", "code": "\(error.code)", "reason": "\(error.message)"])
            complain(to: peer, .frontend, error)
        } catch {
            let error = error as? WireError ?? .body(type: "Hello", reason: "\(error)")
            offend(peer, .frontend, error, now: now)
        }
    }

    private var welcome: Outgoing {
        let body = Welcome(
            router: instance,
            heartbeat: Int(settings.heartbeat),
            liveness: Int(settings.liveness),
            product: Router.version
        )
        return Outgoing(Header(.welcome, flags: .takesBatches), body: (try? JSONBody.encode(body)) ?? [])
    }

    private mutating func fromWorker(_ message: consuming Incoming, _ peer: Peer, key: UInt32?, now: UInt64) {
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

    /// Bytes of the largest record that does not end the job.
    private static func largestRecord(_ body: RawSpan) -> Int? {
        var cursor = EventRecordCursor()
        var largest: Int?
        while let record = try? cursor.next(in: body) {
            if !record.kind.isTerminal { largest = max(largest ?? 0, record.payload.count) }
        }
        return largest
    }

    private static func terminalRecord(_ body: RawSpan) -> (kind: EventKind, payload: [UInt8])? {
        var cursor = EventRecordCursor()
        var last: (kind: EventKind, payload: Range<Int>)?
        while let record = try? cursor.next(in: body) { last = record }
        guard let last, last.kind.isTerminal else { return nil }
        return (last.kind, body.withUnsafeBytes { Array($0[last.payload]) })
    }

    private mutating func register(_ body: [UInt8], _ header: Header, _ peer: Peer, key: UInt32?, now: UInt64) {
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
            dispatcher.actions.insert(.toWorker(peer, welcome), at: place)
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

    private mutating func question(_ body: [UInt8], _ header: Header, _ peer: Peer, _ side: Side) {
        do {
            let query = try JSONBody.decode(Query.self, from: body)
            switch query.ask {
            case .skills:
                let answer = Header(.answer, sequence: header.sequence)
                reply(try Outgoing(answer, json: dispatcher.registry.list), to: peer, side)
            case .route:
                let size = query.text?.utf8.count ?? 0
                guard size <= Limits.requestText else {
                    throw WireError.tooLarge(what: "text", limit: Limits.requestText, got: size)
                }
                guard questions.count < Limits.planning else {
                    throw JobError(code: JobError.Code.overloaded, message: "too many questions wait for the planner")
                }
                questions[nextTask] = (peer, side, header.sequence)
                planner.submit(.init(number: nextTask, kind: .question(query)))
                nextTask += 1
            }
        } catch {
            let refusal = JobError(code: JobError.Code.badMessage, message: "\(error)")
            complain(to: peer, side, refusal, sequence: header.sequence)
        }
    }

    // MARK: Sending

    /// What happens once a turn. True when the router has drained.
    mutating func endTurn(
        frontend: borrowing Socket,
        backend: borrowing Socket,
        isDraining: Bool,
        now: UInt64
    ) throws(BusError) -> Bool {
        takePlans(now: now)
        if manifestRevision != dispatcher.registry.revision {
            manifestRevision = dispatcher.registry.revision
            planner.update(dispatcher.registry.manifests)
        }
        if now >= lastHeartbeat + settings.heartbeat {
            lastHeartbeat = now
            for peer in dispatcher.registry.workers.keys {
                dispatcher.actions.append(.toWorker(peer, Outgoing(Header(.heartbeat))))
            }
            for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
                dispatcher.actions.append(.toGateway(gateway, Outgoing(Header(.heartbeat))))
            }
            offenders.forget(now: now)
        }
        if now >= lastTick + 250 || dispatcher.jobs.isEmpty && now >= lastTick + settings.heartbeat {
            lastTick = now
            dispatcher.tick(now: now)
        }
        if isDraining { beginDrain(now: now) }
        try perform(frontend: frontend, backend: backend, now: now)
        guard let drainStart else { return false }
        guard dispatcher.jobs.isEmpty || now >= drainStart + settings.drainLimit else { return false }
        sayGoodbye()
        try perform(frontend: frontend, backend: backend, now: now)
        return true
    }

    private mutating func takePlans(now: UInt64) {
        for (number, answer) in planner.takeResults() {
            switch answer {
            case .request(let result):
                guard let task = tasks.removeValue(forKey: number) else { continue }
                dispatcher.planned(task, result, now: now)
            case .question(let plan):
                guard let (peer, side, sequence) = questions.removeValue(forKey: number) else { continue }
                if let message = try? Outgoing(Header(.answer, sequence: sequence), json: plan) {
                    reply(message, to: peer, side)
                }
            }
        }
    }

    private mutating func beginDrain(now: UInt64) {
        guard drainStart == nil else { return }
        drainStart = now
        dispatcher.isDraining = true
        log.info("draining", ["jobs": .number(dispatcher.jobs.count)])
        for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
            dispatcher.actions.append(.toGateway(gateway, Outgoing(Header(.drain))))
        }
    }

    private mutating func sayGoodbye() {
        for gateway in dispatcher.registry.gateways.values where gateway.isConnected {
            dispatcher.actions.append(.toGateway(gateway, Outgoing(Header(.goodbye))))
        }
        for peer in dispatcher.registry.workers.keys {
            dispatcher.actions.append(.toWorker(peer, Outgoing(Header(.goodbye))))
        }
    }
}

/// Peers that send what cannot be read: after ten such messages nothing of theirs is read for a minute.
private struct Offenders {
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
