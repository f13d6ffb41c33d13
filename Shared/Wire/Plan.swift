/// The steps that a request will take. A value: made by the router, stored and shown by the gateway before it runs.
public struct Plan: Codable, Hashable, Sendable {
    /// The shape of the plan.
    public enum Mode: String, Codable, Sendable {
        /// One step.
        case single
        /// Independent steps at the same time.
        case parallel
        /// Steps that need the output of earlier ones.
        case chain
        /// No step: nothing serves the request.
        case none
    }

    /// One step.
    public struct Step: Codable, Hashable, Sendable {
        /// `s1`, `s2`, ...: the number is the job's step number.
        public var id: String
        /// The skill that runs it.
        public var skill: String
        /// Steps whose output it needs.
        public var after: [String]
        /// Arguments for the skill.
        public var arguments: JSONValue

        /// Makes a step.
        public init(number: UInt16, skill: String, after: [String] = [], arguments: JSONValue = [:]) {
            id = "s\(number)"
            self.skill = skill
            self.after = after
            self.arguments = arguments
        }

        /// The step number of the id; nil if the id is none.
        public var number: UInt16? { id.first == "s" ? UInt16(id.dropFirst()) : nil }
    }

    /// How well a skill fits, and why.
    public struct Score: Codable, Hashable, Sendable {
        /// The skill.
        public var skill: String
        /// 0 to 1.
        public var score: Double
        /// What made the score, largest share first.
        public var reasons: [String]

        /// Makes a score.
        public init(skill: String, score: Double, reasons: [String] = []) {
            self.skill = skill
            self.score = score
            self.reasons = reasons
        }
    }

    /// A skill that fits as well as another, by all that can be told from a text.
    public struct Candidate: Codable, Hashable, Sendable {
        /// The skill.
        public var skill: String
        /// Its name for people.
        public var displayName: String
        /// 0 to 1.
        public var score: Double

        /// Makes a candidate.
        public init(skill: String, displayName: String, score: Double) {
            self.skill = skill
            self.displayName = displayName
            self.score = score
        }
    }

    /// Who chose the skills, where a model was to.
    public struct Decision: Codable, Hashable, Sendable {
        /// The router itself.
        public static let local = "local"
        /// ``local``, or the model's name.
        public var by: String
        /// Why it was not the model.
        public var reason: String?

        /// Makes a decision.
        public init(by: String, reason: String? = nil) {
            self.by = by
            self.reason = reason
        }
    }

    /// What a failed step does to the others. A word, so that one of a later version can be read and passed on.
    public struct FailurePolicy: RawRepresentable, Codable, Hashable, Sendable {
        /// The word.
        public var rawValue: String

        /// Takes a word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Steps that need its output do not run, all others go on; the request gets what they made.
        public static let goOn = FailurePolicy(rawValue: "continue")
    }

    /// The shape.
    public var mode: Mode
    /// The steps, in an order in which each comes after those it needs.
    public var steps: [Step]
    /// What a failed step does to the others; nil where there are no others.
    public var onFailure: FailurePolicy?
    /// Every skill's score, best first; only when asked for.
    public var scores: [Score]?
    /// The skills between which the text does not decide, best first; only in the answer to a question. The first is the
    /// one of the plan.
    public var candidates: [Candidate]?
    /// Who chose, where a model was to; nil where nobody asked for that.
    public var decision: Decision?

    /// Makes a plan. One of several steps goes on where a step fails.
    public init(mode: Mode, steps: [Step], scores: [Score]? = nil, candidates: [Candidate]? = nil) {
        self.mode = mode
        self.steps = steps
        onFailure = steps.count > 1 ? .goOn : nil
        self.scores = scores
        self.candidates = candidates
    }

    /// A plan of one step, as for a request that names its skill.
    public static func single(_ skill: String, arguments: JSONValue = [:]) -> Plan {
        Plan(mode: .single, steps: [Step(number: 1, skill: skill, arguments: arguments)])
    }
}

/// Why a plan cannot run.
public enum PlanError: Error, Equatable, Sendable {
    /// More steps than ``Limits/planSteps``.
    case tooManySteps(Int)
    /// A longer way than ``Limits/planDepth``.
    case tooDeep(Int)
    /// Step numbers are not 1, 2, 3, ...
    case badStepID(String)
    /// A step needs one that does not come before it; so there is no cycle either.
    case badDependency(step: String, after: String)
}

extension Plan {
    /// Checks that the plan can run: numbered from 1, each step after those it needs, within the limits.
    public func validate() throws(PlanError) {
        guard steps.count <= Limits.planSteps else { throw .tooManySteps(steps.count) }
        var depths: [String: Int] = [:]
        for (index, step) in steps.enumerated() {
            guard step.number == UInt16(index + 1) else { throw .badStepID(step.id) }
            var depth = 1
            for needed in step.after {
                guard let known = depths[needed] else { throw .badDependency(step: step.id, after: needed) }
                depth = max(depth, known + 1)
            }
            guard depth <= Limits.planDepth else { throw .tooDeep(depth) }
            depths[step.id] = depth
        }
    }
}
