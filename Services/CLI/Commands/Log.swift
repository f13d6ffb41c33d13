internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus log`: which skill ran when, where, how long, and how it ended.
enum LogCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus log",
            "the skill log: time, session, skill, worker, duration, outcome",
            options: [
                .value("limit", short: "n", "N", "how many at most, the newest", default: "50"),
                .flag("follow", short: "f", "go on with what comes, until Ctrl-C"),
                .flag("json", "print each entry as one line of JSON"), CommonOptions.url,
            ]
        ),
        operands: 0...0,
        run
    )

    /// How often a log that is followed is asked for.
    private static let interval = Duration.milliseconds(500)

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        let limit = try options.integer("limit", in: 1...1000) ?? 50
        let asJSON = options.flag("json")
        var log = try await client.jobs(limit: limit)
        if !asJSON {
            try Output.line(Output.style.bold(line("TIME", "SESSION", "SKILL", "WORKER", "DURATION", "OUTCOME")))
        }
        try show(log.jobs, asJSON)
        guard options.flag("follow") else { return ExitCode.success }
        var isLost = false
        while true {
            try await Task.sleep(for: interval)
            do {
                let next = try await client.jobs(limit: 1000, after: log.next)
                isLost = false
                try show(next.jobs, asJSON)
                log = next
            } catch let error as ClientError where error.isTransient {
                if !isLost { printError("skillbus: \(error); trying again") }
                isLost = true
            }
        }
    }

    private static func show(_ entries: [JobLog.Entry], _ asJSON: Bool) throws {
        for entry in entries {
            if asJSON {
                try Output.json(entry)
                continue
            }
            let isGood = entry.outcome == "finished" || entry.outcome == "cached"
            let outcome = Terminal.line(entry.outcome)
            let took = entry.milliseconds.map(duration) ?? ""
            try Output.line(
                line(
                    time(entry.time),
                    entry.session,
                    entry.skill,
                    entry.worker ?? "",
                    took,
                    isGood ? Output.style.green(outcome) : Output.style.red(outcome)
                )
            )
        }
    }

    private static func line(
        _ time: String,
        _ session: String,
        _ skill: String,
        _ worker: String,
        _ duration: String,
        _ outcome: String
    ) -> String {
        let cells = [(time, 19), (session, 36), (skill, 12), (worker, 24), (duration, 9)]
        return cells.map { Terminal.padded(Terminal.line($0.0), to: $0.1) }.joined(separator: "  ") + "  " + outcome
    }

    /// `12 ms`, `3.4 s`.
    static func duration(_ milliseconds: Double) -> String {
        milliseconds < 1000 ? "\(Int(milliseconds)) ms" : StatusLines.seconds(milliseconds / 1000)
    }

    /// `2026-11-30 08:00:00` of an RFC 3339 time.
    static func time(_ text: String) -> String {
        let short = text.prefix(19)
        return short.count == 19 ? short.replacing("T", with: " ") : String(short)
    }
}

extension Substring {
    fileprivate func replacing(_ old: Character, with new: Character) -> String {
        String(map { $0 == old ? new : $0 })
    }
}
