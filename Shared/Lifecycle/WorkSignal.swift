internal import Glibc

/// A counting semaphore for threads that wait for work.
public final class WorkSignal: Sendable {
    // sem_t is made for several threads, and its address does not change.
    private nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// Makes one with nothing to do.
    public init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one wait pass. From any thread.
    public func signal() { sem_post(semaphore) }

    /// Blocks until signalled. Never in a task.
    public func wait() {
        while sem_wait(semaphore) != 0 && errno == EINTR {}
    }
}
