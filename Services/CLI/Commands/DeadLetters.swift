internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus dead-letters`: jobs that were given up because they kept ending their workers.
enum DeadLettersCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus dead-letters",
            "list, show, send again or throw away jobs that were given up",
            operands: "[list | show ID | retry ID | discard ID]",
            options: [
                .value("limit", short: "n", "N", "how many are listed at most, the latest", default: "20"),
                CommonOptions.json, CommonOptions.url,
            ],
            details: """
                A job that ends its worker three times is given up, so that it ends no more of them. `show` says which workers
                those were, how each attempt ended, and what the job said last. `retry` sends its request again as a new one,
                once what was wrong is mended, and prints its session and id. `discard` takes it off the list.
                """
        ),
        operands: 0...2
    ) { options in
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        let action = options.operands.first ?? "list"
        let id = options.operands.count > 1 ? options.operands[1] : nil
        switch (action, id) {
        case ("list", nil): try await list(client, options)
        case ("show", let id?): try show(try await client.deadLetter(id), options)
        case ("retry", let id?):
            let taken = try await client.retryDeadLetter(id)
            if options.flag("json") {
                try Output.json(taken)
            } else {
                try Output.line("\(taken["session"]?.string ?? "") \(taken["id"]?.string ?? "")")
            }
        case ("discard", let id?): try await client.discardDeadLetter(id)
        case ("show", nil), ("retry", nil), ("discard", nil):
            throw UsageError("skillbus dead-letters \(action) needs an ID; see skillbus dead-letters list")
        default:
            throw UsageError(
                "skillbus dead-letters takes list, show ID, retry ID or discard ID; see skillbus dead-letters --help"
            )
        }
        return ExitCode.success
    }

    private static func list(_ client: GatewayClient, _ options: ParsedOptions) async throws {
        let limit = try options.integer("limit", in: 1...1000) ?? 20
        let page = try await client.deadLetters(limit: limit)
        if options.flag("json") { return try Output.json(page) }
        var table = Table(["ID", "TIME", "SKILL", "ATTEMPTS", "RETRIED", "TEXT"])
        for letter in page["deadLetters"]?.array ?? [] {
            table.add([
                letter["id"]?.string ?? "", LogCommand.time(letter["time"]?.string ?? ""),
                letter["skill"]?.string ?? "", "\(letter["attempts"]?.integer ?? 0)",
                letter["retriedAs"]?.string == nil ? "no" : "yes", letter["text"]?.string ?? "",
            ])
        }
        if table.isEmpty { return printError("skillbus: there are no dead letters") }
        for line in table.lines(Output.style, columns: Output.isTerminal ? Terminal.columns : nil) {
            try Output.line(line)
        }
    }

    private static func show(_ detail: JSONValue, _ options: ParsedOptions) throws {
        if options.flag("json") { return try Output.json(detail) }
        let letter = detail["deadLetter"] ?? [:]
        for (name, key) in [
            ("id", "id"), ("time", "time"), ("skill", "skill"), ("session", "session"), ("request", "request"),
            ("retried as", "retriedAs"), ("text", "text"),
        ] {
            guard let value = letter[key]?.string else { continue }
            try Output.line("\(Terminal.padded(name, to: 10))  \(Terminal.line(value))")
        }
        let reason = letter["error"]?["message"]?.string ?? ""
        try Output.line("\(Terminal.padded("reason", to: 10))  \(Output.style.red(Terminal.line(reason)))")
        for attempt in detail["attempts"]?.array ?? [] {
            let worker = attempt["worker"]?.string ?? ""
            let started = LogCommand.time(attempt["started"]?.string ?? "")
            let number = attempt["attempt"]?.integer ?? 0
            let reason = attempt["reason"]?.string ?? ""
            try Output.line(Terminal.line("attempt \(number) on \(worker), \(started): \(reason)"))
        }
        try Output.line("last events:")
        for event in detail["events"]?.array ?? [] {
            let data = event["data"].flatMap { try? JSONBody.encode($0) } ?? []
            let text = "\(event["type"]?.string ?? "") \(String(decoding: data, as: UTF8.self))"
            try Output.line("  " + Terminal.line(String(text.prefix(200))))
        }
    }
}
