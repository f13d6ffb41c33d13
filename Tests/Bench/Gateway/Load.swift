import Bus
import Glibc
import Lifecycle
import Synchronization
import Wire

/// A closed loop with a fixed window. Everything happens on the bus client's thread.
final class Load: BusClientUser {
    struct Settings {
        var inFlight: Int
        var payload: Int
        var seconds: Double
        var workers: Int
        var router: Int32
        var others: [Int32]
    }

    private struct State {
        var isReady = false
        var nextQuery: UInt64 = 0
        var submitted: UInt64 = 0
        var done: UInt64 = 0
        var events: UInt64 = 0
        var deltaBytes: UInt64 = 0
        var sent = [UInt64](repeating: 0, count: Load.ring)
        var latencies: [UInt64] = []
        var firsts: [UInt64] = []
        var acknowledged: [UInt8] = []
        var nextHeartbeat: UInt64 = 0
        var start: Mark?
        var isOver = false
    }

    private struct Mark {
        var time: UInt64
        var jobs: UInt64
        var events: UInt64
        var deltaBytes: UInt64
        var cpu: (own: Double, router: Double, others: Double)
    }

    private static let ring = 1 << 16

    private let settings: Settings
    private let client: BusClient
    private let body: [UInt8]
    private let first: Identifier
    private let state = Mutex(State())
    private let results = AsyncStream<String>.makeStream()

    init(_ settings: Settings, _ client: BusClient) throws(WireError) {
        self.settings = settings
        self.client = client
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        first = Identifier.timeOrdered(milliseconds: UInt64(time.tv_sec) * 1000)
        let empty = try JobBody.encode(skill: "bench", input: JobInput(session: first.description, text: ""))
        let text = String(repeating: "p", count: max(settings.payload - empty.count, 0))
        body = try JobBody.encode(skill: "bench", input: JobInput(session: first.description, text: text))
    }

    /// The figures, once measured.
    var result: String {
        get async {
            for await line in results.stream { return line }
            return ""
        }
    }

    func connected(_ link: BusLink) {
        let hello = Hello(
            gateway: "bench-\(Environment.processID)",
            instance: first,
            host: Environment.hostName,
            pid: Environment.processID,
            product: Product.version
        )
        do { try client.send(Outgoing(Header(.hello, flags: .takesBatches), json: hello)) } catch {
            fail("hello: \(error)")
        }
    }

    func disconnected(_ link: BusLink) { fail("the router has gone") }

    func rejected(_ error: WireError) { fail("\(error)") }

    func received(_ message: consuming Incoming, from link: BusLink) {
        let header = message.header
        switch header.type {
        case .event: message.withBody { take(header, $0) }
        case .welcome: state.withLock { $0.nextQuery = 1 }
        case .answer:
            guard let list = try? JSONBody.decode(SkillList.self, from: message.body()) else { return }
            let workers = list.skills.first { $0.manifest.id == "bench" }?.workers.count ?? 0
            state.withLock { $0.isReady = workers >= settings.workers }
        case .nack: fail("refused: \(String(decoding: message.body(), as: UTF8.self))")
        default: break
        }
    }

    func read(_ header: Header, _ body: RawSpan, from link: BusLink) -> Bool {
        guard header.type == .event else { return false }
        take(header, body)
        return true
    }

    private func take(_ header: Header, _ body: RawSpan) {
        let number = (header.job.low &- first.low) >> 16
        let now = Monotonic.nanoseconds
        let failure: String? = state.withLock { state in
            guard number < state.submitted else { return nil }
            let sent = state.sent[Int(number) % Load.ring]
            if sent == 0 { return nil }  // the end of a job, sent again
            let took = now - sent
            if header.sequence <= 1, state.start != nil { state.firsts.append(took) }
            var failure: String?
            var cursor = EventRecordCursor()
            while failure == nil, let next = try? cursor.next(in: body) {
                state.events += 1
                if next.kind == .delta { state.deltaBytes += UInt64(next.payload.count) }
                if next.kind == .failed {
                    failure = body.withUnsafeBytes { String(decoding: $0[next.payload], as: UTF8.self) }
                }
            }
            guard failure == nil, header.flags.contains(.terminal) else { return failure }
            state.done += 1
            state.sent[Int(number) % Load.ring] = 0
            if state.start != nil { state.latencies.append(took) }
            ExecutionList.append(header.execution, to: &state.acknowledged)
            return nil
        }
        if let failure { fail("a job failed: \(failure)") }
    }

    func turn(now: UInt64) -> UInt64? {
        do throws(BusClient.Refusal) {
            return try state.withLock { state throws(BusClient.Refusal) in try turn(&state, now: now) }
        } catch {
            fail("\(error)")
            return nil
        }
    }

    private func turn(_ state: inout State, now: UInt64) throws(BusClient.Refusal) -> UInt64? {
        if state.isOver { return nil }
        if !state.isReady {
            if state.nextQuery > 0, now >= state.nextQuery {
                guard let query = try? Outgoing(Header(.query, sequence: 1), json: Query(ask: .skills)) else {
                    return nil
                }
                try client.send(query)
                state.nextQuery = now + 5
            }
            return state.nextQuery > 0 ? state.nextQuery : nil
        }
        if now >= state.nextHeartbeat {
            try client.send(Outgoing(Header(.heartbeat)))
            state.nextHeartbeat = now + 1000
        }
        if !state.acknowledged.isEmpty {
            try client.send(Outgoing(Header(.eventAck), body: state.acknowledged))
            state.acknowledged.removeAll(keepingCapacity: true)
        }
        measure(&state)
        while !state.isOver, state.submitted - state.done < UInt64(settings.inFlight) {
            let job = Identifier(high: first.high, low: first.low &+ state.submitted << 16)
            state.sent[Int(state.submitted) % Load.ring] = Monotonic.nanoseconds
            state.submitted += 1
            try client.send(Outgoing(Header(.submit, job: job, generation: 1), body: body))
        }
        return state.nextHeartbeat
    }

    private func measure(_ state: inout State) {
        let now = Monotonic.nanoseconds
        guard let start = state.start else {
            let warm = body.count > Limits.inlineBody ? 40 : max(settings.inFlight * 2, 300)
            if state.done >= UInt64(warm) { state.start = mark(state, now) }
            return
        }
        guard Double(now - start.time) >= settings.seconds * 1e9 else { return }
        state.isOver = true
        results.continuation.yield(report(&state, from: start, to: mark(state, now)))
    }

    private func mark(_ state: borrowing State, _ time: UInt64) -> Mark {
        let others = settings.others.reduce(0) { $0 + cpuSeconds($1) }
        let router = settings.router > 0 ? cpuSeconds(settings.router) : 0
        return Mark(
            time: time,
            jobs: state.done,
            events: state.events,
            deltaBytes: state.deltaBytes,
            cpu: (cpuSeconds(Environment.processID), router, others)
        )
    }

    private func report(_ state: inout State, from start: Mark, to end: Mark) -> String {
        state.latencies.sort()
        state.firsts.sort()
        func percentile(_ sorted: [UInt64], _ part: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[Int(Double(sorted.count - 1) * part)]) / 1000
        }
        let elapsed = Double(end.time - start.time) * 1e-9
        let jobs = Double(end.jobs - start.jobs)
        let own = (end.cpu.own - start.cpu.own) * 1e6 / jobs
        let router = (end.cpu.router - start.cpu.router) * 1e6 / jobs
        let others = (end.cpu.others - start.cpu.others) * 1e6 / jobs
        let figures: [(String, Double)] = [
            ("jobs", jobs), ("seconds", elapsed), ("jobs_s", jobs / elapsed),
            ("events_s", Double(end.events - start.events) / elapsed),
            ("delta_bytes_s", Double(end.deltaBytes - start.deltaBytes) / elapsed),
            ("MB_s", jobs * Double(settings.payload) / elapsed / 1e6),
            ("p50_us", percentile(state.latencies, 0.5)), ("p99_us", percentile(state.latencies, 0.99)),
            ("first_p50_us", percentile(state.firsts, 0.5)), ("cpu_us_job", own + router + others),
            ("cpu_gateway_us_job", own), ("cpu_router_us_job", router),
        ]
        return "{" + figures.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private func cpuSeconds(_ process: Int32) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private func fail(_ what: String) {
        printError("bench-gateway: \(what)")
        exit(3)
    }
}
