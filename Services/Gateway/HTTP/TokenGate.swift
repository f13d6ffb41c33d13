internal import Bus
internal import Credentials
internal import HTTPServer
internal import Synchronization

/// Whose token a request carries, whether that allows what is asked, and whether it comes too often.
final class TokenGate: Sendable {
    /// Who may go on.
    struct Holder: Equatable, Sendable {
        /// Whose sessions these are.
        var tenant: String
        /// The token's id.
        var token: String
    }

    private struct State {
        var list: TokenList
        var buckets: [String: TokenBucket] = [:]
    }
    private let path: String
    private let state: Mutex<State>
    private let changes = Atomic(0)

    /// Reads the list.
    /// - Throws: `CredentialError` for what cannot be read, or what others can get at.
    init(path: String) throws(CredentialError) {
        self.path = path
        state = Mutex(State(list: try TokenList.read(path)))
    }

    /// Rises when the list has been read anew: what was allowed before may not be any more.
    var revision: Int { changes.load(ordering: .acquiring) }

    /// Reads the list anew. Where that fails, the old one stays.
    func reload() throws(CredentialError) {
        let list = try TokenList.read(path)
        state.withLock { state in
            state.list = list
            let ids = Set(list.records.map(\.id))
            state.buckets = state.buckets.filter { ids.contains($0.key) }
        }
        changes.add(1, ordering: .releasing)
    }

    /// Refuses what has no token, the wrong one, one that does not allow it, or too many requests.
    func admit(
        _ request: HTTPRequest,
        for scope: Scope,
        now: UInt64 = Monotonic.milliseconds
    ) throws(HTTPProblem) -> Holder {
        let given = request.headers.all("Authorization")
        guard let record = record(given) else { throw TokenGate.unauthorized(wasGiven: !given.isEmpty) }
        guard record.scopes.contains(scope) else {
            throw HTTPProblem(
                403,
                "insufficient_scope",
                "The token \(record.id) does not allow this: it lacks the scope \"\(scope.rawValue)\".",
                hint: "Use a token that was made with --scope \(scope.rawValue).",
                headers: ["WWW-Authenticate": "Bearer error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""]
            )
        }
        let wait = state.withLock { state in
            state.buckets[record.id, default: TokenBucket(now: now)].take(perMinute: record.rate, now: now)
        }
        if let wait {
            throw HTTPProblem(
                429,
                "rate_limited",
                "The token \(record.id) may send \(record.rate) requests a minute.",
                hint: "Send fewer, or try again after the seconds of Retry-After.",
                headers: ["Retry-After": String(wait)]
            )
        }
        return Holder(tenant: record.tenant, token: record.id)
    }

    /// Whether a request that was let in before would still be.
    func isCurrent(_ request: HTTPRequest, for scope: Scope) -> Bool {
        record(request.headers.all("Authorization"))?.scopes.contains(scope) ?? false
    }

    private func record(_ given: [String]) -> TokenRecord? {
        guard given.count == 1, let value = given.first, value.lowercased().hasPrefix("bearer ") else { return nil }
        let list = state.withLock { $0.list }
        return list.record(of: String(value.dropFirst(7)))
    }

    private static func unauthorized(wasGiven: Bool) -> HTTPProblem {
        HTTPProblem(
            401,
            "unauthorized",
            wasGiven ? "The token is not one of this gateway's." : "A token is needed.",
            hint: "Send \"Authorization: Bearer TOKEN\"; for the skillbus command set SKILLBUS_TOKEN.",
            headers: ["WWW-Authenticate": wasGiven ? "Bearer error=\"invalid_token\"" : "Bearer"]
        )
    }
}

/// How much a token may still ask: full at first with the requests of a minute, and filled again at the pace of that.
struct TokenBucket: Equatable {
    /// In requests; nil while it has not been used.
    private var level: Double?
    private var filled: UInt64

    init(now: UInt64) { filled = now }

    /// Takes one request out.
    /// - Returns: Nil if there was one, else the seconds until there is.
    mutating func take(perMinute rate: Int, now: UInt64) -> Int? {
        let pace = Double(rate) / 60_000
        let gained = Double(now &- min(filled, now)) * pace
        let level = min(Double(rate), (self.level ?? Double(rate)) + gained)
        filled = max(filled, now)
        guard level >= 1 else {
            self.level = level
            return Int(((1 - level) / pace / 1000).rounded(.up))
        }
        self.level = level - 1
        return nil
    }
}
