internal import CCurl

/// An http or https address, taken apart by libcurl.
public struct WebAddress: Hashable, Sendable {
    /// Why a text is none.
    public struct Refusal: Error, Equatable {
        /// In words that fit behind the text, in brackets.
        public var reason: String
    }

    /// `http` or `https`.
    public let scheme: String
    /// A name or a number; of IPv6 with its brackets.
    public let host: String
    /// Nil for the scheme's own.
    public let port: String?
    /// From its first slash on; empty for the root.
    public let path: String
    /// Without its question mark; nil where there is none.
    public let query: String?
    /// Whether there is a `#` and something behind it.
    public let hasFragment: Bool
    /// Whether a name or a password stands before the host.
    public let hasUser: Bool

    /// Takes a text apart.
    public init(_ text: String) throws(Refusal) {
        guard let handle = curl_url() else { throw Refusal(reason: "out of memory") }
        defer { curl_url_cleanup(handle) }
        let code = curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME))
        guard code == CURLUE_OK else {
            let reason = curl_url_strerror(code).map { String(cString: $0) }
            throw Refusal(reason: reason ?? "error \(code.rawValue)")
        }
        func part(_ part: CURLUPart) -> String? {
            var value: UnsafeMutablePointer<CChar>?
            guard curl_url_get(handle, part, &value, 0) == CURLUE_OK, let value else { return nil }
            defer { curl_free(value) }
            return String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME), scheme == "http" || scheme == "https" else {
            throw Refusal(reason: "it must start with http:// or https://")
        }
        guard let host = part(CURLUPART_HOST), !host.isEmpty else { throw Refusal(reason: "it names no host") }
        self.scheme = scheme
        self.host = host.lowercased()
        port = part(CURLUPART_PORT)
        var path = part(CURLUPART_PATH) ?? ""
        while path.last == "/" { path.removeLast() }
        self.path = path
        query = part(CURLUPART_QUERY)
        hasFragment = part(CURLUPART_FRAGMENT) != nil
        hasUser = part(CURLUPART_USER) != nil || part(CURLUPART_PASSWORD) != nil
    }

    /// Scheme, host and port: what a person needs to know of the address.
    public var origin: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")" }

    /// Whether it is of this host by what is written there; no name but `localhost` is looked up for this.
    public var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.allSatisfy { $0 != nil } && numbers[0] == 127
    }
}
