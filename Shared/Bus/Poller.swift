internal import CLinux
internal import CZMQ
internal import Glibc
internal import Synchronization

/// Waits for sockets and for one wake-up from other threads. Used by the thread that owns the sockets.
public struct Poller: ~Copyable {
    private var items: [zmq_pollitem_t] = []

    /// Waits for nothing yet.
    public init() {}

    /// Adds a socket; it is known by its place in the order of adding.
    public mutating func add(_ socket: borrowing Socket) {
        items.append(zmq_pollitem_t(socket: socket.pointer, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0))
    }

    /// Adds the wake-up.
    public mutating func add(_ wakeUp: WakeUp) {
        items.append(zmq_pollitem_t(socket: nil, fd: wakeUp.descriptor, events: Int16(ZMQ_POLLIN), revents: 0))
    }

    /// Waits until something can be read, at most for the given time; nil waits for ever.
    public mutating func wait(milliseconds: Int?) throws(BusError) {
        let count = Int32(items.count)
        let timeout = milliseconds.map { max($0, 0) } ?? -1
        if zmq_poll(&items, count, timeout) < 0 {
            guard zmq_errno() == EINTR else { throw BusError("zmq_poll") }
            for index in items.indices { items[index].revents = 0 }
        }
    }

    /// Whether what was added at that place can be read.
    public func isReadable(_ place: Int) -> Bool { items[place].revents != 0 }
}

/// Wakes a thread that sits in ``Poller/wait(milliseconds:)``: an eventfd.
public final class WakeUp: Sendable {
    let descriptor: Int32

    /// Makes one.
    public init() throws(BusError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard descriptor >= 0 else { throw BusError("eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// Wakes the thread. May be called from any thread, and from a signal handler.
    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Takes the wake-up, so that the next wait waits again.
    public func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}

/// Time that only goes forward, whatever happens to the wall clock.
public enum Monotonic {
    /// Milliseconds since some moment in the past.
    public static var milliseconds: UInt64 { nanoseconds / 1_000_000 }

    /// Nanoseconds since the same moment.
    public static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
