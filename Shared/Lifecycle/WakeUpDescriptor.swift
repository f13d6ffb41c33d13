internal import CLinux
internal import Glibc

/// A descriptor by which any thread wakes one that waits for descriptors: an eventfd, see eventfd(2). Whoever makes it
/// closes it.
public enum WakeUpDescriptor {
    /// Makes one.
    /// - Returns: the descriptor; negative where there is none to be had, with `errno` set.
    public static func make() -> Int32 { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) }

    /// Makes it readable. May be called from any thread, and from a signal handler.
    public static func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Takes what made it readable, so that the next wait waits again.
    public static func clear(_ descriptor: Int32) {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
