/// Where a router is, as a person writes it: `host`, `host:port`, `[v6]:port`, or a whole `tcp://` or `ipc://` address.
public enum RouterAddress {
    /// The port that gateways connect to.
    public static let frontendPort = 5555
    /// The port that workers connect to.
    public static let backendPort = 5556

    /// Why a text is no address.
    public struct Invalid: Error, Sendable, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// The addresses of a list separated by commas.
    /// - Throws: `Invalid` naming the entry that is wrong.
    public static func endpoints(_ list: String, defaultPort: Int) throws(Invalid) -> [String] {
        var endpoints: [String] = []
        for entry in list.split(separator: ",") {
            let text = entry.trimmingPrefix { $0 == " " }
            let trimmed = String(text.reversed().trimmingPrefix { $0 == " " }.reversed())
            guard !trimmed.isEmpty else { continue }
            endpoints.append(try endpoint(trimmed, defaultPort: defaultPort))
        }
        guard !endpoints.isEmpty else {
            throw Invalid(description: "no router is named; give host, host:port, tcp://host:port or ipc://path")
        }
        return endpoints
    }

    private static func endpoint(_ text: String, defaultPort: Int) throws(Invalid) -> String {
        if text.hasPrefix("tcp://") || text.hasPrefix("ipc://") { return text }
        guard !text.contains("://") else {
            throw Invalid(description: "router \"\(text)\": only tcp:// and ipc:// addresses are known")
        }
        let isBareV6 = text.filter { $0 == ":" }.count > 1 && !text.hasPrefix("[")
        if isBareV6 { return "tcp://[\(text)]:\(defaultPort)" }
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else { return "tcp://\(text):\(defaultPort)" }
        guard let port = Int(text[text.index(after: colon)...]), 1...65535 ~= port, colon > text.startIndex else {
            throw Invalid(description: "router \"\(text)\": the port must be a number from 1 to 65535")
        }
        return "tcp://\(text[..<colon]):\(port)"
    }

    /// Whether only this machine can reach a bound address.
    public static func isLocal(_ endpoint: String) -> Bool {
        if endpoint.hasPrefix("ipc://") { return true }
        let address = endpoint.dropFirst("tcp://".count)
        let host = address.prefix(upTo: address.lastIndex(of: ":") ?? address.endIndex)
        // Not every name that begins like an address of the loopback range is one.
        let isAddress = host.utf8.allSatisfy { 48...57 ~= $0 || $0 == 46 }
        return isAddress && host.hasPrefix("127.") || host == "localhost" || host == "[::1]"
    }
}
