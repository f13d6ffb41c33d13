internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus skills`: what can be asked for, and who serves it.
enum SkillsCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus skills",
            "list the skills and their workers",
            options: [
                .flag("verbose", short: "v", "every worker, with its host and process, and examples"),
                CommonOptions.json,
                CommonOptions.url,
            ]
        ),
        operands: 0...0,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        if options.flag("json") {
            try Output.json(try await client.call("GET", "/v1/skills"))
            return ExitCode.success
        }
        let list = try await client.skills()
        if list.skills.isEmpty {
            printError("skillbus: no skill is registered: start workers with `skillbus up`, or see docs/skills.md")
            return ExitCode.success
        }
        for line in table(list, isVerbose: options.flag("verbose"))
            .lines(Output.style, columns: Output.isTerminal ? Terminal.columns : nil)
        {
            try Output.line(line)
        }
        for line in parties(list) { try Output.line(line) }
        if options.flag("verbose") { for line in examples(list, Output.style) { try Output.line(line) } }
        return ExitCode.success
    }

    /// Which skills may send text to whom.
    static func parties(_ list: SkillList) -> [String] {
        let parties = Set(list.skills.flatMap(\.manifest.sendsDataTo)).sorted()
        return parties.isEmpty
            ? []
            : [""]
                + parties.map { party in
                    let skills = list.skills.filter { $0.manifest.sendsDataTo.contains(party) }.map(\.manifest.id)
                    return Terminal.line(
                        "In sessions that allow it, text goes to \(party): \(skills.joined(separator: ", "))"
                    )
                }
    }

    /// What each skill gives as examples of what to ask.
    static func examples(_ list: SkillList, _ style: Style) -> [String] {
        list.skills.filter { !$0.manifest.examples.isEmpty }
            .flatMap { skill in
                ["", style.bold(Terminal.line(skill.manifest.id)) + ", for example:"]
                    + skill.manifest.examples.map { "  " + Terminal.line($0) }
            }
    }

    static func table(_ list: SkillList, isVerbose: Bool) -> Table {
        if isVerbose {
            var table = Table(["SKILL", "VERSION", "WORKER", "HOST", "PID", "FREE", "BUSY"])
            for skill in list.skills {
                for worker in skill.workers {
                    table.add([
                        skill.manifest.id, skill.manifest.version, worker.id, worker.host, "\(worker.pid)",
                        "\(worker.credit)", "\(worker.busy)",
                    ])
                }
                if skill.workers.isEmpty {
                    table.add([skill.manifest.id, skill.manifest.version, "none", "", "", "", ""])
                }
            }
            return table
        }
        var table = Table(["SKILL", "WORKERS", "BUSY", "QUEUED", "DESCRIPTION"])
        for skill in list.skills {
            table.add([
                skill.manifest.id, "\(skill.workers.count)", "\(skill.workers.reduce(0) { $0 + $1.busy })",
                "\(skill.queued)", skill.manifest.description,
            ])
        }
        return table
    }
}
