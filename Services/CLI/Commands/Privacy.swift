internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus privacy`: what was sent to outside parties.
enum PrivacyCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus privacy",
            "list what was sent to outside parties: when, to whom, how much, by which skill",
            options: [
                .value("session", "ID", "of this session only"),
                .value("limit", short: "n", "N", "how many at most, the latest", default: "50"),
                CommonOptions.json, CommonOptions.url,
            ],
            details: """
                A session is local-only, ask or allow: nothing leaves, you are asked, or it may. `skillbus ask` and
                `skillbus chat` ask at a terminal; --privacy, SKILLBUS_PRIVACY and the gateway's own setting change that.
                What is listed here goes with its session: see `skillbus forget`.
                """
        ),
        operands: 0...0
    ) { options in
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        let limit = try options.integer("limit", in: 1...1000) ?? 50
        let page = try await client.disclosures(in: try options.name("session"), limit: limit)
        if options.flag("json") {
            try Output.json(page)
            return ExitCode.success
        }
        var table = Table(["TIME", "SKILL", "PARTY", "BYTES", "PURPOSE", "SESSION"])
        for entry in page["disclosures"]?.array ?? [] {
            table.add([
                LogCommand.time(entry["time"]?.string ?? ""), entry["skill"]?.string ?? "",
                entry["party"]?.string ?? "", "\(entry["bytes"]?.integer ?? 0)", entry["purpose"]?.string ?? "",
                entry["session"]?.string ?? "",
            ])
        }
        if table.isEmpty {
            printError("skillbus: nothing was sent to outside parties")
            return ExitCode.success
        }
        for line in table.lines(Output.style, columns: Output.isTerminal ? Terminal.columns : nil) {
            try Output.line(line)
        }
        return ExitCode.success
    }
}

/// The options of commands that make requests.
enum RequestOptions {
    static let privacy = Option.value(
        "privacy",
        "POLICY",
        "what may leave this machine: local-only, ask or allow",
        environment: "SKILLBUS_PRIVACY"
    )
    static let noCache = Option.flag("no-cache", "do not answer with what was answered before")
    static let routing = Option.value(
        "routing",
        "WHO",
        "who chooses the skill: local, which is the router, or model",
        environment: "SKILLBUS_ROUTING"
    )
    static let debug = Option.flag("debug", DebugLines.help, environment: "SKILLBUS_DEBUG")

    /// Who is to choose the skill.
    static func routing(_ options: ParsedOptions) throws(UsageError) -> Routing? {
        guard let word = options.value("routing") else { return nil }
        if let routing = Routing(rawValue: word) { return routing }
        throw UsageError("--routing must be local or model, not \"\(word)\"")
    }

    /// The policy that was asked for.
    static func policy(_ options: ParsedOptions) throws(UsageError) -> PrivacyPolicy? {
        guard let word = options.value("privacy") else { return nil }
        if let policy = PrivacyPolicy(rawValue: word) { return policy }
        throw UsageError("--privacy must be local-only, ask or allow, not \"\(word)\"")
    }
}
