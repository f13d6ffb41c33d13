internal import CZMQ
internal import Glibc
internal import Lifecycle
internal import Synchronization

/// Waits for sockets and for one wake-up from other threads. Used by the thread that owns the sockets.
///
/// It polls the descriptors of the sockets itself: `zmq_poll` asks every socket twice, which is a system call each time,
/// and most of it between a message's arrival and its being read. The descriptor tells only that something has happened
/// since the socket was last used (zmq_getsockopt(3), ZMQ_FD), so a socket that is also sent on is asked before the
/// wait, and whoever was told that a socket can be read reads until nothing is left. Any socket is asked before the first
/// wait: until it has once said that there is nothing, what comes is not signalled.
public struct Poller: ~Copyable {
    private var descriptors: [pollfd] = []
    /// Sockets to ask before the wait, by their places.
    private var asked: [(place: Int, socket: UnsafeMutableRawPointer)] = []
    /// Those that need it only once.
    private var new: [(place: Int, socket: UnsafeMutableRawPointer)] = []

    /// Waits for nothing yet.
    public init() {}

    /// Adds a socket; it is known by its place in the order of adding.
    /// - Parameters:
    ///   - socket: of the thread that waits.
    ///   - isSentOn: false for one that is only ever read from, and each time until nothing is left.
    /// - Throws: `BusError` when libzmq does not give its descriptor.
    public mutating func add(_ socket: borrowing Socket, isSentOn: Bool = true) throws(BusError) {
        if isSentOn {
            asked.append((descriptors.count, socket.pointer))
        } else {
            new.append((descriptors.count, socket.pointer))
        }
        add(try socket.descriptor)
    }

    /// Adds the wake-up.
    public mutating func add(_ wakeUp: WakeUp) { add(wakeUp.descriptor) }

    private mutating func add(_ descriptor: Int32) {
        descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    /// Waits until something can be read, at most for the given time; nil waits for ever.
    public mutating func wait(milliseconds: Int?) throws(BusError) {
        var ready = 0
        for (place, socket) in asked where try Poller.canRead(socket) { ready |= 1 << place }
        for (place, socket) in new where try Poller.canRead(socket) { ready |= 1 << place }
        new = []
        let timeout = ready != 0 ? 0 : milliseconds.map { Int32(clamping: max($0, 0)) } ?? -1
        if poll(&descriptors, nfds_t(descriptors.count), timeout) < 0 {
            guard errno == EINTR else { throw BusError("poll", code: errno) }
            for place in descriptors.indices { descriptors[place].revents = 0 }
        }
        for place in descriptors.indices where ready & 1 << place != 0 { descriptors[place].revents = Int16(POLLIN) }
    }

    private static func canRead(_ socket: UnsafeMutableRawPointer) throws(BusError) -> Bool {
        var events: Int32 = 0
        var size = MemoryLayout<Int32>.size
        guard zmq_getsockopt(socket, ZMQ_EVENTS, &events, &size) == 0 else {
            throw BusError("zmq_getsockopt(EVENTS)")
        }
        return events & ZMQ_POLLIN != 0
    }

    /// Whether what was added at that place can be read, or may be.
    public func isReadable(_ place: Int) -> Bool { descriptors[place].revents != 0 }
}

/// Wakes a thread that sits in ``Poller/wait(milliseconds:)``.
public final class WakeUp: Sendable {
    let descriptor: Int32

    /// Makes one.
    public init() throws(BusError) {
        descriptor = WakeUpDescriptor.make()
        guard descriptor >= 0 else { throw BusError("eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// Wakes the thread. May be called from any thread, and from a signal handler.
    public func signal() { WakeUpDescriptor.signal(descriptor) }

    /// Takes the wake-up, so that the next wait waits again.
    public func clear() { WakeUpDescriptor.clear(descriptor) }
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
