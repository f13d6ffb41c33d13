internal import Glibc
internal import Synchronization

/// One TCP connection: how long it may take for what it is doing, and whether its peer is still there.
///
///     opened --target seen--> header --headers done--> body --body done--> handling --response sent--+
///        idle <--------------------------------------------------------------------------------------+
///
/// The library's own time-out is an idle time, which a client that drips one byte a second never reaches; so each
/// phase has a deadline in sum here. The library's thread moves the phases; the watch's thread ends what is too late.
final class HTTPConnection: Sendable {
    enum Phase { case opened, header, body, handling, idle, lingering }

    /// Never used twice, unlike the descriptor: an event that comes too late finds nobody.
    let id: UInt64
    let descriptor: Int32
    let peer: String
    /// Why every request on it is refused; nil normally.
    let refusal: HTTPProblem?

    private struct State {
        var phase = Phase.opened
        var deadline: UInt64
        var isClosed = false
        var peerHasLeft = false
        var exchange: HTTPExchange?
    }
    private let state: Mutex<State>

    init(id: UInt64, descriptor: Int32, peer: String, refusal: HTTPProblem?, deadline: UInt64) {
        self.id = id
        self.descriptor = descriptor
        self.peer = peer
        self.refusal = refusal
        state = Mutex(State(deadline: deadline))
    }

    /// The time of the system's monotonic clock in nanoseconds.
    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// When the present phase must be over; `UInt64.max` for never.
    var deadline: UInt64 { state.withLock { $0.isClosed ? .max : $0.deadline } }

    /// Whether the peer has closed its side.
    var peerHasLeft: Bool { state.withLock { $0.peerHasLeft } }

    /// The request that is being received or answered.
    var exchange: HTTPExchange? { state.withLock { $0.exchange } }

    func enter(_ phase: Phase, deadline: UInt64) {
        state.withLock {
            $0.phase = phase
            $0.deadline = deadline
        }
    }

    func begin(_ exchange: HTTPExchange, deadline: UInt64) {
        state.withLock {
            $0.exchange = exchange
            $0.phase = .header
            // The header's time runs from the connection's first moment.
            $0.deadline = min($0.deadline, deadline)
        }
    }

    func end(idleUntil deadline: UInt64) {
        let last = state.withLock { state in
            defer {
                state.exchange = nil
                if state.phase != .lingering {
                    state.phase = .idle
                    state.deadline = deadline
                }
            }
            return state.exchange
        }
        // Released outside the lock.
        _ = last
    }

    /// The peer has closed its side. Who streams to it learns so at once; a whole response is still sent, since a
    /// client may close its sending side after the request.
    func noticePeerLeft() {
        let exchange = state.withLock { state in
            state.peerHasLeft = true
            return state.exchange
        }
        exchange?.peerLeft()
    }

    /// Ends the connection if its phase has lasted too long.
    func expire(now: UInt64) {
        state.withLock { state in
            guard !state.isClosed, state.deadline <= now else { return }
            state.deadline = .max
            if state.phase == .header || state.phase == .body {
                let what = state.phase == .header ? "headers" : "body"
                let problem = HTTPProblem(408, "request_timeout", "The \(what) did not arrive in time.")
                HTTPConnection.sendRefusal(problem, to: descriptor)
            }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Closes it if no request is on it.
    func closeIfIdle() {
        state.withLock { state in
            if !state.isClosed, state.exchange == nil { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes it whatever is on it.
    func cut() {
        state.withLock { state in
            if !state.isClosed { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// The descriptor is about to be closed: nobody may use it from here on.
    func noticeClosed() {
        state.withLock { state in
            state.isClosed = true
            state.exchange = nil
        }
    }

    /// Writes an answer past the library, which takes none in the middle of a request, and sends nothing after it.
    static func sendRefusal(_ problem: HTTPProblem, to descriptor: Int32) {
        let body = problem.json
        var head = "HTTP/1.1 \(problem.status) \(HTTPProblem.title(problem.status))\r\n"
        head += "Content-Type: application/problem+json\r\nContent-Length: \(body.count)\r\n"
        for field in problem.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        let bytes = Array((head + "Connection: close\r\n\r\n").utf8) + body
        // About 400 bytes into an empty buffer: they fit, or the client is beyond help.
        send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
    }
}

extension Duration {
    /// As nanoseconds of the monotonic clock; very long ones are cut.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(clamping: max(0, min(seconds, 1_000_000_000))) * 1_000_000_000
            + UInt64(clamping: max(0, attoseconds / 1_000_000_000))
    }
}
