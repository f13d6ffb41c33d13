internal import Synchronization

/// One HTTP exchange: the thread of ``TransferLoop`` puts in what comes, one task takes it out.
///
/// What waits in between is bounded: a reader that is slow stops the connection, not the memory.
public final class Exchange: Sendable {
    /// Above this the transfer is paused until the reader has taken what is there.
    private static let buffered = 64 << 10
    /// How long a connection may take to come to its end once nobody reads it any more, in milliseconds.
    private static let leaving: UInt64 = 1000

    private struct State {
        var head: TransferHead?
        var bytes: [UInt8] = []
        var end: Result<Void, TransferError>?
        var isPaused = false
        /// Whether nobody wants what still comes.
        var isLeft = false
        var waiter: CheckedContinuation<Void, Never>?
        var changes = 0
    }
    private let state = Mutex(State())
    private let storedDeadline: Atomic<UInt64>
    private let loop: TransferLoop

    /// Starts the exchange.
    /// - Parameters:
    ///   - request: what to send.
    ///   - deadline: when it ends with ``TransferError/late``, as ``setDeadline(after:)`` may change it, from now on.
    public convenience init(_ request: TransferRequest, deadline: Duration? = nil) {
        self.init(request, deadline: deadline, on: .shared)
    }

    init(_ request: TransferRequest, deadline: Duration?, on loop: TransferLoop) {
        self.loop = loop
        storedDeadline = Atomic(deadline.map(Exchange.time(after:)) ?? .max)
        loop.start(request, self)
    }

    /// Waits for the status and the headers.
    public func head() async throws(TransferError) -> TransferHead {
        try await wait { state throws(TransferError) in
            if let head = state.head { return head }
            if let end = state.end {
                try end.get()
                throw TransferError.cancelled
            }
            return nil
        }
    }

    /// Waits for the next bytes of the body; nil after the last.
    public func next() async throws(TransferError) -> [UInt8]? {
        let (bytes, wasPaused): ([UInt8]?, Bool) = try await wait { state throws(TransferError) in
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

    /// The whole body; nil if it has more bytes than the limit.
    public func body(limit: Int) async throws(TransferError) -> [UInt8]? {
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
    public func cancel() { loop.cancel(self) }

    /// Reads no more. The connection may come to its end, so that it can serve another exchange, and is closed if it does
    /// not within a second.
    public func leave() {
        let wasPaused = state.withLock { state in
            state.isLeft = true
            state.bytes = []
            defer { state.isPaused = false }
            return state.isPaused
        }
        if wasPaused { loop.resume(self) }
        setDeadline(after: .milliseconds(Int64(Exchange.leaving)))
    }

    /// Sets when the exchange ends with ``TransferError/late``, whatever was set before. To set it later and later costs
    /// no more than storing a number.
    public func setDeadline(after duration: Duration) {
        let time = Exchange.time(after: duration)
        let former = storedDeadline.exchange(time, ordering: .relaxed)
        if time < former { loop.lookAtDeadlines(at: time) }
    }

    private static func time(after duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        guard !milliseconds.overflow, milliseconds.partialValue >= 0 else { return seconds < 0 ? 0 : .max }
        let (time, overflow) = TransferLoop.milliseconds.addingReportingOverflow(
            UInt64(milliseconds.partialValue) + UInt64(max(0, attoseconds) / 1_000_000_000_000_000)
        )
        return overflow ? .max : time
    }

    /// Looks at the state again after every change, until there is something to return.
    private func wait<Value>(
        _ check: (inout State) throws(TransferError) -> Value?
    ) async throws(TransferError) -> Value {
        while true {
            if Task.isCancelled {
                cancel()
                throw .cancelled
            }
            var seen = 0
            let value = try state.withLock { state throws(TransferError) in
                seen = state.changes
                return try check(&state)
            }
            if let value { return value }
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
    /// When it ends unless its reader says otherwise, in milliseconds of ``TransferLoop/milliseconds``.
    var deadline: UInt64 { storedDeadline.load(ordering: .relaxed) }

    private func change(_ body: (inout State) -> Void) {
        let waiter = state.withLock { state in
            body(&state)
            state.changes += 1
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func received(_ head: TransferHead) { change { $0.head = head } }

    /// False when the reader has too much to read already: then the bytes come again later.
    func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isTaken = true
        change { state in
            if state.isLeft { return }
            if state.bytes.count >= Exchange.buffered {
                state.isPaused = true
                isTaken = false
            } else {
                state.bytes.append(contentsOf: bytes)
            }
        }
        return isTaken
    }

    func ended(_ result: Result<Void, TransferError>) { change { $0.end = $0.end ?? result } }
}
