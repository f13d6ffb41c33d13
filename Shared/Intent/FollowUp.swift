internal import Wire

/// What a short text takes over from the conversation: "shorter", "and in Italian?", 那关键词呢.
struct FollowUp {
    /// Longer texts, in words and Han characters, speak for themselves.
    private static let longest = 16
    /// An assistant's or user's text from this length on is something to work on.
    private static let materialLength = 30
    private static let markedScore = 0.66
    private static let unmarkedScore = 0.5

    /// The skills of the last turn that had any.
    let skills: [Int]
    private let history: [JobInput.Turn]
    private let lastUser: Int?

    init(_ history: [JobInput.Turn], index: ManifestIndex) {
        self.history = history
        lastUser = history.lastIndex { $0.role == "user" }
        guard let lastUser else {
            skills = []
            return
        }
        skills = (history[lastUser].skills ?? []).compactMap { id in index.manifests.firstIndex { $0.id == id } }
    }

    /// The score that the last turn lends to its skills; 0 if the text is no follow-up.
    func score(_ result: SkillScorer.Result, length: Int, own: Double) -> Double {
        guard !skills.isEmpty, 1...Self.longest ~= length else { return 0 }
        if result.reading.grammar.contains(.followup) { return Self.markedScore }
        return own < 0.45 && result.missingDeed < 0.6 ? Self.unmarkedScore : 0
    }

    /// The text of the conversation that an instruction without one refers to.
    /// - Parameters:
    ///   - chosen: The skills that will run.
    ///   - asksForResult: Whether the instruction names what the last turn made: "the summary", 刚才的回答.
    ///   - split: Finds the material in an earlier text of the user.
    /// - Returns: The text, if there is one.
    func material(
        for chosen: [Int],
        asksForResult: Bool,
        split: (String) -> String?
    ) -> String? {
        guard let lastUser else { return nil }
        let answer = history[lastUser...].last { $0.role == "assistant" }?.text
        let longAnswer = answer.flatMap { isMaterial($0) ? $0 : nil }
        if asksForResult, let answer, !answer.isEmpty { return answer }
        // The text that was given earlier, also some turns ago: each "shorter" works on the original.
        for turn in history[...lastUser].reversed().prefix(4) where turn.role == "user" {
            if let material = split(turn.text) { return material }
            if isMaterial(turn.text), InstructionSplitter.visualLength(Array(turn.text.utf8)[...]) > 60 {
                return turn.text
            }
        }
        return longAnswer
    }

    private func isMaterial(_ text: String) -> Bool {
        InstructionSplitter.visualLength(Array(text.utf8)[...], limit: Self.materialLength) >= Self.materialLength
    }
}
