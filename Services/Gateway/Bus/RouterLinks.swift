internal import Bus
internal import Credentials
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// The gateway's side of the bus: to each router a link with greeting, heartbeats, and what goes to and comes from it.
///
///     (none) --connected, HELLO--> greeting --WELCOME--> ready --silence, GOODBYE or loss--> (none)
///
/// A request belongs to one router, known by its instance; ``OpenRequests`` says to which.
final class RouterLinks: BusClientUser, OpenRequests.Router {
    /// How it stands with one router.
    struct Link {
        /// Its instance, once it has welcomed us.
        var router: Identifier?
        var heartbeat: UInt64 = 1000
        var liveness: UInt64 = 3
        var lastHeard: UInt64
        var lastSent: UInt64 = 0
        var acknowledgements: [Execution] = []
    }
    struct State {
        /// Of those that are connected.
        var links: [BusLink: Link] = [:]
        /// The instance that was last at each link.
        var former: [BusLink: Identifier] = [:]
        /// Over which link the end of a job came, while there are several; forgotten with the acknowledgement.
        var ends: [Execution: BusLink] = [:]
        var lastTurn: UInt64 = 0
        var questions = Questions()
        var malformed = 0

        func link(to router: Identifier) -> BusLink? { links.first { $0.value.router == router }?.key }
        var ready: [BusLink] { links.filter { $0.value.router != nil }.map(\.key) }
    }

    let state = Mutex(State())
    let client: BusClient
    private let hello: Hello
    let requests: OpenRequests
    private let log: Log
    /// Ends whose way is remembered at most; those of others are acknowledged to every router.
    private static let rememberedEnds = 10_000

    /// Makes links that are not connected yet. The name must be stable over restarts: requests belong to it.
    init(name: String, requests: OpenRequests, key: ClientKey? = nil, log: Log) throws(BusError) {
        client = try BusClient(key: key)
        self.requests = requests
        self.log = log
        hello = Hello(
            gateway: name,
            instance: Identifier.timeOrdered(milliseconds: UInt64(Timestamp.now.milliseconds)),
            host: Environment.hostName,
            pid: Environment.processID,
            product: Product.version
        )
    }

    /// Connects to all of them, and stays connected until ``close()``.
    func start(_ endpoints: [String]) throws(BusError) {
        try client.start(endpoints, user: self)
    }

    /// Says goodbye and ends the connections.
    func close() async {
        for link in state.withLock({ $0.ready }) { try? client.send(Outgoing(Header(.goodbye)), to: link) }
        await client.close()
        settleAll(over: nil, .draining)
    }

    /// Whether a router has greeted us.
    var isReady: Bool { state.withLock { state in state.links.values.contains { $0.router != nil } } }

    // MARK: Towards the routers, from any thread

    /// Queues a message for one router.
    /// - Returns: False when too much is waiting or it is not there.
    func send(_ message: Outgoing, to router: Identifier) -> Bool {
        guard let link = state.withLock({ $0.link(to: router) }) else { return false }
        return send(message, over: link)
    }

    func send(_ message: Outgoing, over link: BusLink) -> Bool {
        do throws(BusClient.Refusal) {
            try client.send(message, to: link)
            return true
        } catch {
            return false
        }
    }

    /// Whether a message of so many bytes would be taken for a router now.
    func hasRoom(for bytes: Int, at router: Identifier) -> Bool {
        guard let link = state.withLock({ $0.link(to: router) }) else { return false }
        return client.hasRoom(for: bytes, on: link)
    }

    func acknowledge(_ executions: [Execution]) {
        // Gathered until the sockets' thread comes round: one message for what one commit or several have stored.
        let isFirst = state.withLock { state -> Bool in
            var isFirst = false
            func add(_ executions: some Sequence<Execution>, _ link: BusLink) {
                if state.links[link]?.acknowledgements.isEmpty ?? false { isFirst = true }
                state.links[link]?.acknowledgements += executions
            }
            if state.links.count == 1, state.ends.isEmpty, let only = state.links.keys.first {
                add(executions, only)
                return isFirst
            }
            let ready = state.ready
            for execution in executions {
                // One that no router knows any more is acknowledged when its worker has said it again.
                let way = state.ends.removeValue(forKey: execution)
                for link in way.map({ [$0] }) ?? ready { add(CollectionOfOne(execution), link) }
            }
            return isFirst
        }
        if isFirst { client.poke() }
    }

    /// All of them are told: who has nothing of it has nothing to end.
    func cancel(_ request: Identifier, generation: UInt32) {
        sendToAll(Outgoing(Header(.cancel, job: request, generation: generation)))
    }

    /// All of them are told: the generation says who has asked.
    func answer(mayStart execution: Execution, _ granted: Bool) {
        let header = Header(
            .mayStart,
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            value: granted ? 1 : 0
        )
        sendToAll(Outgoing(header))
    }

    /// All of them are told: the one that has the job passes it on.
    func approve(_ execution: Execution, _ party: String, _ isAllowed: Bool) {
        let header = Header(
            .approval,
            flags: .mayIgnore,
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            value: isAllowed ? 1 : 0
        )
        sendToAll(Outgoing(header, body: Array(party.utf8)))
    }

    private func sendToAll(_ message: Outgoing) {
        for link in state.withLock({ $0.ready }) { _ = send(message, over: link) }
    }

    // MARK: From the sockets' thread

    func connected(_ link: BusLink) {
        state.withLock { $0.links[link] = Link(lastHeard: Monotonic.milliseconds) }
        greet(link)
    }

    func disconnected(_ link: BusLink) {
        lost(link, "the connection to the router is lost")
        state.withLock { $0.links[link] = nil }
    }

    func refused(_ link: BusLink) {
        log.warning("the router does not let this key in", ["hint": "it must be on the router's list, as a gateway"])
    }

    func rejected(_ error: WireError) {
        // The first and then every hundredth: a peer that talks nonsense must not fill the disk.
        let count = state.withLock { state in
            state.malformed += 1
            return state.malformed
        }
        if count % 100 == 1 {
            log.warning("a message cannot be read", ["reason": "\(error)", "count": .number(count)])
        }
    }

    func received(_ message: consuming Incoming, from link: BusLink) {
        let now = Monotonic.milliseconds
        let header = message.header
        let router = state.withLock { state -> Identifier? in
            state.links[link]?.lastHeard = now
            if header.type == .event, header.flags.contains(.terminal), state.links.count > 1 {
                if state.ends.count >= RouterLinks.rememberedEnds { state.ends = [:] }
                state.ends[header.execution] = link
            }
            return state.links[link]?.router
        }
        switch header.type {
        case .welcome: read(Welcome.self, &message) { welcomed($0, link, now) }
        case .event:
            message.withBody { requests.received(header, $0, from: router, now: now) }
        case .plan: read(Plan.self, &message) { requests.planned($0, header, now: now) }
        case .nack where header.job != .none: read(Refusal.self, &message) { requests.refused($0, header, now: now) }
        case .answer: settle(header.sequence, .success(message.body()))
        case .mayStart: requests.mayStart(header.execution, from: router, now: now)
        // The number of a question comes back with what is wrong with it.
        case .error where header.sequence != 0:
            read(JobError.self, &message) { settle(header.sequence, .failure(.refused($0))) }
        case .error:
            read(JobError.self, &message) { error in
                log.warning(
                    "the router does not understand us",
                    ["code": .text(error.code), "reason": .text(error.message)]
                )
            }
        case .load:
            guard let router else { break }
            read(SkillLoad.self, &message) { requests.loads.note($0, at: router, wait: header.value, now: now) }
        case .drain:
            log.info("a router is shutting down", ["router": "\(router ?? .none)"])
            if let router { requests.routerDrains(router) }
        case .goodbye: lost(link, "the router says goodbye", isForGood: true)
        case .heartbeat: if let router { requests.routerHas(router, load: Int(clamping: header.value)) }
        default:
            guard !header.flags.contains(.mayIgnore) else { return }
            rejected(.unknownType(header.type.rawValue, mayIgnore: false))
        }
    }

    private enum Due { case nothing, greet, heartbeat, silence }

    func turn(now: UInt64) -> UInt64? {
        let (due, late, next) = state.withLock { state -> ([(BusLink, Due, [Execution])], [UInt64], UInt64?) in
            var next: UInt64? = state.questions.isEmpty ? nil : now + 500
            var due: [(BusLink, Due, [Execution])] = []
            for (link, known) in state.links {
                next = min(next ?? .max, now + known.heartbeat)
                // A process that was stopped has not listened: what waits is read first, and silence counted anew.
                if state.lastTurn != 0, now > state.lastTurn + 2 * known.heartbeat {
                    state.links[link]?.lastHeard = now
                }
                let step = state.links[link].map { self.due($0, now) } ?? .nothing
                if step == .greet || step == .heartbeat { state.links[link]?.lastSent = now }
                let acknowledgements = known.router == nil ? [] : known.acknowledgements
                if step != .nothing || !acknowledgements.isEmpty { due.append((link, step, acknowledgements)) }
                if !known.acknowledgements.isEmpty { state.links[link]?.acknowledgements = [] }
            }
            state.lastTurn = now
            return (due, state.questions.late(now), next)
        }
        late.forEach { settle($0, .failure(.noRouter)) }
        for (link, step, acknowledgements) in due {
            if !acknowledgements.isEmpty {
                var body: [UInt8] = []
                acknowledgements.forEach { ExecutionList.append($0, to: &body) }
                let header = Header(.eventAck, value: UInt64(acknowledgements.count))
                _ = send(Outgoing(header, body: body), over: link)
            }
            switch step {
            case .nothing: break
            case .greet: greet(link)
            case .heartbeat: _ = send(Outgoing(Header(.heartbeat)), over: link)
            case .silence: lost(link, "the router is silent")
            }
        }
        return next
    }

    private func due(_ known: Link, _ now: UInt64) -> Due {
        if known.router != nil, now > known.lastHeard + known.heartbeat * known.liveness { return .silence }
        guard now >= known.lastSent + known.heartbeat else { return .nothing }
        return known.router == nil ? .greet : .heartbeat
    }

    private func greet(_ link: BusLink) {
        state.withLock { $0.links[link]?.lastSent = Monotonic.milliseconds }
        guard let message = try? Outgoing(Header(.hello, flags: [.takesBatches, .takesLoad]), json: hello) else {
            return
        }
        _ = send(message, over: link)
    }

    private func welcomed(_ welcome: Welcome, _ link: BusLink, _ now: UInt64) {
        enum News { case none, again, new(former: Identifier?), second(of: BusLink) }
        let news = state.withLock { state -> News in
            guard var known = state.links[link] else { return .none }
            if let first = state.link(to: welcome.router), first != link { return .second(of: first) }
            let isNew = known.router != welcome.router
            known.router = welcome.router
            known.heartbeat = UInt64(min(max(welcome.heartbeat, 50), 60_000))
            known.liveness = UInt64(min(max(welcome.liveness, 2), 100))
            state.links[link] = known
            guard isNew else { return .again }
            let former = state.former[link]
            state.former[link] = welcome.router
            return .new(former: former == welcome.router ? nil : former)
        }
        let skills = welcome.skills.map { Set($0) }
        switch news {
        case .none: break
        case .again: requests.routerServes(welcome.router, skills, now: now)
        case .second(let first):
            // One router at two addresses: it takes us to have moved to this link, and hears that we have not.
            log.info("this router is connected already", ["router": "\(welcome.router)"])
            state.withLock { $0.links[link] = nil }
            greet(first)
            client.park(link)
        case .new(let former):
            log.info("router ready", ["router": "\(welcome.router)", "version": .text(welcome.product)])
            let isOnly = client.addresses <= 1
            requests.routerReady(
                welcome.router,
                skills: skills,
                load: welcome.load ?? 0,
                replacing: former,
                isOnly: isOnly,
                now: now
            )
            guard !isOnly else { return }
            // What went to another router while this one was away is over here.
            for (request, generation) in requests.elsewhere(than: welcome.router) {
                let header = Header(.cancel, job: request, generation: generation, value: 1)
                _ = send(Outgoing(header), over: link)
            }
        }
    }

    private func lost(_ link: BusLink, _ reason: String, isForGood: Bool = false) {
        let was = state.withLock { state in
            defer { state.links[link]?.router = nil }
            return state.links[link]?.router
        }
        settleAll(over: link, .noRouter)
        guard let was else { return }
        log.warning(isReady ? "a router is lost" : "no router", ["reason": .text(reason), "router": "\(was)"])
        requests.loads.forget(was)
        requests.routerLost(was, isForGood: isForGood, now: Monotonic.milliseconds)
    }

    private func read<Body: Decodable>(_ type: Body.Type, _ message: inout Incoming, _ use: (Body) -> Void) {
        do throws(WireError) {
            use(try JSONBody.decode(type, from: message.body()))
        } catch {
            rejected(error)
        }
    }
}
