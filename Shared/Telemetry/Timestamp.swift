internal import Glibc

/// A time of day in milliseconds since 1970, shown as RFC 3339 in UTC: `2026-11-30T08:00:00.123Z`.
///
/// For showing and keeping only: what is to happen after some time is measured with a clock that nobody sets.
public struct Timestamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Milliseconds since 1970.
    public let milliseconds: Int64

    /// The given time.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Now.
    public static var now: Timestamp {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(milliseconds: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
    }

    /// Orders by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// RFC 3339 in UTC with milliseconds.
    public var description: String {
        String(unsafeUninitializedCapacity: 24) { text in
            // Days to a date after Howard Hinnant's civil_from_days: no table, no time zone, no lock of the C library.
            let days = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
            let ofDay = milliseconds - days * 86_400_000
            let shifted = days + 719_468
            let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let monthIndex = (5 * dayOfYear + 2) / 153
            let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
            let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
            let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
            var at = 0
            func put(_ value: Int64, _ digits: Int, _ after: UInt8) {
                var rest = value
                for place in stride(from: digits - 1, through: 0, by: -1) {
                    text[at + place] = 48 + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[at + digits] = after
                at += digits + 1
            }
            put(min(max(year, 0), 9999), 4, UInt8(ascii: "-"))
            put(month, 2, UInt8(ascii: "-"))
            put(day, 2, UInt8(ascii: "T"))
            put(ofDay / 3_600_000, 2, UInt8(ascii: ":"))
            put(ofDay / 60_000 % 60, 2, UInt8(ascii: ":"))
            put(ofDay / 1000 % 60, 2, UInt8(ascii: "."))
            put(ofDay % 1000, 3, UInt8(ascii: "Z"))
            return at
        }
    }
}
