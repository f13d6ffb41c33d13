internal import Glibc

/// The time of day: for ids and for what people read, never for a deadline.
public enum WallClock {
    /// Milliseconds since 1970.
    public static var milliseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}
