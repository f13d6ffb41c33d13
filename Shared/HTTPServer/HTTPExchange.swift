internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// One request and its answer, between the library's thread and the task that works on it.
///
///     receiving --whole--> suspended --answer is there--> sending --sent--> over
///         |                                  |  ^
///         +--over a limit--> refused         v  |  (a stream: nothing to send / something to send)
///                                          suspended
///
/// Invariants:
/// (1) The library's connection is only touched while `handle` is not zero, under the lock; the library sets the end
///     of its life by `complete`, which takes the lock too.
/// (2) Suspended and resumed strictly in turns: `isSuspended` changes together with the call, under the lock. The
///     library never calls us back from either, so there is no way to wait for each other.
/// (3) After `hasEnded` nothing is suspended any more; the library could not stop otherwise.
final class HTTPExchange: Sendable {
    struct State {
        var handle: UInt
        var isSuspended = false
        var hasEnded = false
        // Receiving.
        var method = "GET"
        var headers = HTTPHeaders()
        var hasHeaders = false
        var isRefused = false
        var body: [UInt8] = []
        var isLarge = false
        /// Bytes that are reserved for the body, and how many of them have come.
        var reserved = 0
        var received = 0
        var bodyStart: UInt64 = 0
        // Answering.
        var hasStarted = false
        var task: Task<Void, Never>?
        var response: HTTPResponse?
        var isStreaming = false
        var isHead = false
        // Streaming.
        var buffer: [UInt8] = []
        var sent = 0
        /// Bytes that the library has taken in sum, and how many they were when the server began to stop.
        var taken = 0
        var takenBefore = 0
        var isFinished = false
        var waiters: [CheckedContinuation<Void, Never>] = []

        var waiting: Int { buffer.count - sent }

        mutating func resumeConnection() {
            guard isSuspended, handle != 0 else { return }
            isSuspended = false
            MHD_resume_connection(OpaquePointer(bitPattern: handle))
        }

        mutating func suspendConnection() {
            isSuspended = true
            MHD_suspend_connection(OpaquePointer(bitPattern: handle))
        }

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    let connection: HTTPConnection
    let core: HTTPServerCore
    let target: String
    let state: Mutex<State>

    init(handle: UInt, target: String, connection: HTTPConnection, core: HTTPServerCore) {
        self.target = target
        self.connection = connection
        self.core = core
        state = Mutex(State(handle: handle))
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    // MARK: The task

    func work(method: String, headers: HTTPHeaders, body: HTTPBody) async {
        let response: HTTPResponse
        do throws(HTTPProblem) {
            let request = try HTTPRequest(method, target, headers: headers, body: body, peer: connection.peer)
            response = await core.handler(request)
        } catch {
            response = error.response
        }
        respond(response, toHead: method == "HEAD")
        if case .stream(let produce) = response.body {
            if method != "HEAD" {
                if core.isDraining { withUnsafeCurrentTask { $0?.cancel() } }
                await produce(HTTPBodyWriter(self))
            }
            finish()
        }
    }

    private func respond(_ response: HTTPResponse, toHead isHead: Bool) {
        state.withLock { state in
            if case .stream = response.body { state.isStreaming = !isHead }
            state.isHead = isHead
            state.response = response
            // Who streams to somebody who has gone already must not wait for an event that has been.
            if state.isStreaming && connection.peerHasLeft { state.hasEnded = true }
            state.resumeConnection()
        }
    }

    /// Takes as much as there is room for, waiting for some room.
    func take(_ bytes: ArraySlice<UInt8>) async throws(HTTPClientLeft) -> Int {
        let capacity = core.limits.streamBuffer
        while true {
            let taken = try state.withLock { state throws(HTTPClientLeft) in
                if state.hasEnded { throw HTTPClientLeft() }
                let count = min(bytes.count, capacity - state.waiting)
                guard count > 0 else { return 0 }
                state.buffer += bytes.prefix(count)
                state.resumeConnection()
                return count
            }
            if taken > 0 { return taken }
            await withCheckedContinuation { continuation in
                let mayGoOn = state.withLock { state in
                    if state.hasEnded || state.waiting < capacity { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if mayGoOn { continuation.resume() }
            }
        }
    }

    private func finish() {
        state.withLock { state in
            state.isFinished = true
            state.resumeConnection()
        }
    }

    // MARK: The library's thread: answering

    func answer(_ handle: OpaquePointer) -> MHD_Result {
        let response = state.withLock { state in
            defer { state.response = nil }
            return state.hasEnded ? nil : state.response
        }
        guard let response else { return .NO }
        return send(response, over: handle, isLast: core.isDraining)
    }

    func send(_ response: HTTPResponse, over handle: OpaquePointer, isLast: Bool) -> MHD_Result {
        let made: OpaquePointer?
        switch response.body {
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    .RESPMEM_MUST_COPY
                )
            }
        case .stream:
            made = MHD_create_response_from_callback(
                .max,  // The length is not known.
                32 * 1024,
                { context, _, buffer, size in
                    guard let context, let buffer else { return HTTPExchange.endWithError }
                    let exchange = Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
                    return exchange.read(into: buffer, size: size)
                },
                Unmanaged.passRetained(self).toOpaque(),
                { context in if let context { Unmanaged<HTTPExchange>.fromOpaque(context).release() } }
            )
        }
        guard let made else { return .NO }
        if case .stream = response.body, state.withLock({ $0.isHead }) { cmicrohttpd_send_plain(made) }
        defer { MHD_destroy_response(made) }
        // A value with a line break is refused by the library, and the field left out.
        for field in response.headers.fields { MHD_add_response_header(made, field.name, field.value) }
        if isLast { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(handle, UInt32(clamping: max(200, min(response.status, 599))), made)
    }

    private static let endOfStream = -1
    private static let endWithError = -2

    private func read(into buffer: UnsafeMutablePointer<CChar>, size: Int) -> Int {
        enum Outcome { case bytes([UInt8], [CheckedContinuation<Void, Never>]), end(Int) }
        let outcome = state.withLock { state -> Outcome in
            // Not as an error: then the library (0.9.75) keeps the connection of one that was resumed for its idle time,
            // and nobody is there to tell the difference.
            if state.hasEnded { return .end(HTTPExchange.endOfStream) }
            let count = min(size, state.waiting)
            if count > 0 {
                let bytes = Array(state.buffer[state.sent..<state.sent + count])
                state.sent += count
                state.taken += count
                if state.waiting == 0 {
                    // A stream that is quiet most of the time keeps no large buffer for it.
                    state.buffer.removeAll(keepingCapacity: state.buffer.capacity <= 4096)
                    state.sent = 0
                } else if state.sent >= 32 * 1024 {
                    state.buffer.removeFirst(state.sent)
                    state.sent = 0
                }
                return .bytes(bytes, state.takeWaiters())
            }
            if state.isFinished { return .end(HTTPExchange.endOfStream) }
            if core.isAborting { return .end(HTTPExchange.endWithError) }
            state.suspendConnection()
            return .end(0)
        }
        switch outcome {
        case .end(let code): return code
        case .bytes(let bytes, let waiters):
            UnsafeMutableRawPointer(buffer).copyMemory(from: bytes, byteCount: bytes.count)
            waiters.forEach { $0.resume() }
            return bytes.count
        }
    }

    // MARK: The end

    /// The library is done with the request, one way or the other.
    func complete() {
        core.watch.end(connection)
        // An answer that began before the drain did not say that it is the connection's last.
        if core.isDraining { connection.closeIfIdle() }
        let (reserved, isLarge, waiters, task) = state.withLock { state in
            state.handle = 0
            state.isSuspended = false
            state.hasEnded = true
            state.body = []
            state.buffer = []
            state.sent = 0
            let waiters = state.takeWaiters()
            defer { state.task = nil }
            return (state.reserved, state.isLarge, waiters, state.task)
        }
        core.release(reserved, large: isLarge)
        waiters.forEach { $0.resume() }
        task?.cancel()
    }

    /// The client has closed its side.
    func peerLeft() {
        if state.withLock({ $0.isStreaming }) { cut() }
    }

    /// Ends it also where the library waits for a client to take what it has, which it would do to the end of its time.
    private func cut() {
        abort()
        connection.cut()
    }

    /// Ends it now: the task is cancelled, and nothing more is sent.
    func abort() {
        let (waiters, task) = state.withLock { state in
            state.hasEnded = true
            state.resumeConnection()
            let waiters = state.takeWaiters()
            return (waiters, state.task)
        }
        waiters.forEach { $0.resume() }
        task?.cancel()
    }

    /// Tells the producer of a stream to come to an end; the client is still there.
    func windDown() {
        let task = state.withLock { state in
            state.takenBefore = state.taken
            return state.isStreaming ? state.task : nil
        }
        task?.cancel()
    }

    /// Ends a stream of which the client has taken nothing since ``windDown()``: no last word would reach it.
    func endIfStalled() {
        let isStalled = state.withLock { $0.isStreaming && $0.waiting > 0 && $0.taken == $0.takenBefore }
        if isStalled { cut() }
    }
}
