internal import Lifecycle
internal import SessionClient

/// `skillbus cancel`: ends a request, or all of a session.
enum CancelCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus cancel",
            "cancel a running request, or all of a session",
            operands: "SESSION [REQUEST]",
            options: [.flag("all", "all that run in the session"), CommonOptions.url]
        ),
        operands: 1...2,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let all = options.flag("all")
        guard all == (options.operands.count == 1) else {
            throw UsageError(
                all
                    ? "give either a request or --all; see skillbus cancel --help"
                    : "in session \(options.operands[0]), cancel which request? Name it, or say --all for all that run there; "
                        + "`skillbus resume SESSION --json` shows the ids"
            )
        }
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        let session = options.operands[0]
        let requests =
            all ? try await client.snapshot(of: session).running.map(\.request) : Array(options.operands.dropFirst())
        for request in requests {
            try await client.cancel(request, in: session)
            try Output.line("cancelled \(request)")
        }
        if requests.isEmpty { printError("skillbus: nothing runs in session \(session)") }
        return ExitCode.success
    }
}
