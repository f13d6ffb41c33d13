internal import Glibc
internal import Intent
internal import Lifecycle
internal import SessionClient
internal import Wire

/// `skillbus route --eval FILE`: how often the routing is right, by kind of plan, by language and by mark.
enum RouteEvaluation {
    /// Bytes of a file of labels, or of manifests.
    private static let limit = 64 << 20
    /// So many kinds of mistakes are shown without `--explain`.
    private static let mostConfused = 10
    /// Characters that are shown of an utterance.
    private static let longest = 160

    static func run(_ file: String, _ options: ParsedOptions) async throws -> Int32 {
        let cases = try await cases(file)
        let manifests = try await manifests(options)
        let thresholds: RoutingThresholds
        do {
            thresholds = try options.value("thresholds").map { try RoutingThresholds(file: $0) } ?? RoutingThresholds()
        } catch {
            throw UsageError("--thresholds: \(error)")
        }
        let result = await onThread {
            IntentEvaluation(IntentModel(manifests: manifests).trained(thresholds), cases: cases) {
                var time = timespec()
                clock_gettime(CLOCK_MONOTONIC, &time)
                return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
            }
        }
        if options.flag("json") {
            try Output.json(json(result, explains: options.flag("explain")))
        } else {
            for line in lines(result, explains: options.flag("explain"), Output.style) { try Output.line(line) }
        }
        return ExitCode.success
    }

    /// `skillbus route --fit FILE`: prints thresholds as JSON.
    static func fit(_ file: String, _ options: ParsedOptions) async throws -> Int32 {
        let cases = try await cases(file)
        let manifests = try await manifests(options)
        let fitted = await onThread { IntentModel(manifests: manifests).trained().fitted(to: cases) }
        try Output.line(String(decoding: try JSONBody.encode(fitted), as: UTF8.self))
        return ExitCode.success
    }

    private static func cases(_ file: String) async throws -> [IntentEvaluation.Case] {
        let cases: [IntentEvaluation.Case]
        do {
            cases = try IntentEvaluation.cases(jsonLines: try await content(of: file))
        } catch let error as WireError {
            throw UsageError("\(file): \(error)")
        }
        guard !cases.isEmpty else { throw UsageError("\(file) has no labelled line") }
        return cases
    }

    private static func content(of file: String) async throws -> [UInt8] {
        let descriptor = file == "-" ? 0 : open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw UsageError("cannot read \(file): \(String(cString: strerror(errno)))") }
        defer { if descriptor != 0 { close(descriptor) } }
        guard let bytes = try await readAll(descriptor, named: file, limit: limit) else {
            throw UsageError("\(file) has more than \(limit) bytes, which is the limit")
        }
        return bytes
    }

    /// Those of the file, a list or what `skillbus skills --json` prints; else those that are registered.
    private static func manifests(_ options: ParsedOptions) async throws -> [SkillManifest] {
        let manifests = try await given(options)
        guard !manifests.isEmpty else {
            throw CommandFailure("no skill is registered: start workers, or give --manifests FILE")
        }
        return manifests
    }

    private static func given(_ options: ParsedOptions) async throws -> [SkillManifest] {
        guard let file = options.value("manifests") else {
            let client = try GatewayClient.fromEnvironment(url: options.value("url"))
            return try await client.skills().skills.map(\.manifest)
        }
        let bytes = try await content(of: file)
        do {
            if let list = try? JSONBody.decode([SkillManifest].self, from: bytes) { return list }
            return try JSONBody.decode(SkillList.self, from: bytes).skills.map(\.manifest)
        } catch {
            throw UsageError("\(file) has no manifests, as `skillbus skills --json` prints them: \(error)")
        }
    }

    /// Thousands of decisions: on a thread of its own, for a task must not be kept for so long.
    private static func onThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            startThread(named: "evaluation") { continuation.resume(returning: work()) }
        }
    }

    /// What came out where something else was right, and how often; the most frequent first.
    private static func confusion(_ result: IntentEvaluation) -> [(expected: String, found: String, times: Int)] {
        var times: [[String]: Int] = [:]
        for mistake in result.mistakes {
            times[[mistake.expected, mistake.found], default: 0] += 1
        }
        return times.map { (expected: $0.key[0], found: $0.key[1], times: $0.value) }
            .sorted { (-$0.times, $0.expected, $0.found) < (-$1.times, $1.expected, $1.found) }
    }

    static func lines(_ result: IntentEvaluation, explains: Bool, _ style: Style) -> [String] {
        var table = Table(["", "RIGHT", "OF", "SHARE"])
        func add(_ name: String, _ share: IntentEvaluation.Share) {
            table.add([name, "\(share.right)", "\(share.of)", RouteCommand.decimals(share.value)])
        }
        add("all", result.exact)
        for (word, shares) in [("mode", result.byMode), ("language", result.byLanguage), ("tag", result.byTag)] {
            for (name, share) in shares.sorted(by: { $0.key < $1.key }) { add("\(word) \(name)", share) }
        }
        add("refused rightly, of what none serves", result.noneRecall)
        add("refused rightly, of what was refused", result.nonePrecision)
        var skills = Table(["SKILL", "F1"])
        for (skill, value) in result.perSkill.sorted(by: { $0.key < $1.key }) {
            skills.add([skill, RouteCommand.decimals(value)])
        }
        let median = RouteCommand.decimals(result.p50Microseconds / 1000)
        let slow = RouteCommand.decimals(result.p99Microseconds / 1000)
        var confused = Table(["EXPECTED", "FOUND", "TIMES"])
        for pair in confusion(result).prefix(explains ? .max : mostConfused) {
            confused.add([Terminal.line(pair.expected), Terminal.line(pair.found), "\(pair.times)"])
        }
        var lines = table.lines(style) + [""] + skills.lines(style)
        if !result.mistakes.isEmpty { lines += [""] + confused.lines(style) }
        if explains && !result.mistakes.isEmpty {
            lines.append("")
            for mistake in result.mistakes {
                let utterance = mistake.case.utterance.prefix(longest)
                lines.append(Terminal.line("\(mistake.expected) -> \(mistake.found): \(utterance)"))
                for score in mistake.scores.prefix(2) {
                    let reasons = ([RouteCommand.decimals(score.score)] + score.reasons).joined(separator: "; ")
                    lines.append(Terminal.line("    \(score.skill) \(reasons)"))
                }
            }
        }
        return lines + ["", "a decision took \(median) ms (median), \(slow) ms (99 of 100)"]
    }

    private static func json(_ result: IntentEvaluation, explains: Bool) -> JSONValue {
        func shares(_ shares: [String: IntentEvaluation.Share]) -> JSONValue {
            .object(shares.mapValues { .number($0.value) })
        }
        let confused = confusion(result).map { pair -> JSONValue in
            ["expected": .string(pair.expected), "found": .string(pair.found), "times": .integer(Int64(pair.times))]
        }
        var members: [String: JSONValue] = [
            "confusion": .array(confused),
            "cases": .integer(Int64(result.exact.of)), "exact_match": .number(result.exact.value),
            "per_skill": .object(result.perSkill.mapValues { .number($0) }), "per_mode": shares(result.byMode),
            "per_language": shares(result.byLanguage), "per_tag": shares(result.byTag),
            "none_recall": .number(result.noneRecall.value), "none_precision": .number(result.nonePrecision.value),
            "p50_us": .number(result.p50Microseconds), "p99_us": .number(result.p99Microseconds),
        ]
        if explains {
            members["mistakes"] = .array(
                result.mistakes.map { mistake in
                    [
                        "utterance": .string(mistake.case.utterance),
                        "expected": .string(mistake.expected), "found": .string(mistake.found),
                    ]
                }
            )
        }
        return .object(members)
    }
}

extension IntentEvaluation.Mistake {
    /// What was right, in short.
    fileprivate var expected: String { Self.name(self.case.expected.mode, self.case.expected.skills) }
    /// What came out, in short.
    fileprivate var found: String { Self.name(plan.mode, plan.steps.map(\.skill)) }

    private static func name(_ mode: Plan.Mode, _ skills: [String]) -> String {
        switch mode {
        case .none: "none"
        case .single: skills.joined()
        case .parallel: skills.sorted().joined(separator: " + ")
        case .chain: skills.joined(separator: " > ")
        }
    }
}
