internal import Lifecycle
internal import SessionClient

/// Asks the person at the terminal which of several skills is meant.
struct SkillChoice: Sendable {
    private let prompt: Prompt
    /// Whether the prompt shows itself what it asks.
    private let showsPrompt: Bool

    /// Nil where nobody can be asked: with a pipe or a file at either end, nothing may wait for a person.
    init?(prompt: Prompt? = nil) {
        guard isTerminal(0), isTerminal(1), isTerminal(2) else { return nil }
        self.prompt = prompt ?? Prompt(nil)
        showsPrompt = prompt != nil
    }

    /// The skill that was chosen; nil for none.
    func callAsFunction(_ candidates: [RequestView.Candidate]) async throws(UsageError) -> String? {
        printError("More than one skill fits. Which do you mean?")
        for line in SkillChoice.lines(candidates) { printError(line) }
        while true {
            let question = "number or name, nothing for neither: "
            if !showsPrompt { printError(question, terminator: "") }
            guard let line = try await prompt.next(question) else {
                printError("")
                return nil
            }
            switch SkillChoice.read(line, candidates) {
            case .skill(let skill): return skill
            case .none: return nil
            case .unknown: printError("say 1 to \(candidates.count), or the name of one of these skills")
            }
        }
    }

    /// What was typed.
    enum Answer: Equatable {
        case skill(String)
        case none
        case unknown
    }

    /// A number of the list, the id or the name of a skill in it, or the beginning of only one of these.
    static func read(_ line: String, _ candidates: [RequestView.Candidate]) -> Answer {
        let typed = String(line.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()).lowercased()
        guard !typed.isEmpty else { return .none }
        if typed.allSatisfy({ $0.wholeNumberValue != nil }) {
            let number = typed.reduce(0) { min($0, 1000) * 10 + ($1.wholeNumberValue ?? 0) }
            if candidates.indices.contains(number - 1) { return .skill(candidates[number - 1].skill) }
        }
        func found(_ matches: (String) -> Bool) -> [RequestView.Candidate] {
            candidates.filter { matches($0.skill.lowercased()) || matches($0.displayName.lowercased()) }
        }
        let exact = found { $0 == typed }
        if let skill = exact.first?.skill { return .skill(skill) }
        let beginning = found { $0.hasPrefix(typed) }
        return beginning.count == 1 ? .skill(beginning[0].skill) : .unknown
    }

    /// The list that is shown.
    static func lines(_ candidates: [RequestView.Candidate]) -> [String] {
        candidates.enumerated().map { number, candidate in
            let name = candidate.displayName == candidate.skill ? "" : "\(candidate.displayName), "
            let score = candidate.score.map { "  (\(RouteCommand.decimals($0)))" } ?? ""
            return "  \(number + 1)  \(Terminal.line(name + candidate.skill))\(score)"
        }
    }
}
