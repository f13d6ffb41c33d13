internal import CLinux
internal import CZMQ
internal import Glibc

enum MonitorEvent {
    static let handshakeSucceeded = UInt16(ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
    static let disconnected = UInt16(ZMQ_EVENT_DISCONNECTED)
    /// The other side does not take this key, or speaks another mechanism: libzmq does not try again by itself.
    static let refused: Set = [
        UInt16(ZMQ_EVENT_HANDSHAKE_FAILED_AUTH), UInt16(ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL),
    ]
}

/// Runs the closure on a new, detached thread.
func runThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(name, body))
    let failure = pthread_create(
        &thread,
        nil,
        { context in
            guard let context else { return nil }
            let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
            clinux_name_thread(start.name)
            start.body()
            return nil
        },
        start.toOpaque()
    )
    precondition(failure == 0, "pthread_create: error \(failure)")
    pthread_detach(thread)
}

/// A POSIX semaphore, for the short wait until a thread has started.
final class Semaphore: Sendable {
    // sem_t is made for several threads, and its address does not change.
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
