public import Wire

/// Measures a model against labelled utterances.
public struct IntentEvaluation: Sendable {
    /// A labelled utterance: one line of a JSONL file.
    public struct Case: Codable, Sendable {
        /// What should come out.
        public struct Expected: Codable, Sendable {
            /// The plan's mode.
            public var mode: Plan.Mode
            /// Its skills; their order counts in a chain.
            public var skills: [String]

            /// Makes a label.
            public init(mode: Plan.Mode, skills: [String]) {
                self.mode = mode
                self.skills = skills
            }
        }

        /// What a user says.
        public var utterance: String
        /// The right plan.
        public var expected: Expected
        /// Its language, for the figures by language.
        public var lang: String?
        /// Marks for the figures by mark.
        public var tags: [String]?
        /// The skills of the turn before.
        public var prev: [String]?

        /// Makes a case.
        public init(
            utterance: String,
            expected: Expected,
            lang: String? = nil,
            tags: [String]? = nil,
            prev: [String]? = nil
        ) {
            self.utterance = utterance
            self.expected = expected
            self.lang = lang
            self.tags = tags
            self.prev = prev
        }

        /// The question that the case asks: with the turn before as history, if it has one.
        public var question: RoutingQuestion {
            guard let prev, !prev.isEmpty else { return RoutingQuestion(text: utterance) }
            return RoutingQuestion(
                text: utterance,
                history: [
                    JobInput.Turn(role: "user", text: "", skills: prev), JobInput.Turn(role: "assistant", text: ""),
                ]
            )
        }
    }

    /// A case that came out wrong.
    public struct Mistake: Sendable {
        /// The case.
        public let `case`: Case
        /// What came out.
        public let plan: Plan
        /// The best scores.
        public let scores: [Plan.Score]
    }

    /// How often something was right.
    public struct Share: Sendable {
        /// How often.
        public internal(set) var right = 0
        /// Of how many.
        public internal(set) var of = 0

        /// 0 to 1; 0 of none.
        public var value: Double { of == 0 ? 0 : Double(right) / Double(of) }

        /// Nothing yet.
        public init() {}

        /// One more.
        public mutating func count(_ isRight: Bool) {
            of += 1
            if isRight { right += 1 }
        }
    }

    /// Cases whose mode and skills were right.
    public private(set) var exact = Share()
    /// The same by mode, by language (`lang`) and by mark (`tags`).
    public private(set) var byMode: [String: Share] = [:]
    /// The same by language.
    public private(set) var byLanguage: [String: Share] = [:]
    /// The same by mark.
    public private(set) var byTag: [String: Share] = [:]
    /// F1 by skill, 0 to 1.
    public private(set) var perSkill: [String: Double] = [:]
    /// Of the cases that nothing serves, those that were refused.
    public private(set) var noneRecall = Share()
    /// Of the cases that were refused, those that nothing serves.
    public private(set) var nonePrecision = Share()
    /// Half of the decisions took at most this long.
    public private(set) var p50Microseconds = 0.0
    /// 99 of 100 decisions took at most this long.
    public private(set) var p99Microseconds = 0.0
    /// What came out wrong, in the order of the cases.
    public private(set) var mistakes: [Mistake] = []

    /// Runs the cases.
    /// - Parameters:
    ///   - model: What is measured.
    ///   - cases: What it is asked.
    ///   - nanoseconds: A clock that never goes back; this module reads none itself.
    public init(_ model: IntentModel, cases: [Case], nanoseconds: () -> UInt64 = { 0 }) {
        var counts: [String: (both: Int, wrong: Int, missed: Int)] = [:]
        var times: [UInt64] = []
        for item in cases {
            let question = item.question
            let start = nanoseconds()
            let decision = model.decide(question)
            times.append(nanoseconds() &- start)
            let found = decision.plan.steps.map(\.skill)
            let mode = decision.plan.mode
            let isSame = mode == .chain ? found == item.expected.skills : Set(found) == Set(item.expected.skills)
            let isRight = mode == item.expected.mode && isSame
            exact.count(isRight)
            byMode[item.expected.mode.rawValue, default: Share()].count(isRight)
            if let language = item.lang { byLanguage[language, default: Share()].count(isRight) }
            for tag in item.tags ?? [] { byTag[tag, default: Share()].count(isRight) }
            for skill in Set(found).union(item.expected.skills) {
                let isFound = found.contains(skill)
                let isExpected = item.expected.skills.contains(skill)
                counts[skill, default: (0, 0, 0)].both += isFound && isExpected ? 1 : 0
                counts[skill, default: (0, 0, 0)].wrong += isFound && !isExpected ? 1 : 0
                counts[skill, default: (0, 0, 0)].missed += !isFound && isExpected ? 1 : 0
            }
            if item.expected.mode == .none { noneRecall.count(mode == .none) }
            if mode == .none { nonePrecision.count(item.expected.mode == .none) }
            if !isRight {
                let best = Array(decision.scores.prefix(3))
                mistakes.append(Mistake(case: item, plan: decision.plan, scores: best))
            }
        }
        perSkill = counts.mapValues { Double(2 * $0.both) / Double(max(1, 2 * $0.both + $0.wrong + $0.missed)) }
        times.sort()
        if !times.isEmpty {
            p50Microseconds = Double(times[(times.count - 1) / 2]) / 1000
            p99Microseconds = Double(times[(times.count - 1) * 99 / 100]) / 1000
        }
    }

    /// Reads cases: one JSON object a line; empty lines are left out.
    /// - Parameter bytes: The file.
    /// - Returns: The cases, in order.
    /// - Throws: `WireError` that names the first bad line.
    public static func cases(jsonLines bytes: some Sequence<UInt8>) throws(WireError) -> [Case] {
        var cases: [Case] = []
        for (number, line) in Array(bytes).split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            do {
                cases.append(try JSONBody.decode(Case.self, from: line))
            } catch {
                throw .body(type: "labelled utterance", reason: "line \(number + 1): \(error)")
            }
        }
        return cases
    }
}
