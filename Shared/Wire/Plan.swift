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

    /// The shape.
    public var mode: Mode
    /// The steps, in an order in which each comes after those it needs.
    public var steps: [Step]
    /// Every skill's score, best first; only when asked for.
    public var scores: [Score]?

    /// Makes a plan.
    public init(mode: Mode, steps: [Step], scores: [Score]? = nil) {
        self.mode = mode
        self.steps = steps
        self.scores = scores
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
