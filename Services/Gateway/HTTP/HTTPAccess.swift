internal import Credentials
internal import HTTPServer

/// Who may talk to the gateway: checked before any route.
///
/// A page on the web can make a browser send requests to a gateway on the same machine. It cannot read the answers,
/// unless its name is rebound to 127.0.0.1; so on loopback the `Host` must be a loopback name. And it cannot hide its
/// `Origin`, so what changes something is refused to strangers.
struct HTTPAccess: Sendable {
    /// Whether only this machine can connect.
    let isLoopback: Bool
    /// Asked for in every request but probes; nil when there are none.
    private let tokens: TokenGate?
    /// Origins of pages that may use the gateway, as browsers send them, in lower case.
    private let origins: Set<String>

    /// Rules for a server that listens on an address.
    init(address: String, tokens: TokenGate? = nil, origins: [String] = []) {
        isLoopback = HTTPAccess.isLoopback(host: address)
        self.tokens = tokens
        self.origins = Set(origins.map { $0.lowercased() })
    }

    /// Refuses what may not pass.
    /// - Returns: Whose sessions the request may see.
    func check(_ request: HTTPRequest) throws(HTTPProblem) -> String {
        if isLoopback, let host = request.headers["Host"] {
            guard HTTPAccess.isLoopback(host: HTTPAccess.hostName(host)) || isName(host, ofOrigins: origins) else {
                throw HTTPProblem(
                    421,
                    "host_not_allowed",
                    "This gateway listens on loopback and is not called \"\(host.prefix(80))\".",
                    hint: "Use http://127.0.0.1 or http://localhost with the gateway's port."
                )
            }
        }
        if !HTTPAccess.isSafe(request) { try checkOrigin(request) }
        // Probes say nothing about anybody, and those who probe have no token.
        guard let tokens, request.path != "/healthz", request.path != "/readyz" else { return SessionService.owner }
        return try tokens.admit(request, for: HTTPAccess.scope(of: request)).tenant
    }

    /// Rises when what was allowed may not be any more.
    var revision: Int { tokens?.revision ?? 0 }

    /// Whether a request that was let in before would still be.
    func isCurrent(_ request: HTTPRequest) -> Bool {
        tokens?.isCurrent(request, for: HTTPAccess.scope(of: request)) ?? true
    }

    private static func isSafe(_ request: HTTPRequest) -> Bool { ["GET", "HEAD", "OPTIONS"].contains(request.method) }

    private static func scope(of request: HTTPRequest) -> Scope { isSafe(request) ? .read : .ask }

    private func isName(_ host: String, ofOrigins origins: Set<String>) -> Bool {
        ["http://", "https://"].contains { origins.contains($0 + host.lowercased()) }
    }

    private func checkOrigin(_ request: HTTPRequest) throws(HTTPProblem) {
        for origin in request.headers.all("Origin") {
            if origins.contains(origin.lowercased()) { continue }
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
                hint: "Call the gateway from its own page, from localhost, or from a program; or see --allow-origins."
            )
        }
    }

    // MARK: Pages of other origins

    /// The answer to a browser that asks whether a page of an allowed origin may send its request; nil for all else.
    func preflight(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == "OPTIONS", request.headers["Access-Control-Request-Method"] != nil,
            allowedOrigin(request) != nil
        else { return nil }
        return HTTPResponse(
            status: 204,
            headers: [
                "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
                "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
                "Access-Control-Max-Age": "600",
            ]
        )
    }

    /// Lets a page of an allowed origin read the answer. Nothing is said to others, and never that cookies go along.
    func share(_ response: inout HTTPResponse, with request: HTTPRequest) {
        guard !origins.isEmpty else { return }
        response.headers.append("Vary", "Origin")
        guard let origin = allowedOrigin(request) else { return }
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = "Location, Retry-After"
    }

    private func allowedOrigin(_ request: HTTPRequest) -> String? {
        let sent = request.headers.all("Origin")
        guard sent.count == 1, let origin = sent.first, origins.contains(origin.lowercased()) else { return nil }
        return origin
    }

    /// An origin as browsers send it: scheme and authority, nothing after. Not `*`, not `null`.
    static func isOrigin(_ text: String) -> Bool {
        guard let authority = authority(ofOrigin: text), !authority.isEmpty, !hostName(authority).isEmpty else {
            return false
        }
        return authority.utf8.allSatisfy { byte in
            switch byte {
            case 45, 46, 48...58, 65...91, 93, 97...122: true
            default: false
            }
        }
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
