internal import CCurl
internal import Glibc

/// Dates of HTTP headers, in all the forms that are allowed.
public enum HTTPDate {
    /// Seconds from now until the date, less than 0 for one that has passed; nil for what is none.
    public static func secondsUntil(_ text: String) -> Double? {
        let date = curl_getdate(text, nil)
        guard date != -1 else { return nil }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(date) - Double(now.tv_sec) - Double(now.tv_nsec) / 1e9
    }
}
