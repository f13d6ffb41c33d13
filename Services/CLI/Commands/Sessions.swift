internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus sessions`: the sessions, newest first.
enum SessionsCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus sessions",
            "list the sessions, newest first",
            options: [
                .value("limit", short: "n", "N", "how many at most", default: "20"), CommonOptions.json,
                CommonOptions.url,
            ]
        ),
        operands: 0...0,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        let limit = try options.integer("limit", in: 1...1000) ?? 20
        let page = try await client.sessions(limit: limit)
        if options.flag("json") {
            try Output.json(page)
            return ExitCode.success
        }
        var table = Table(["SESSION", "UPDATED", "RUNNING", "TITLE"])
        for session in page["sessions"]?.array ?? [] {
            table.add([
                session["id"]?.string ?? "", LogCommand.time(session["updated"]?.string ?? ""),
                "\(session["running"]?.integer ?? 0)", session["title"]?.string ?? "",
            ])
        }
        if table.isEmpty {
            printError("skillbus: there is no session yet: make one with `skillbus ask TEXT`")
            return ExitCode.success
        }
        for line in table.lines(Output.style, columns: Output.isTerminal ? Terminal.columns : nil) {
            try Output.line(line)
        }
        return ExitCode.success
    }
}
