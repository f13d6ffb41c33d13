/// Why an exchange did not come to its end.
public enum TransferError: Error, Equatable, Sendable {
    /// The address is none that can be used.
    case invalidURL(reason: String)
    /// No connection could be made.
    case unreachable(reason: String)
    /// The address is not on this host, and only this host was allowed. Nothing was sent.
    case outside
    /// The connection broke in the middle.
    case interrupted(reason: String)
    /// The whole took longer than it may.
    case timeout(seconds: Double)
    /// The deadline that the reader had set passed.
    case late
    /// What came is no HTTP.
    case badResponse(reason: String)
    /// The caller gave up.
    case cancelled
}
