internal import Synchronization
internal import Wire

/// Somebody who follows a session: woken after each commit of its events, until ``stop()``.
///
/// The signal is coalescing: however many commits happen while the follower is busy, it is woken once more. It says
/// only that there is something to read; what it is comes from the store, so a slow follower costs no memory.
final class Follower: Sendable {
    /// The session.
    let session: Identifier
    /// One element after each commit, or after several. Ends with ``stop()`` and when the gateway drains.
    let changes: AsyncStream<Void>
    private let leave: Mutex<(@Sendable () -> Void)?>

    init(session: Identifier, changes: AsyncStream<Void>, leave: @escaping @Sendable () -> Void) {
        self.session = session
        self.changes = changes
        self.leave = Mutex(leave)
    }

    deinit { stop() }

    /// Leaves. When the session's last follower leaves, requests with `onDisconnect: cancel` are cancelled. Calling it
    /// again does nothing.
    func stop() {
        let leave = leave.withLock { leave in
            defer { leave = nil }
            return leave
        }
        leave?()
    }
}

/// Who follows which session.
final class Followers: Sendable {
    private struct State {
        var sessions: [Identifier: [UInt64: AsyncStream<Void>.Continuation]] = [:]
        var next: UInt64 = 0
        var isClosed = false
    }
    private let state = Mutex(State())

    /// Counts somebody in. `lastLeft` is called when this one leaves and was the session's last.
    func add(to session: Identifier, lastLeft: @escaping @Sendable (Identifier) -> Void) -> Follower {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> UInt64? in
            guard !state.isClosed else { return nil }
            state.next += 1
            state.sessions[session, default: [:]][state.next] = continuation
            return state.next
        }
        if number == nil { continuation.finish() }
        return Follower(session: session, changes: stream) { [self] in
            continuation.finish()
            guard let number else { return }
            let wasLast = state.withLock { state in
                state.sessions[session]?[number] = nil
                guard state.sessions[session]?.isEmpty ?? false else { return false }
                state.sessions[session] = nil
                return !state.isClosed
            }
            if wasLast { lastLeft(session) }
        }
    }

    /// Wakes those who follow a session.
    func wake(_ session: Identifier) {
        let followers = state.withLock { state in state.sessions[session].map { Array($0.values) } ?? [] }
        followers.forEach { $0.yield() }
    }

    /// Sessions that somebody follows.
    var sessions: [Identifier] { state.withLock { Array($0.sessions.keys) } }

    /// How many follow a session.
    func count(of session: Identifier) -> Int { state.withLock { $0.sessions[session]?.count ?? 0 } }

    /// Ends every stream, and those of whoever comes later. That nobody follows then cancels nothing.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            return state.sessions.values.flatMap(\.values)
        }
        all.forEach { $0.finish() }
    }
}
