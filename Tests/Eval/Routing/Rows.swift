import Glibc
import Intent
import Wire

/// The measures, one after the other.
struct Rows {
    let folder: String
    private var table = Table()

    init(folder: String) { self.folder = folder }

    mutating func print() {
        table.head()
        full("SNIPS-7", "snips7.train.tsv", "snips7", must: 98, "98.0", "96.3")
        full("HWU64", "hwu64.train.tsv", "hwu64", must: 89, "88.7", "90.5")
        full("MASSIVE en-US", "massive-en.train.tsv", "massive-en", must: 86, "85.6", "85.2")
        let hasTest = Utterances(folder, "banking77.test.tsv") != nil
        full(
            "BANKING77",
            hasTest ? "banking77.train.tsv" : "banking77.dev-train.tsv",
            "banking77.dev",
            must: 92,
            "91.9",
            "93.1"
        )
        full("CLINC150, in scope only", "clinc150.train.tsv", "clinc150", must: 93.2, "93.0", "95.2")
        rejection()
        chinese()
        for (set, name, musts) in [
            ("clinc150", "CLINC150", [77.0, 81.4, 55]), ("banking77", "BANKING77", [67, 74.9, 48]),
            ("hwu64", "HWU64", [65, 70.5, 40]),
        ] {
            few(set, name, musts)
        }
        several()
        own()
        speed()
    }

    private func part(_ set: String) -> Utterances? {
        Utterances(
            folder,
            "\(set).test.tsv",
            "\(set.replacingSuffix(".dev")).test.tsv",
            "\(set).val.tsv",
            "\(set)-val.tsv"
        )
    }

    /// How often the best skill is the right one.
    private func accuracy(_ model: IntentModel, _ utterances: Utterances) -> Double {
        let cases = utterances.inScope.cases
        let right = cases.count { item in
            model.decide(RoutingQuestion(text: item.utterance, wantsReasons: false)).scores.first?.skill
                == item.expected.skills.first
        }
        return Double(right) / Double(max(cases.count, 1))
    }

    private mutating func full(
        _ name: String,
        _ train: String,
        _ set: String,
        must: Double,
        _ classical: String,
        _ transformer: String
    ) {
        guard let train = Utterances(folder, train), let test = part(set) else { return }
        let model = IntentModel(manifests: train.manifests()).trained()
        table.row(name, [accuracy(model, test)], must: [must], classical: classical, transformer: transformer)
    }

    /// With a scope and thresholds fitted on one half of the validation part and measured on the other where there is no
    /// test part.
    private mutating func rejection() {
        guard let train = Utterances(folder, "clinc150.train.tsv"), let val = Utterances(folder, "clinc150.val.tsv")
        else { return }
        let model = IntentModel(manifests: train.manifests()).trained()
        var counts = Rejection()
        if let test = Utterances(folder, "clinc150.test.tsv") {
            counts.add(model.with(model.fitted(to: val.cases)), test.cases)
        } else {
            let cases = val.cases
            for half in 0..<2 {
                let fitted = model.fitted(to: cases.enumerated().filter { $0.offset % 2 != half }.map(\.element))
                counts.add(model.with(fitted), cases.enumerated().filter { $0.offset % 2 == half }.map(\.element))
            }
        }
        table.row(
            "CLINC150 with refusal: in scope / refused (recall)",
            [counts.inScope, counts.recall],
            must: [88, 90],
            classical: "87.6 / 86.4",
            transformer: "84.3 / 93.5"
        )
        table.row(
            "  F1 of refusals, at 1,000 in 5,500",
            [counts.f1],
            must: [79],
            classical: "75.7",
            transformer: "71.6"
        )
    }

    /// Five parts, each in turn measured with what the others taught, where there is no test part.
    private mutating func chinese() {
        guard let all = Utterances(folder, "xsid-zh.val.tsv") else { return }
        var values: [Double] = []
        if let test = Utterances(folder, "xsid-zh.test.tsv") {
            values.append(accuracy(IntentModel(manifests: all.manifests()).trained(), test))
        } else {
            for fold in 0..<5 {
                let train = all.lines.enumerated().filter { $0.offset % 5 != fold }.map(\.element)
                let test = all.lines.enumerated().filter { $0.offset % 5 == fold }.map(\.element)
                let model = IntentModel(manifests: Utterances(train).manifests()).trained()
                values.append(accuracy(model, Utterances(test)))
            }
        }
        let mean = values.reduce(0, +) / Double(values.count)
        table.row("xSID, Chinese", [mean], must: [93.5], classical: "93.2")
    }

    private mutating func few(_ set: String, _ name: String, _ musts: [Double]) {
        guard let test = part(set == "banking77" ? "banking77.dev" : set) else { return }
        let best = [
            "clinc150": ["73.6", "81.4", "54.7"], "banking77": ["66.1", "74.9", "47.4"],
            "hwu64": ["63.9", "70.5", "37.0"],
        ]
        let transformer = [
            "clinc150": ["87.0", "90.2", "68.4"], "banking77": ["80.7", "86.4", "62.2"],
            "hwu64": ["76.2", "83.4", "54.0"],
        ]
        for (position, count) in [5, 10].enumerated() {
            guard let train = Utterances(folder, "\(set).train\(count).tsv") else { continue }
            let model = IntentModel(manifests: train.manifests()).trained()
            table.row(
                "\(name), \(count) examples a skill",
                [accuracy(model, test)],
                must: [musts[position]],
                classical: best[set]?[position] ?? "-",
                transformer: transformer[set]?[position] ?? "-"
            )
        }
        guard let train = Utterances(folder, "\(set).train5.tsv") else { return }
        let model = IntentModel(manifests: train.manifests(withExamples: false)).trained()
        table.row(
            "\(name), names only",
            [accuracy(model, test)],
            must: [musts[2]],
            classical: best[set]?[2] ?? "-",
            transformer: transformer[set]?[2] ?? "-"
        )
    }

    /// Learned from single intents only.
    private mutating func several() {
        guard let train = Utterances(folder, "snips7.train.tsv"), let val = Utterances(folder, "snips7.val.tsv"),
            let mixed = part("mixsnips-clean")
        else { return }
        let trained = IntentModel(manifests: train.manifests()).trained()
        let model = trained.with(trained.fitted(to: val.cases))
        let cases = mixed.cases
        let right = cases.count { item in
            let found = model.decide(RoutingQuestion(text: item.utterance, wantsReasons: false)).plan.steps.map(\.skill)
            return Set(found) == Set(item.expected.skills)
        }
        table.row(
            "MixSNIPS, one to three intents, exact set",
            [Double(right) / Double(cases.count)],
            must: [93],
            classical: "91.7"
        )
    }

    /// The project's own kind of set: plans, follow-ups, pastes, denials.
    private mutating func own() {
        guard
            let bytes = Utterances.content("\(folder)/skills-test.jsonl")
                ?? Utterances.content("\(folder)/skills-dev.jsonl"),
            let cases = try? IntentEvaluation.cases(jsonLines: bytes),
            let registered = Utterances.content("\(folder)/skills.json"),
            let described = try? JSONBody.decode([Registration].self, from: registered)
        else { return }
        for (name, withExamples, musts) in [("descriptions only", false, [50.0]), ("with their examples", true, [76])] {
            let manifests = described.map { skill in
                SkillManifest(
                    id: skill.id,
                    description: skill.description,
                    examples: withExamples ? skill.examples : [],
                    priority: skill.priority
                )
            }
            let model = IntentModel(manifests: manifests).trained()
            let result = IntentEvaluation(model, cases: cases)
            table.row(
                "Seven skills, \(name): exact plan",
                [result.exact.value],
                must: musts,
                classical: withExamples ? "64.8" : "30.0",
                transformer: withExamples ? "75.0" : "41.2"
            )
            guard withExamples else { continue }
            let modes = ["parallel", "chain"].map { result.byMode[$0]?.value ?? 0 }
            table.row("  parallel / chain", modes, must: [70, 70], classical: "38 / 58", transformer: "41 / 64")
            let none = [result.noneRecall.value, result.nonePrecision.value]
            table.row("  none: recall / precision", none, must: [80, 80], classical: "40 / 59", transformer: "75 / 83")
            table.row(
                "  asked back: of what is right / of what is wrong",
                asked(model, cases),
                must: [],
                classical: "-"
            )
        }
    }

    /// How often the user would be asked which of two skills is meant, where the better one is right and where it is not.
    private func asked(_ model: IntentModel, _ cases: [IntentEvaluation.Case]) -> [Double] {
        var right = IntentEvaluation.Share()
        var wrong = IntentEvaluation.Share()
        for item in cases {
            let decision = model.decide(item.question)
            let isRight = decision.plan.steps.map(\.skill) == item.expected.skills
            if isRight { right.count(!decision.candidates.isEmpty) } else { wrong.count(!decision.candidates.isEmpty) }
        }
        return [right.value, wrong.value]
    }

    private struct Registration: Decodable {
        let id: String
        let priority: Int
        let description: String
        let examples: [String]
    }

    private mutating func speed() {
        guard let train = Utterances(folder, "clinc150.train10.tsv"), let val = Utterances(folder, "clinc150.val.tsv")
        else { return }
        let model = IntentModel(manifests: train.manifests()).trained()
        var times = val.lines.map { line in
            Clock.microseconds { _ = model.decide(RoutingQuestion(text: line.text, wantsReasons: false)) }
        }
        times.sort()
        table.row(
            "A decision among 150 skills: median / 99 of 100",
            times: [times[times.count / 2], times[times.count * 99 / 100]],
            unit: "us",
            most: [100, 500]
        )
        let long =
            "summarize this: " + String(repeating: "The committee met again on Monday to discuss it. ", count: 205)
        let paste = (0..<50).map { _ in
            Clock.microseconds { _ = model.decide(RoutingQuestion(text: long, wantsReasons: false)) }
        }
        table.row("  10,000 characters, worst of 50", times: [(paste.max() ?? 0) / 1000], unit: "ms", most: [1])
        let some = Array(train.manifests().prefix(20))
        let before = IntentModel(manifests: Array(some.dropLast()))
        let live = Clock.microseconds { _ = IntentModel(manifests: some, reusing: before) }
        let refit = Clock.microseconds { _ = IntentModel(manifests: some).trained() }
        table.row(
            "A skill registers, 20 in all: live / learned",
            times: [live / 1000, refit / 1000],
            unit: "ms",
            most: [5, 100]
        )
    }
}

/// How right refusals are.
private struct Rejection {
    private var cases = 0
    private var right = 0
    private var others = 0
    private var refused = 0
    private var refusedInScope = 0

    mutating func add(_ model: IntentModel, _ given: [IntentEvaluation.Case]) {
        for item in given {
            let steps = model.decide(RoutingQuestion(text: item.utterance, wantsReasons: false)).plan.steps
            if item.expected.skills.isEmpty {
                others += 1
                if steps.isEmpty { refused += 1 }
            } else {
                cases += 1
                if steps.isEmpty { refusedInScope += 1 }
                if steps.map(\.skill) == item.expected.skills { right += 1 }
            }
        }
    }

    var inScope: Double { Double(right) / Double(max(cases, 1)) }
    var recall: Double { Double(refused) / Double(max(others, 1)) }
    /// As it would be were 1,000 of 5,500 utterances out of scope, as in the official test part.
    var f1: Double {
        let found = recall * 1000
        let wrong = Double(refusedInScope) / Double(max(cases, 1)) * 4500
        return 2 * found / (2 * found + wrong + 1000 - found)
    }
}

private enum Clock {
    static func microseconds(_ body: () -> Void) -> Double {
        let start = now()
        body()
        return (now() - start) * 1e6
    }

    /// Of this thread's own time: another process's share of the machine is not counted.
    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
