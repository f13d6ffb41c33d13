internal import Bus
internal import Credentials
internal import Lifecycle
internal import SessionStore
internal import Wire

/// What a gateway is told at its start, checked.
struct Settings: Sendable {
    /// Address to listen on.
    var host: String
    /// Port to listen on; 0 for a free one.
    var port: Int
    /// Folder of the session store.
    var state: String
    /// The PostgreSQL that has the sessions, for several gateways; nil for the folder.
    var store: PostgresAddress?
    /// How long after its last sign of life another gateway goes on with its requests, in milliseconds.
    var lease: Int
    /// Where the routers are.
    var routers: [String]
    /// Event streams that may be open.
    var streams: Int
    /// Requests that may be open.
    var quota = Quota()
    /// What of a session may go to outside parties whose maker says nothing of that.
    var privacy = PrivacyPolicy.localOnly
    /// The skill that summarises what was said earlier in a session; nil where nothing is.
    var memorySkill: String?
    /// Its key, if the router asks for one.
    var key: ClientKey?
    /// Tokens that clients need; nil if none are asked for.
    var tokens: TokenGate?
    /// Origins whose pages may use it.
    var origins: [String] = []
    /// Where to write the URL once it listens; standard output if nil.
    var readyFile: String?
    /// How long sessions are kept.
    var retention = Retention()
    /// Whether only this machine can reach it.
    var isLocal: Bool { Settings.isLocal(host) }

    /// The command line.
    static let command = Command(
        "skillbus-gateway",
        "takes requests over HTTP, keeps sessions, and streams what the skills are doing",
        options: [
            .value(
                "http",
                "HOST:PORT",
                "address to listen on; port 0 takes a free one",
                environment: "SKILLBUS_HTTP",
                default: "127.0.0.1:8080"
            ),
            .value(
                "state",
                "DIR",
                "folder of the sessions",
                environment: "SKILLBUS_STATE",
                default: Environment.stateFolder
            ),
            .value(
                "store",
                "URL",
                "keep the sessions in PostgreSQL, for several gateways: postgres://USER@HOST/DATABASE",
                environment: "SKILLBUS_STORE"
            ),
            .value(
                "store-password",
                "FILE",
                "file with the password for --store",
                environment: "SKILLBUS_STORE_PASSWORD_FILE"
            ),
            .value(
                "lease",
                "SECONDS",
                "with --store: go on with a gateway's requests when it has given no sign of life for so long",
                environment: "SKILLBUS_LEASE",
                default: "15"
            ),
            .value(
                "routers",
                "LIST",
                "routers: host[:port], tcp:// or ipc://; a name stands for all its addresses",
                environment: "SKILLBUS_ROUTERS",
                default: "127.0.0.1"
            ),
            .value(
                "streams",
                "N",
                "event streams that may be open at a time",
                environment: "SKILLBUS_STREAMS",
                default: "500"
            ),
            .value(
                "open-per-session",
                "N",
                "requests of a session that may be open at a time",
                environment: "SKILLBUS_OPEN_PER_SESSION",
                default: "50"
            ),
            .value(
                "open-per-user",
                "N",
                "requests of a user that may be open at a time",
                environment: "SKILLBUS_OPEN_PER_USER",
                default: "200"
            ),
            .value(
                "retention",
                "DAYS",
                "delete sessions that were not used for so many days; 0 keeps them for ever",
                environment: "SKILLBUS_RETENTION",
                default: "0"
            ),
            .value(
                "store-limit",
                "MB",
                "delete the sessions unused for longest when the store has more megabytes; 0 for no limit",
                environment: "SKILLBUS_STORE_LIMIT",
                default: "0"
            ),
            .value(
                "privacy",
                "POLICY",
                "what may leave in sessions that do not say: local-only, ask or allow",
                environment: "SKILLBUS_PRIVACY",
                default: "local-only"
            ),
            .value(
                "memory-skill",
                "SKILL",
                "skill that summarises, in the background, what was said earlier in a session; none for no summaries",
                environment: "SKILLBUS_MEMORY_SKILL",
                default: "summarize"
            ),
            .value(
                "key",
                "FILE",
                "this gateway's secret key, if the router asks for one",
                environment: "SKILLBUS_KEY_FILE"
            ),
            .value(
                "tokens",
                "FILE",
                "tokens that clients need (default: tokens in the state folder, if it is there)",
                environment: "SKILLBUS_TOKENS"
            ),
            .value(
                "allow-origins",
                "ORIGIN,...",
                "pages that may use it, such as https://chat.example.org",
                environment: "SKILLBUS_ALLOW_ORIGINS"
            ),
            .flag(
                "allow-insecure",
                "listen on an address that others can reach, without a token",
                environment: "SKILLBUS_ALLOW_INSECURE"
            ),
            .value("ready-file", "FILE", "write {\"url\": ...} there once it listens, instead of to standard output"),
            .flag("exit-with-parent", "end when standard input closes"),
            .flag("check", "look whether the store is sound: exit code 0, 1 if not, 2 if it cannot be read"),
            .flag("json", "with --check: say it as JSON"),
            .flag("health", "ask the gateway at --http whether it is ready: exit code 0 or 1"),
        ],
        details: """
            The log goes to standard error, one JSON object a line; SKILLBUS_LOG sets its level (debug, info, warning, error).
            SIGHUP reads the tokens anew.
            SIGTERM drains: nothing new is taken, what is written is kept, and open requests go on with the next start.
            """
    )

    /// Checks the options.
    /// - Throws: `UsageError` naming the option that is wrong and what to do.
    init(_ options: ParsedOptions) throws(UsageError) {
        (host, port) = try Settings.address(options.value("http") ?? "")
        state = options.value("state") ?? Environment.stateFolder
        while state.count > 1, state.hasSuffix("/") { state.removeLast() }
        let seconds = try options.seconds("lease") ?? 15
        guard 1...3600 ~= seconds else { throw UsageError("--lease must be a number of seconds from 1 to 3600") }
        lease = Int(seconds * 1000)
        store = options.flag("health") ? nil : try StoreOption.read(options)
        readyFile = options.value("ready-file")
        let streams = options.value("streams") ?? ""
        guard let limit = Int(streams), 1...100_000 ~= limit else {
            throw UsageError("--streams must be a number from 1 to 100000, not \"\(streams)\"")
        }
        self.streams = limit
        quota.perSession = try options.integer("open-per-session", in: 1...100_000) ?? quota.perSession
        quota.perOwner = try options.integer("open-per-user", in: 1...1_000_000) ?? quota.perOwner
        let word = options.value("privacy") ?? ""
        guard let policy = PrivacyPolicy(rawValue: word) else {
            throw UsageError("--privacy must be local-only, ask or allow, not \"\(word.prefix(40))\"")
        }
        privacy = policy
        let skill = options.value("memory-skill") ?? ""
        guard !skill.isEmpty, skill.utf8.count <= 64 else {
            throw UsageError("--memory-skill must be the id of a skill, or none, not \"\(skill.prefix(40))\"")
        }
        memorySkill = skill == "none" ? nil : skill
        let day: Int64 = 86_400_000
        let days = Int64(try options.integer("retention", in: 0...36_500) ?? 0)
        let megabytes = Int64(try options.integer("store-limit", in: 0...100_000_000) ?? 0)
        retention = Retention(
            age: days == 0 ? nil : days * day,
            bytes: megabytes == 0 ? nil : megabytes * 1_000_000
        )
        do throws(RouterAddress.Invalid) {
            routers = try RouterAddress.endpoints(
                options.value("routers") ?? "",
                defaultPort: RouterAddress.frontendPort
            )
        } catch {
            throw UsageError("--routers: \(error.description)")
        }
        if let file = options.value("key"), !options.flag("health") {
            do throws(CredentialError) { key = try ClientKey.read(file) } catch { throw UsageError("--key: \(error)") }
        }
        // Neither serves anybody.
        if options.flag("health") || options.flag("check") { return }
        origins = (options.value("allow-origins") ?? "").split(separator: ",").map(String.init)
        if let wrong = origins.first(where: { !HTTPAccess.isOrigin($0) }) {
            throw UsageError("--allow-origins: \"\(wrong)\" is no origin, such as https://chat.example.org")
        }
        let file = options.value("tokens")
        if let path = file ?? (TokenList.exists("\(state)/tokens") ? "\(state)/tokens" : nil) {
            do throws(CredentialError) { tokens = try TokenGate(path: path) } catch {
                throw UsageError("--tokens: \(error)")
            }
        }
        guard isLocal || tokens != nil || options.flag("allow-insecure") else {
            throw UsageError(
                "--http \(host) can be reached by others, and there is no token: make one with `skillbus tokens new`,"
                    + " listen on 127.0.0.1, or accept it with --allow-insecure (SKILLBUS_ALLOW_INSECURE=1)"
            )
        }
    }

    /// Host and port of `host:port`, `[v6]:port` or `:port`.
    static func address(_ text: String) throws(UsageError) -> (host: String, port: Int) {
        let wrong = UsageError("--http must be HOST:PORT, such as 127.0.0.1:8080, not \"\(text)\"")
        guard let colon = text.lastIndex(of: ":") else { throw wrong }
        guard let port = Int(text[text.index(after: colon)...]), 0...65535 ~= port else { throw wrong }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.contains("["), !host.contains("]"), !host.contains("/") else { throw wrong }
        return (host.isEmpty ? "127.0.0.1" : host, port)
    }

    private static func isLocal(_ host: String) -> Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        if numbers.count == 4, numbers.allSatisfy({ UInt8($0) != nil }) { return numbers[0] == "127" }
        return host == "localhost" || host == "::1"
    }
}
