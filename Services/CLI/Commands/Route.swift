internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus route`: which skills a text would go to, and why. Nothing is run.
enum RouteCommand {
    static let entry = CommandEntry(
        Command(
            "skillbus route",
            "show which skills a text would go to, without running it",
            operands: "TEXT...",
            options: [
                .flag("explain", short: "e", "every skill's score, with its reasons; with --eval: every mistake"),
                .value("eval", "FILE", "measure the routing against labelled lines of JSON, instead of TEXT"),
                .value(
                    "fit",
                    "FILE",
                    "find the thresholds with which most labelled lines come out right, and print them"
                ),
                .value("manifests", "FILE", "with --eval or --fit: manifests as `skillbus skills --json` prints them"),
                .value("thresholds", "FILE", "with --eval: what --fit printed"),
                CommonOptions.json, CommonOptions.url,
            ],
            details: """
                A line for --eval and --fit is {"utterance": TEXT, "expected": {"mode": MODE, "skills": [NAME, ...]}}, with modes
                single, parallel, chain and none. It may have "lang" and "tags", for shares of each, and "prev", the
                skills of the turn before. Without --manifests those that are registered are measured.
                A router takes what --fit prints by skillbus-router --thresholds FILE.
                """
        ),
        operands: 0...1000,
        run
    )

    static func run(_ options: ParsedOptions) async throws -> Int32 {
        if let file = options.value("eval") {
            guard options.operands.isEmpty else { throw UsageError("give either a text or --eval FILE, not both") }
            guard options.value("fit") == nil else {
                throw UsageError("give either --eval FILE or --fit FILE, not both")
            }
            return try await RouteEvaluation.run(file, options)
        }
        if let file = options.value("fit") {
            guard options.operands.isEmpty else { throw UsageError("give either a text or --fit FILE, not both") }
            return try await RouteEvaluation.fit(file, options)
        }
        for name in ["manifests", "thresholds"] where options.value(name) != nil {
            throw UsageError("--\(name) goes with --eval FILE")
        }
        guard !options.operands.isEmpty else {
            throw UsageError("skillbus route needs TEXT..., --eval FILE or --fit FILE; see skillbus route --help")
        }
        let text = options.operands.joined(separator: " ")
        guard text.contains(where: { !$0.isWhitespace }) else { throw UsageError("the text is empty") }
        let client = try GatewayClient.fromEnvironment(url: options.value("url"))
        if options.flag("json") {
            try Output.json(try await client.call("POST", "/v1/route", body: ["text": .string(text)]))
            return ExitCode.success
        }
        let plan = try await client.route(text)
        for line in lines(plan, explains: options.flag("explain"), Output.style) { try Output.line(line) }
        return ExitCode.success
    }

    static func lines(_ plan: Plan, explains: Bool, _ style: Style) -> [String] {
        var lines: [String] = []
        if plan.mode == .none || plan.steps.isEmpty {
            lines.append("mode: none (no skill serves this)")
        } else {
            lines.append("mode: \(plan.mode.rawValue)")
            for step in plan.steps {
                let after = step.after.isEmpty ? "" : "  after \(step.after.joined(separator: ", "))"
                var arguments = ""
                if let members = step.arguments.object, !members.isEmpty,
                    let bytes = try? JSONBody.encode(step.arguments)
                {
                    arguments = "  " + Terminal.line(String(decoding: bytes, as: UTF8.self))
                }
                lines.append("  \(step.id)  \(style.bold(Terminal.line(step.skill)))\(after)\(arguments)")
            }
        }
        if let candidates = plan.candidates, !candidates.isEmpty {
            let names = candidates.map { style.bold(Terminal.line($0.skill)) }.joined(separator: " or ")
            lines.append("unclear: \(names); whoever can be asked is asked which is meant")
        }
        if explains, let scores = plan.scores {
            let chosen = Set(plan.steps.map(\.skill))
            var table = Table(["", "SKILL", "SCORE", "REASONS"])
            for score in scores {
                table.add([
                    chosen.contains(score.skill) ? "*" : "", score.skill, decimals(score.score),
                    score.reasons.joined(separator: "; "),
                ])
            }
            lines.append("")
            lines += table.lines(style)
        }
        return lines
    }

    /// Three decimals.
    static func decimals(_ value: Double) -> String {
        guard value.isFinite else { return "-" }
        let thousandths = Int((abs(value) * 1000).rounded())
        let digits = "\(thousandths % 1000)"
        let sign = value < 0 && thousandths > 0 ? "-" : ""
        return "\(sign)\(thousandths / 1000)." + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
