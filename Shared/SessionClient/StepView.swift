public import Wire

/// A step of a request as it is shown.
public struct StepView: Equatable, Sendable, Identifiable {
    /// Where a step stands.
    public enum State: String, Sendable {
        /// It waits for a worker or for steps before it.
        case waiting
        /// A worker runs it.
        case running
        /// An attempt was lost; the next one is about to start.
        case retrying
        /// It has an output.
        case finished
        /// It has an error.
        case failed
        /// The request ended before it did.
        case cancelled

        /// Whether nothing more comes.
        public var isTerminal: Bool { self == .finished || self == .failed || self == .cancelled }
    }

    /// Its id in the plan, or the job's of one that a skill called.
    public let id: String
    /// Its skill.
    public private(set) var skill: String
    /// Whether it is part of the plan.
    public private(set) var isPlanned = false
    /// Steps whose output it needs.
    public private(set) var after: [String] = []
    /// Its job, once there is one.
    public private(set) var job: String?
    /// Where it stands.
    public private(set) var state = State.waiting
    /// The attempt that counts. After a new router has taken the job over it counts from 1 again.
    public private(set) var attempt: UInt32 = 0
    /// How often the text began anew.
    public private(set) var beginnings = 0
    /// The worker that runs it.
    public private(set) var worker: String?
    /// What does the work: `offline`, or a model's name.
    public private(set) var engine: String?
    /// What it is thinking.
    public private(set) var thinking = ""
    /// The last progress message, or why it is tried again.
    public private(set) var message = ""
    /// How much is done, 0 to 1.
    public private(set) var fraction: Double?
    /// The text so far, of this attempt only.
    public private(set) var text = ""
    /// The output so far, or the whole one.
    public private(set) var output: SkillOutput?
    /// Its error.
    public private(set) var error: JobError?
    /// Whether the output came from the cache.
    public private(set) var isCached = false
    /// How long it took.
    public private(set) var milliseconds: Double?

    init(id: String, skill: String) {
        self.id = id
        self.skill = skill
    }

    mutating func planned(after: [String]) {
        isPlanned = true
        self.after = after
    }

    mutating func apply(_ event: SessionEvent) {
        let attempt = event.attempt ?? self.attempt
        guard !state.isTerminal else { return }
        switch event.type {
        case SessionEvent.Kind.started:
            // Whatever its number: what is streamed from here on is of this one.
            if attempt != self.attempt || !text.isEmpty || output != nil { begin(attempt) }
        case SessionEvent.Kind.jobFinished, SessionEvent.Kind.jobFailed:
            // The end is the end, of whichever attempt.
            if attempt > self.attempt { begin(attempt) }
        case SessionEvent.Kind.retrying: if attempt < self.attempt { return }
        default:
            if attempt < self.attempt { return }
            if attempt > self.attempt { begin(attempt) }
        }
        job = event.job ?? job
        if let skill = event.skill, !skill.isEmpty { self.skill = skill }
        let data = event.data
        switch event.type {
        case SessionEvent.Kind.started:
            state = .running
            worker = data["worker"]?.string
            engine = data["engine"]?.string
        case SessionEvent.Kind.thinking:
            state = .running
            thinking += data["text"]?.string ?? ""
        case SessionEvent.Kind.progress:
            state = .running
            message = data["message"]?.string ?? ""
            fraction = data["fraction"]?.number.map { min(max($0, 0), 1) }
        case SessionEvent.Kind.delta:
            state = .running
            text += data["text"]?.string ?? ""
        case SessionEvent.Kind.partial:
            state = .running
            output = read(SkillOutput.self, data["output"] ?? data)
        case SessionEvent.Kind.retrying:
            begin(max(UInt32(clamping: data["attempt"]?.integer ?? Int64(attempt)), self.attempt))
            state = .retrying
            message = data["reason"]?.string ?? ""
        case SessionEvent.Kind.jobFinished:
            state = .finished
            output = read(SkillOutput.self, data["output"])
            text = output?.text ?? text
            engine = data["engine"]?.string ?? engine
            isCached = data["cached"]?.bool ?? false
            milliseconds = data["milliseconds"]?.number
            fraction = nil
        case SessionEvent.Kind.jobFailed:
            error = read(JobError.self, data["error"] ?? data)
            state = error?.code == JobError.Code.cancelled ? .cancelled : .failed
        default: break
        }
    }

    /// A new attempt: what the one before streamed is void.
    private mutating func begin(_ attempt: UInt32) {
        self.attempt = attempt
        beginnings += 1
        worker = nil
        thinking = ""
        message = ""
        fraction = nil
        text = ""
        output = nil
    }

    mutating func requestEnded() {
        if !state.isTerminal { state = .cancelled }
    }
}
