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
    private let continuation: AsyncStream<Void>.Continuation
    private let onStop: Mutex<(@Sendable (Follower) -> Void)?>

    init(session: Identifier, onStop: @escaping @Sendable (Follower) -> Void) {
        self.session = session
        (changes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.onStop = Mutex(onStop)
    }

    deinit { stop() }

    /// Says that there is something to read. Any thread.
    func wake() { continuation.yield() }

    /// Leaves. When the session's last follower leaves, requests with `onDisconnect: cancel` are cancelled. Calling it
    /// again does nothing.
    func stop() {
        let leave = onStop.withLock { onStop in
            defer { onStop = nil }
            return onStop
        }
        continuation.finish()
        leave?(self)
    }
}
