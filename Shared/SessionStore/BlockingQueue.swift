internal import Glibc

/// A queue between tasks and threads of our own: putting never blocks, taking waits.
///
/// It is `@unchecked Sendable` because the compiler cannot see that `elements` and `isClosed` are only touched while
/// the POSIX mutex is held; Swift's own `Mutex` has no condition to wait on.
final class BlockingQueue<Element: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var elements: [Element] = []
    private var isClosed = false

    init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Puts an element at the end.
    /// - Returns: False when the queue is closed; the element is not taken then.
    func put(_ element: Element) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isClosed else { return false }
        elements.append(element)
        wakeAll()
        return true
    }

    /// All of them, each time, and there are never more than a few: with several who wait, glibc's
    /// `pthread_cond_signal` can wake nobody (its bug 25847), and nothing would ever repair that.
    private func wakeAll() { pthread_cond_broadcast(condition) }

    /// Nothing more is taken in; who waits is woken.
    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        wakeAll()
        pthread_mutex_unlock(mutex)
    }

    /// Waits for elements, for ever unless a time is given, and takes up to `limit`.
    /// - Returns: An empty list when the time is up; nil when the queue is closed and empty.
    func take(upTo limit: Int, within milliseconds: Int? = nil) -> [Element]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        if let milliseconds {
            var end = timespec()
            clock_gettime(CLOCK_MONOTONIC, &end)
            end.tv_sec += milliseconds / 1000
            end.tv_nsec += milliseconds % 1000 * 1_000_000
            if end.tv_nsec >= 1_000_000_000 {
                end.tv_sec += 1
                end.tv_nsec -= 1_000_000_000
            }
            while elements.isEmpty, !isClosed {
                guard pthread_cond_timedwait(condition, mutex, &end) == 0 else { break }
            }
        } else {
            while elements.isEmpty, !isClosed { pthread_cond_wait(condition, mutex) }
        }
        if elements.isEmpty { return isClosed ? nil : [] }
        if elements.count <= limit {
            defer { elements = [] }
            return elements
        }
        let taken = Array(elements[..<limit])
        elements.removeFirst(limit)
        // More than one thread may take: what is left is for the next one.
        wakeAll()
        return taken
    }
}
