internal import Bus
internal import Credentials
internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// The gateway's side of the bus to one router: greeting, heartbeats, and what goes to and comes from it.
///
///     away --connected, HELLO--> greeting --WELCOME--> ready --silence, GOODBYE or loss--> away
final class RouterLink: BusClientUser, OpenRequests.Router {
    private struct State {
        var isConnected = false
        var router: Identifier?
        var heartbeat: UInt64 = 1000
        var liveness: UInt64 = 3
        var lastHeard: UInt64 = 0
        var lastSent: UInt64 = 0
        var lastTurn: UInt64 = 0
        var acknowledgements: [Execution] = []
        var queries: [UInt64: Question] = [:]
        var nextQuery: UInt64 = 1
        var malformed = 0
    }
    private struct Question {
        var deadline: UInt64
        var continuation: CheckedContinuation<Result<[UInt8], GatewayError>, Never>
    }

    private let state = Mutex(State())
    private let client: BusClient
    private let hello: Hello
    private let requests: OpenRequests
    private let log: Log
    /// How long an answer to a question is waited for.
    private let answerTime: UInt64 = 3000

    /// Makes a link that is not connected yet. The name must be stable over restarts: requests belong to it.
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

    /// Connects, and stays connected until ``close()``.
    func start(_ endpoint: String) throws(BusError) {
        try client.start(endpoint, user: self)
    }

    /// Says goodbye and ends the connection.
    func close() async {
        _ = try? client.send(Outgoing(Header(.goodbye)))
        await client.close()
        let left = state.withLock { state in
            defer { state.queries = [:] }
            return state.queries.values.map(\.continuation)
        }
        left.forEach { $0.resume(returning: .failure(.draining)) }
    }

    /// Whether a router has greeted us.
    var isReady: Bool { state.withLock { $0.router != nil } }

    // MARK: Towards the router, from any thread

    /// Queues a message.
    /// - Returns: False when too much is waiting or no router is there.
    func send(_ message: Outgoing) -> Bool {
        guard isReady else { return false }
        do throws(BusClient.Refusal) {
            try client.send(message)
            return true
        } catch {
            return false
        }
    }

    /// Whether a message of so many bytes would be taken now.
    func hasRoom(for bytes: Int) -> Bool { client.hasRoom(for: bytes) }

    func acknowledge(_ executions: [Execution]) {
        // Gathered until the socket's thread comes round: one message for what one commit or several have stored.
        let isFirst = state.withLock { state in
            defer { state.acknowledgements += executions }
            return state.acknowledgements.isEmpty
        }
        if isFirst { client.poke() }
    }

    func cancel(_ request: Identifier, generation: UInt32) {
        _ = send(Outgoing(Header(.cancel, job: request, generation: generation)))
    }

    func answer(mayStart execution: Execution, _ granted: Bool) {
        let header = Header(
            .mayStart,
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            value: granted ? 1 : 0
        )
        _ = send(Outgoing(header))
    }

    /// Asks the router.
    /// - Returns: The body of its answer.
    func ask(_ query: Query) async throws(GatewayError) -> [UInt8] {
        let body: [UInt8]
        do throws(WireError) {
            body = try JSONBody.encode(query)
        } catch {
            throw .invalid(field: "text", reason: "cannot be sent (\(error))")
        }
        do throws(WireError) {
            try Outgoing(Header(.query), body: body).check()
        } catch {
            throw .tooLarge(what: "question", limit: Limits.message, got: body.count)
        }
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<[UInt8], GatewayError>, Never>) in
            let number = state.withLock { state -> UInt64? in
                guard state.router != nil else { return nil }
                let number = state.nextQuery
                state.nextQuery += 1
                state.queries[number] = Question(
                    deadline: Monotonic.milliseconds + answerTime,
                    continuation: continuation
                )
                return number
            }
            guard let number else { return continuation.resume(returning: .failure(.noRouter)) }
            if !send(Outgoing(Header(.query, sequence: number), body: body)) { settle(number, .failure(.noRouter)) }
        }
        return try result.get()
    }

    private func settle(_ number: UInt64, _ result: Result<[UInt8], GatewayError>) {
        let question = state.withLock { $0.queries.removeValue(forKey: number) }
        question?.continuation.resume(returning: result)
    }

    // MARK: From the socket's thread

    func connected() {
        state.withLock { state in
            state.isConnected = true
            state.lastHeard = Monotonic.milliseconds
        }
        greet()
    }

    func disconnected() {
        state.withLock { $0.isConnected = false }
        lost("the connection to the router is lost")
    }

    func refused() {
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

    func received(_ message: consuming Incoming) {
        let now = Monotonic.milliseconds
        state.withLock { $0.lastHeard = now }
        let header = message.header
        switch header.type {
        case .welcome: read(Welcome.self, &message) { welcomed($0, now) }
        case .event:
            message.withBody { requests.received(header, $0, now: now) }
        case .plan: read(Plan.self, &message) { requests.planned($0, header, now: now) }
        case .nack where header.job != .none: read(JobError.self, &message) { requests.refused($0, header, now: now) }
        case .answer: settle(header.sequence, .success(message.body()))
        case .mayStart: requests.mayStart(header.execution, now: now)
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
        case .load: read(SkillLoad.self, &message) { requests.loads.note($0, wait: header.value, now: now) }
        case .drain: log.info("the router is shutting down")
        case .goodbye: lost("the router says goodbye")
        case .heartbeat: break
        default:
            guard !header.flags.contains(.mayIgnore) else { return }
            rejected(.unknownType(header.type.rawValue, mayIgnore: false))
        }
    }

    func turn(now: UInt64) -> UInt64? {
        enum Due { case nothing, greet, heartbeat, silence }
        let (due, acknowledgements, late, next) = state.withLock { state in
            // A process that was stopped has not listened: what waits is read first, and silence counted anew.
            if state.lastTurn != 0, now > state.lastTurn + 2 * state.heartbeat { state.lastHeard = now }
            state.lastTurn = now
            let late = state.queries.filter { now >= $0.value.deadline }.map(\.key)
            defer { state.acknowledgements = [] }
            guard state.isConnected else {
                return (Due.nothing, [Execution](), late, state.queries.isEmpty ? UInt64?.none : now + 500)
            }
            var due = Due.nothing
            if state.router != nil, now > state.lastHeard + state.heartbeat * state.liveness {
                due = .silence
            } else if now >= state.lastSent + state.heartbeat {
                due = state.router == nil ? .greet : .heartbeat
                state.lastSent = now
            }
            return (due, state.router == nil ? [] : state.acknowledgements, late, now + state.heartbeat)
        }
        late.forEach { settle($0, .failure(.noRouter)) }
        if !acknowledgements.isEmpty {
            var body: [UInt8] = []
            acknowledgements.forEach { ExecutionList.append($0, to: &body) }
            _ = send(Outgoing(Header(.eventAck, value: UInt64(acknowledgements.count)), body: body))
        }
        switch due {
        case .nothing: break
        case .greet: greet()
        case .heartbeat: _ = send(Outgoing(Header(.heartbeat)))
        case .silence: lost("the router is silent")
        }
        return next
    }

    private func greet() {
        state.withLock { $0.lastSent = Monotonic.milliseconds }
        guard let message = try? Outgoing(Header(.hello, flags: [.takesBatches, .takesLoad]), json: hello) else {
            return
        }
        _ = try? client.send(message)
    }

    private func welcomed(_ welcome: Welcome, _ now: UInt64) {
        let isNew = state.withLock { state in
            let isNew = state.router != welcome.router
            state.router = welcome.router
            state.heartbeat = UInt64(min(max(welcome.heartbeat, 50), 60_000))
            state.liveness = UInt64(min(max(welcome.liveness, 2), 100))
            return isNew
        }
        guard isNew else { return }
        log.info("router ready", ["router": "\(welcome.router)", "version": .text(welcome.product)])
        requests.routerReady(welcome.router, now: now)
    }

    private func lost(_ reason: String) {
        let (was, questions) = state.withLock { state in
            defer {
                state.router = nil
                state.queries = [:]
            }
            return (state.router, state.queries.values.map(\.continuation))
        }
        questions.forEach { $0.resume(returning: .failure(.noRouter)) }
        guard was != nil else { return }
        log.warning("no router", ["reason": .text(reason)])
        requests.loads.forget()
        requests.routerLost(now: Monotonic.milliseconds)
    }

    private func read<Body: Decodable>(_ type: Body.Type, _ message: inout Incoming, _ use: (Body) -> Void) {
        do throws(WireError) {
            use(try JSONBody.decode(type, from: message.body()))
        } catch {
            rejected(error)
        }
    }
}
