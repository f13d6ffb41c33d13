/// The NACK by which a router asks back: a JSON error of the code `ambiguous` that names the skills to choose from. Whoever
/// does not know them reads it as any other error.
public struct Clarification: Codable, Hashable, Sendable {
    /// Always ``JobError/Code/ambiguous``.
    public var code: String
    /// The question.
    public var message: String
    /// What the user can do.
    public var hint: String?
    /// Two or more skills, best first.
    public var candidates: [Plan.Candidate]

    /// Asks which of some skills is meant.
    public init(between candidates: [Plan.Candidate]) {
        code = JobError.Code.ambiguous
        let names = candidates.map { $0.displayName.isEmpty ? $0.skill : $0.displayName }
        message = "More than one skill fits: \(names.joined(separator: " or "))?"
        hint = "name the one that you mean: \(candidates.map(\.skill).joined(separator: ", "))"
        self.candidates = candidates
    }

    /// The same without the candidates.
    public var error: JobError { JobError(code: code, message: message, hint: hint) }
}
