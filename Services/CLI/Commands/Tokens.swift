internal import Credentials
internal import Lifecycle
internal import Wire

/// `skillbus tokens`: the tokens by which the gateway knows its clients.
enum TokensCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus tokens",
            "make, list and revoke the tokens of the gateway",
            operands: "new | list | revoke ID",
            options: [
                .value("tenant", "NAME", "whose sessions a new token sees", default: "local"),
                .value("scope", "SCOPE,...", "what it allows: read, ask; may be repeated", default: "read,ask"),
                .value("rate", "N", "requests a minute", default: "600"),
                .value(
                    "tokens",
                    "FILE",
                    "the list (default: tokens in the state folder)",
                    environment: "SKILLBUS_TOKENS"
                ),
                .value("out", "FILE", "write a new token there, for this user only, instead of to standard output"),
                .value("state", "DIR", "the state folder", environment: "SKILLBUS_STATE"),
                CommonOptions.json,
            ],
            details: """
                `new` prints the token, once: the list has only its SHA-256. As long as there is a list, every client needs
                a token; sessions from before belong to the tenant "local". Clients take theirs from SKILLBUS_TOKEN, or
                from the file that SKILLBUS_TOKEN_FILE names. A running gateway reads its list anew on SIGHUP; one that was
                started without must be started again.

                  skillbus tokens new --tenant anna --out anna.token
                  skillbus tokens new --tenant anna --scope read --rate 60
                  skillbus tokens revoke 1a2b3c4d
                """
        ),
        operands: 1...2
    ) { options in
        let state = StateFolder.absolute(options.value("state") ?? Environment.stateFolder)
        let path = options.value("tokens").map(StateFolder.absolute) ?? "\(state)/tokens"
        let id = options.operands.count > 1 ? options.operands[1] : nil
        do {
            switch (options.operands[0], id) {
            case ("new", nil): try make(path, options)
            case ("list", nil): try list(path, options)
            case ("revoke", let id?):
                try TokenList.revoke(id, in: path)
                printError("skillbus: \(id) is off the list; a running gateway takes it until it gets SIGHUP")
            case ("revoke", nil): throw UsageError("skillbus tokens revoke needs an ID; see skillbus tokens list")
            default: throw UsageError("skillbus tokens takes new, list or revoke ID; see skillbus tokens --help")
            }
        } catch let error as CredentialError {
            throw CommandFailure(error.description)
        }
        return ExitCode.success
    }

    private static func make(_ path: String, _ options: ParsedOptions) throws {
        var scopes: Set<Scope> = []
        for word in options.values("scope").flatMap({ $0.split(separator: ",") }) {
            guard let scope = Scope(rawValue: String(word)) else {
                throw UsageError("--scope must be read or ask, not \"\(word)\"")
            }
            scopes.insert(scope)
        }
        let rate = try options.integer("rate", in: TokenRecord.rates) ?? 600
        let isFirst = !TokenList.exists(path)
        let made = try TokenList.make(
            tenant: options.value("tenant") ?? "",
            scopes: scopes,
            rate: rate,
            in: path
        )
        if let file = options.value("out") {
            try BearerToken.write(made.token, to: file)
        } else if options.flag("json") {
            let object: JSONValue = ["token": .string(made.token), "id": .string(made.record.id)]
            try Output.json(object)
        } else {
            try Output.line(made.token)
        }
        printError("skillbus: token \(made.record.id) of \(made.record.tenant) is on the list \(path)")
        printError(
            isFirst
                ? "skillbus: start the gateway (again): from then on every client needs a token"
                : "skillbus: a running gateway takes it when it gets SIGHUP"
        )
    }

    private static func list(_ path: String, _ options: ParsedOptions) throws {
        let records = try TokenList.read(path).records
        func scopes(_ record: TokenRecord) -> String {
            Scope.allCases.filter(record.scopes.contains).map(\.rawValue).joined(separator: ",")
        }
        if options.flag("json") {
            let objects = records.map { record -> JSONValue in
                [
                    "id": .string(record.id), "tenant": .string(record.tenant), "scopes": .string(scopes(record)),
                    "rate": .integer(Int64(record.rate)),
                ]
            }
            return try Output.json(JSONValue.array(objects))
        }
        var table = Table(["ID", "TENANT", "SCOPES", "PER MINUTE"])
        for record in records { table.add([record.id, record.tenant, scopes(record), "\(record.rate)"]) }
        for line in table.lines(Output.style, columns: nil) { try Output.line(line) }
    }
}
