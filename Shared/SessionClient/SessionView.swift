public import Wire

/// What a front end shows of a session: made from its events alone, by applying one after the other.
///
/// It knows no skill by name, skips types of events that it does not know, and is a value: two front ends that saw
/// the same events show the same.
public struct SessionView: Equatable, Sendable {
    /// The session; empty before the first event.
    public private(set) var session = ""
    /// The number of the last event.
    public private(set) var lastSeq: UInt64 = 0
    /// Requests in the order in which they were accepted.
    public private(set) var requests: [RequestView] = []
    /// Events that can no longer be had, as `from...to`.
    public private(set) var gaps: [ClosedRange<UInt64>] = []
    private var places: [String: Int] = [:]

    /// An empty session.
    public init() {}

    /// The request with an id.
    public subscript(request id: String) -> RequestView? { places[id].map { requests[$0] } }

    /// Whether a request has not ended.
    public var isBusy: Bool { requests.contains { !$0.state.isTerminal } }

    /// Takes the next event. One that was taken before changes nothing.
    public mutating func apply(_ event: SessionEvent) {
        if let seq = event.seq {
            guard seq > lastSeq || wasRestored(event) else { return }
            lastSeq = seq
        }
        session = event.session
        if event.type == SessionEvent.Kind.gap {
            if let from = event.data["from"]?.integer, let to = event.data["to"]?.integer, 0 <= from, from <= to {
                gaps.append(UInt64(from)...UInt64(to))
            }
            followsGap = true
            return
        }
        followsGap = false
        guard let id = event.request else { return }
        let place: Int
        if let known = places[id] {
            place = known
        } else {
            place = requests.count
            places[id] = place
            requests.append(RequestView(id: id))
        }
        requests[place].apply(event)
    }

    private var followsGap = false

    /// After a gap a store that was restored counts on from a lower number.
    private func wasRestored(_ event: SessionEvent) -> Bool { followsGap }
}

/// A request as it is shown.
public struct RequestView: Equatable, Sendable, Identifiable {
    /// Where a request stands.
    public enum State: String, Sendable {
        /// It runs, or waits to.
        case running
        /// It has an output.
        case finished
        /// It has an error.
        case failed
        /// The user gave it up.
        case cancelled

        /// Whether nothing more comes.
        public var isTerminal: Bool { self != .running }
    }

    /// A skill among which the user may choose.
    public struct Candidate: Equatable, Sendable {
        /// The skill.
        public var skill: String
        /// Its name for people.
        public var displayName: String
        /// How well it fits.
        public var score: Double?

        /// Makes a candidate.
        public init(skill: String, displayName: String, score: Double?) {
            self.skill = skill
            self.displayName = displayName
            self.score = score
        }
    }

    /// Whether data may go to an outside party.
    public struct Question: Equatable, Sendable {
        /// The party.
        public var party: String
        /// The question in words.
        public var text: String
        /// What can be answered.
        public var choices: [String]
        /// The job that waits for the answer.
        var job: String?
    }

    /// Its id.
    public let id: String
    /// What the user wrote.
    public private(set) var text = ""
    /// Files that came with it.
    public private(set) var attachments: [JobInput.Attachment] = []
    /// When it was accepted.
    public private(set) var time = ""
    /// The shape of its plan.
    public private(set) var mode: Plan.Mode?
    /// The scores, where they were asked for.
    public private(set) var scores: [Plan.Score] = []
    /// Its steps in plan order; then jobs that skills called.
    public private(set) var steps: [StepView] = []
    /// Where it stands.
    public private(set) var state = State.running
    /// Its output, once finished; of one that failed, what its steps had made before that.
    public private(set) var output: SkillOutput?
    /// Its error, once failed.
    public private(set) var error: JobError?
    /// Why it was cancelled.
    public private(set) var reason: String?
    /// Skills that fit equally well: the user is asked.
    public private(set) var candidates: [Candidate] = []
    /// Outside parties that were sent data.
    public private(set) var disclosures: [String] = []
    /// What the user is asked and has not answered, as far as the events tell.
    public private(set) var questions: [Question] = []

    init(id: String) { self.id = id }

    /// The steps that no other step needs: their outputs are the request's.
    public var lastSteps: [StepView] {
        let needed = Set(steps.flatMap(\.after))
        return steps.filter { ($0.isPlanned || mode == nil) && !needed.contains($0.id) }
    }

    mutating func apply(_ event: SessionEvent) {
        guard !state.isTerminal else { return }
        let data = event.data
        switch event.type {
        case SessionEvent.Kind.accepted:
            text = data["text"]?.string ?? ""
            time = event.time
            attachments = read([JobInput.Attachment].self, data["attachments"]) ?? []
        case SessionEvent.Kind.plan:
            mode = data["mode"]?.string.flatMap { Plan.Mode(rawValue: $0) }
            for step in data["steps"]?.array ?? [] {
                guard let id = step["id"]?.string else { continue }
                let place = place(ofStep: id, job: nil, skill: step["skill"]?.string ?? "")
                steps[place].planned(after: (step["after"]?.array ?? []).compactMap(\.string))
            }
            scores = read([Plan.Score].self, data["scores"]) ?? []
        case SessionEvent.Kind.clarify:
            candidates = (data["candidates"]?.array ?? []).compactMap { entry in
                (entry["skill"] ?? entry["id"])?.string.map {
                    Candidate(
                        skill: $0,
                        displayName: entry["displayName"]?.string ?? $0,
                        score: entry["score"]?.number
                    )
                }
            }
        case SessionEvent.Kind.disclosure:
            guard let party = data["party"]?.string else { return }
            if !disclosures.contains(party) { disclosures.append(party) }
            questions.removeAll { $0.party == party }
        case SessionEvent.Kind.approval:
            guard let party = data["party"]?.string else { return }
            questions.removeAll { $0.party == party }
            let choices = (data["choices"]?.array ?? []).compactMap(\.string)
            questions.append(
                Question(party: party, text: data["question"]?.string ?? "", choices: choices, job: event.job)
            )
        case SessionEvent.Kind.finished:
            state = .finished
            output = read(SkillOutput.self, data["output"])
        case SessionEvent.Kind.failed:
            state = .failed
            error = read(JobError.self, data["error"] ?? data)
            output = read(SkillOutput.self, data["output"])
        case SessionEvent.Kind.cancelled:
            state = .cancelled
            reason = data["reason"]?.string
        default:
            guard event.type.hasPrefix("job."), let id = event.step ?? event.job else { return }
            let place = place(ofStep: id, job: event.job, skill: event.skill ?? "")
            steps[place].apply(event)
            if event.type == SessionEvent.Kind.jobFinished || event.type == SessionEvent.Kind.jobFailed {
                questions.removeAll { $0.job == event.job }
            }
        }
        if state.isTerminal {
            questions = []
            for index in steps.indices { steps[index].requestEnded() }
        }
    }

    private mutating func place(ofStep id: String, job: String?, skill: String) -> Int {
        if let place = steps.firstIndex(where: { $0.id == id || ($0.job != nil && $0.job == job) }) { return place }
        steps.append(StepView(id: id, skill: skill))
        return steps.count - 1
    }
}

func read<Value: Decodable>(_ type: Value.Type, _ json: JSONValue?) -> Value? {
    guard let json, let bytes = try? JSONBody.encode(json) else { return nil }
    return try? JSONBody.decode(type, from: bytes)
}
