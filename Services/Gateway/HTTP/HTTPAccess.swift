internal import HTTPServer

/// Who may talk to the gateway: checked before any route.
///
/// A page on the web can make a browser send requests to a gateway on the same machine. It cannot read the answers,
/// unless its name is rebound to 127.0.0.1; so on loopback the `Host` must be a loopback name. And it cannot hide its
/// `Origin`, so what changes something is refused to strangers.
struct HTTPAccess: Sendable {
    /// Whether only this machine can connect.
    let isLoopback: Bool
    /// What a client must send as `Authorization: Bearer`; nil when no token is configured.
    private let token: [UInt8]?

    /// Rules for a server that listens on an address.
    init(address: String, token: String? = nil) {
        isLoopback = HTTPAccess.isLoopback(host: address)
        self.token = token.map { Array($0.utf8) }
    }

    /// Refuses what may not pass.
    func check(_ request: HTTPRequest) throws(HTTPProblem) {
        if isLoopback, let host = request.headers["Host"] {
            guard HTTPAccess.isLoopback(host: HTTPAccess.hostName(host)) else {
                throw HTTPProblem(
                    421,
                    "host_not_allowed",
                    "This gateway listens on loopback and is not called \"\(host.prefix(80))\".",
                    hint: "Use http://127.0.0.1 or http://localhost with the gateway's port."
                )
            }
        }
        if !["GET", "HEAD", "OPTIONS"].contains(request.method) { try checkOrigin(request) }
        try checkToken(request)
    }

    private func checkOrigin(_ request: HTTPRequest) throws(HTTPProblem) {
        for origin in request.headers.all("Origin") {
            if let authority = HTTPAccess.authority(ofOrigin: origin) {
                if HTTPAccess.isLoopback(host: HTTPAccess.hostName(authority)) { continue }
                // The gateway's own page, where it listens on more than loopback.
                if !isLoopback, let host = request.headers["Host"], host.lowercased() == authority.lowercased() {
                    continue
                }
            }
            throw HTTPProblem(
                403,
                "origin_not_allowed",
                "Pages of \"\(origin.prefix(80))\" may not change anything here.",
                hint: "Call the gateway from its own page, from localhost, or from a program."
            )
        }
    }

    private func checkToken(_ request: HTTPRequest) throws(HTTPProblem) {
        // Probes say nothing about anybody, and those who probe have no token.
        guard let token, request.path != "/healthz", request.path != "/readyz" else { return }
        let given = request.headers.all("Authorization")
        if given.count == 1, let value = given.first, value.lowercased().hasPrefix("bearer ") {
            let sent = Array(value.utf8.dropFirst(7))
            // As long for a wrong token as for the right one, whatever they have in common.
            var difference = sent.count ^ token.count
            for index in token.indices { difference |= Int(token[index] ^ (index < sent.count ? sent[index] : 0)) }
            if difference == 0 { return }
        }
        throw HTTPProblem(
            401,
            "unauthorized",
            given.isEmpty ? "A token is needed." : "The token is not the gateway's.",
            hint: "Send \"Authorization: Bearer TOKEN\"; for the skillbus command set SKILLBUS_TOKEN.",
            headers: ["WWW-Authenticate": "Bearer"]
        )
    }

    /// Whether a name or address is this machine's own.
    static func isLoopback(host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The host of `host:port`; an IPv6 address keeps its brackets.
    static func hostName(_ authority: String) -> String {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return "" }
            let rest = authority[authority.index(after: end)...]
            return rest.isEmpty || isPort(rest) ? String(authority[...end]) : ""
        }
        guard let colon = authority.firstIndex(of: ":") else { return authority }
        return isPort(authority[colon...]) ? String(authority[..<colon]) : ""
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().utf8.allSatisfy { 48...57 ~= $0 }
    }

    private static func authority(ofOrigin origin: String) -> String? {
        for scheme in ["http://", "https://"] where origin.lowercased().hasPrefix(scheme) {
            return String(origin.dropFirst(scheme.count))
        }
        return nil
    }
}
