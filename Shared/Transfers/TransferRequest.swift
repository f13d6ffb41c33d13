/// What to send.
public struct TransferRequest: Sendable {
    /// Such as `GET`.
    public var method: String
    /// The whole address.
    public var url: String
    /// In the order in which they are sent.
    public var headers: [(name: String, value: String)]
    /// Copied when the exchange starts.
    public var body: [UInt8]?
    /// Whether proxy variables are to be ignored.
    public var ignoresProxies: Bool
    /// Whether a connection to any address that is not of this host is refused, whatever its name resolves to. Then
    /// proxies are ignored too.
    public var staysOnHost = false
    /// How long it may take until there is a connection, in seconds.
    public var connectSeconds = 5.0
    /// The whole exchange, in seconds; nil for a stream that stays open.
    public var seconds: Double?
    /// A stream that stays silent for so many seconds is taken for dead.
    public var silence: Int?

    /// Makes a request.
    public init(
        _ method: String,
        _ url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        ignoresProxies: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.ignoresProxies = ignoresProxies
    }
}

/// The start of an answer.
public struct TransferHead: Sendable {
    /// HTTP status.
    public var status: Int
    /// Names in lower case.
    public var headers: [(name: String, value: String)]

    /// Makes a head.
    public init(status: Int, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = headers
    }

    /// The last value of a header, by its name in lower case.
    public func value(_ name: String) -> String? { headers.last { $0.name == name }?.value }
}
