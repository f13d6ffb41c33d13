internal import SessionStore
internal import Wire

/// The question whether data may go to an outside party, as the user reads it.
struct ApprovalQuestion {
    let disclosure: Disclosure
    private let skill: String

    init(skill: String, _ disclosure: Disclosure) {
        self.skill = skill
        self.disclosure = disclosure
    }

    var words: String {
        let purpose = disclosure.purpose.isEmpty ? "" : " (\(disclosure.purpose))"
        return "May \(skill) send \(disclosure.bytes) bytes to \(disclosure.party)\(purpose)?"
    }
}

/// What the user has been asked within one request, and has answered: each party is asked about once.
struct Approvals {
    private struct Entry {
        var isAllowed: Bool?
        /// Who waits for the answer.
        var waiting: Set<Execution> = []
    }
    private var entries: [String: Entry] = [:]

    /// What follows from a question of a job.
    enum Step: Equatable {
        /// The user is to be asked.
        case ask
        /// He has been, and has not answered as far as is known here.
        case wait
        case answer(Bool)
    }

    /// Parties without an answer, in order.
    var open: [String] { entries.filter { $0.value.isAllowed == nil && !$0.value.waiting.isEmpty }.keys.sorted() }

    /// A job asks.
    mutating func asked(_ party: String, by execution: Execution) -> Step {
        guard let known = entries[party] else {
            entries[party] = Entry(waiting: [execution])
            return .ask
        }
        if let isAllowed = known.isAllowed { return .answer(isAllowed) }
        entries[party]?.waiting.insert(execution)
        return .wait
    }

    /// There is an answer. The first one counts.
    /// - Returns: Those that wait for it.
    mutating func answered(_ party: String, isAllowed: Bool) -> [Execution] {
        guard entries[party]?.isAllowed == nil else { return [] }
        let waiting = entries[party]?.waiting ?? []
        entries[party] = Entry(isAllowed: isAllowed)
        return waiting.sorted { $0.job < $1.job }
    }
}
