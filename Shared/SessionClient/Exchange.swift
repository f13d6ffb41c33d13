internal import Synchronization

/// What to send.
struct HTTPRequest: Sendable {
    var method: String
    var url: String
    /// Scheme, host and port: what a person needs to know of the address.
    var origin: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    /// Whether proxy variables are to be ignored.
    var isLoopback: Bool
    /// The whole exchange; nil for a stream that stays open.
    var seconds: Double?
    /// A stream that stays silent for so long is taken for dead. The gateway sends a comment more often than this.
    var silence: Int?
}

/// The start of an answer.
struct HTTPHead: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]

    func value(_ name: String) -> String? { headers.last { $0.name == name }?.value }
}

/// One HTTP exchange: the thread of ``TransferLoop`` puts in what comes, one task takes it out.
///
/// What waits in between is bounded: a reader that is slow stops the connection, not the memory.
final class Exchange: Sendable {
    /// Above this the transfer is paused until the reader has taken what is there.
    private static let buffered = 1 << 20

    private struct State {
        var head: HTTPHead?
        var bytes: [UInt8] = []
        var end: Result<Void, ClientError>?
        var isPaused = false
        var waiter: CheckedContinuation<Void, Never>?
        var changes = 0
    }
    private let state = Mutex(State())
    private let loop: TransferLoop

    /// Starts the exchange.
    init(_ request: HTTPRequest, on loop: TransferLoop = .shared) {
        self.loop = loop
        loop.start(request, self)
    }

    /// Waits for the status and the headers.
    func head() async throws(ClientError) -> HTTPHead {
        try await wait { state throws(ClientError) in
            if let head = state.head { return head }
            if let end = state.end {
                try end.get()
                throw ClientError.cancelled
            }
            return nil
        }
    }

    /// Waits for the next bytes of the body; nil after the last.
    func next() async throws(ClientError) -> [UInt8]? {
        let (bytes, wasPaused): ([UInt8]?, Bool) = try await wait { state throws(ClientError) in
            if !state.bytes.isEmpty {
                let bytes = state.bytes
                state.bytes = []
                defer { state.isPaused = false }
                return (bytes, state.isPaused)
            }
            if let end = state.end {
                try end.get()
                return (nil, false)
            }
            return nil
        }
        if wasPaused { loop.resume(self) }
        return bytes
    }

    /// The whole body.
    func body(limit: Int) async throws(ClientError) -> [UInt8]? {
        var all: [UInt8] = []
        while let bytes = try await next() {
            all += bytes
            if all.count > limit {
                cancel()
                return nil
            }
        }
        return all
    }

    /// Closes the connection at once.
    func cancel() { loop.cancel(self) }

    /// Looks at the state again after every change, until there is something to return.
    private func wait<Value>(
        _ check: (inout State) throws(ClientError) -> Value?
    ) async throws(ClientError) -> Value {
        while true {
            if Task.isCancelled {
                cancel()
                throw .cancelled
            }
            let seen = state.withLock { $0.changes }
            if let value = try state.withLock({ state throws(ClientError) in try check(&state) }) { return value }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // Looked at again under the lock, so that no change between the two is missed.
                    let isNews = state.withLock { state in
                        if state.changes != seen { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isNews { continuation.resume() }
                }
            } onCancel: {
                cancel()
            }
        }
    }
}

// Called by the thread of ``TransferLoop``.
extension Exchange {
    private func change(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            state.changes += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func received(_ head: HTTPHead) { change { $0.head = head } }

    /// False when the reader has too much to read already: then the bytes come again later.
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isTaken = true
        change { state in
            if state.bytes.count >= Exchange.buffered {
                state.isPaused = true
                isTaken = false
            } else {
                state.bytes.append(contentsOf: bytes)
            }
        }
        return isTaken
    }

    func ended(_ result: Result<Void, ClientError>) { change { $0.end = $0.end ?? result } }
}
