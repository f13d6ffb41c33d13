internal import SessionStore
internal import Wire

/// Something that happened to a request and is to be stored. The state machine makes these; `EventComposer` turns
/// them into events.
enum Occurrence: Equatable, Sendable {
    /// What a job reports.
    enum Report: Equatable, Sendable {
        case started(JobStarted)
        case thinking(String)
        case progress(JobProgress)
        case delta(String)
        /// JSON of a `SkillOutput`.
        case partial([UInt8])
        case retrying(JobRetrying)
        /// JSON of a `JobFinished`.
        case finished([UInt8], cached: Bool)
        case failed(JobError)
        /// JSON of what is disclosed.
        case disclosure([UInt8])
        /// May this be sent?
        case approval(Disclosure)

        /// Whether it says nothing; it has its number all the same.
        var isEmpty: Bool { self == .delta("") || self == .thinking("") }

        /// Whether the job is over with it.
        var isTerminal: Bool {
            switch self {
            case .finished, .failed: true
            default: false
            }
        }
    }

    /// How a request ends.
    enum End: Equatable, Sendable {
        case finished(SkillOutput, errors: [StepError])
        case failed(JobError)
        /// It failed, and steps before that had made something.
        case incomplete(JobError, SkillOutput)
        case cancelled(reason: String)

        /// As the store has it.
        var state: RequestState {
            switch self {
            case .finished: .finished
            case .failed, .incomplete: .failed
            case .cancelled: .cancelled
            }
        }
    }

    /// The router's plan.
    case plan(Plan)
    /// The router asks which of these skills is meant.
    case clarify([Plan.Candidate])
    /// A report of a job. `sequence` is its number in the attempt, 0 if the router made it.
    case job(Execution, skill: String, sequence: UInt64, Report)
    /// Somebody wants the request to end.
    case cancelRequested
    /// It goes out under a new generation.
    case generation(UInt32)
    /// It goes out to this instance of a router.
    case router(Identifier)
    /// A job that must not run twice is to be started.
    case grant(Execution, skill: String)
    /// It is over.
    case end(End)
}

/// A step that failed in a request that finished all the same.
struct StepError: Codable, Equatable, Sendable {
    /// The step.
    var step: String
    /// Its skill.
    var skill: String
    /// Why.
    var error: JobError
}

extension Occurrence {
    /// About how much memory it takes until it is stored, in bytes.
    var bytes: Int {
        switch self {
        case .job(_, _, _, let report): Occurrence.overhead + report.bytes
        case .end(.finished(let output, _)), .end(.incomplete(_, let output)):
            Occurrence.overhead + output.text.utf8.count
        case .plan, .clarify, .cancelRequested, .generation, .router, .grant, .end: Occurrence.overhead
        }
    }

    /// What one takes beside its texts.
    static let overhead = 256
}

extension Occurrence.Report {
    /// Bytes of what it says.
    var bytes: Int {
        switch self {
        case .thinking(let text), .delta(let text): text.utf8.count
        case .partial(let json), .finished(let json, _), .disclosure(let json): json.count
        case .progress(let progress): progress.message.utf8.count
        case .failed(let error): error.message.utf8.count
        case .approval(let disclosure): disclosure.party.utf8.count + disclosure.purpose.utf8.count
        case .started, .retrying: 0
        }
    }
}

extension [Occurrence] {
    /// Adds one; a delta right after a delta of the same attempt is joined to it, which loses nothing.
    mutating func add(_ new: Occurrence) {
        if case .job(let execution, let skill, let number, .delta(let text)) = new, number > 0,
            case .job(let last, _, let before, .delta(let earlier)) = self.last, last == execution, before > 0,
            earlier.utf8.count + text.utf8.count <= Limits.event
        {
            self[count - 1] = .job(execution, skill: skill, sequence: number, .delta(earlier + text))
        } else {
            append(new)
        }
    }
}
