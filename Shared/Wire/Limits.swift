/// Sizes that every process keeps to. docs/protocol.md, section 9.
public enum Limits {
    /// A body above this rides in a frame of its own, so that it is never copied: one frame is cheaper below.
    public static let inlineBody = 64 * 1024
    /// A message above this is not worth copying into a BATCH.
    public static let batchedMessage = 4 * 1024
    /// One frame. libzmq drops the connection above it, so senders check first. More than the largest HTTP body, and
    /// than the largest output twice: as text that was not streamed and in the terminal event.
    public static let frame = 40 * 1024 * 1024
    /// Frames of one message: header, body and attachments.
    public static let frames = 32
    /// All frames of one message together.
    public static let message = 40 * 1024 * 1024
    /// Text and arguments of a request.
    public static let requestText = 1024 * 1024
    /// Attachments of a request, decoded, in sum.
    public static let attachments = 25 * 1024 * 1024
    /// A manifest as JSON.
    public static let manifest = 64 * 1024
    /// Manifests of one worker.
    public static let skillsPerWorker = 64
    /// Workers of one router.
    public static let workers = 1000
    /// The output of a job, as JSON.
    public static let output = 16 * 1024 * 1024
    /// An event that is not terminal.
    public static let event = 256 * 1024
    /// Events of one job: one that talks without end is stopped here.
    public static let eventsPerJob = 100_000
    /// Jobs waiting for a worker of one skill.
    public static let queuedJobsPerSkill = 1000
    /// Bytes of the jobs waiting for a worker of one skill.
    public static let queuedBytesPerSkill = 64 * 1024 * 1024
    /// Requests, and questions, that wait for the planner of one router.
    public static let planning = 1000
    /// Ended jobs that wait in one router for the acknowledgement of one gateway, and of all gateways that have gone.
    public static let unacknowledgedEnds = 10_000
    /// Steps of one plan.
    public static let planSteps = 32
    /// Steps on the longest way through a plan, and calls of skills by skills.
    public static let planDepth = 8
    /// Ids, names and other short strings.
    public static let shortString = 256
    /// Undecodable messages from one peer before it is ignored for a minute.
    public static let protocolErrors = 10
}
