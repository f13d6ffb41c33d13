/// What a message is for. docs/protocol.md, section 4. Numbers never change their meaning.
public enum MessageType: UInt8, Sendable, CaseIterable {
    // Connection
    /// Gateway to router: who I am.
    case hello = 1
    /// Worker to router: my manifests, free slots and the jobs that I hold.
    case register = 2
    /// Router to either: accepted, with the router's instance and the heartbeat interval.
    case welcome = 3
    /// Both ways: alive. A worker's carries its free slots and the progress of its running jobs.
    case heartbeat = 4
    /// Both ways: leaving on purpose.
    case goodbye = 5
    /// Both ways: send me nothing new.
    case drain = 6
    /// Both ways: what you sent cannot be served, and why.
    case error = 7
    /// Both ways: several small messages.
    case batch = 8

    // Gateway and router
    /// Gateway to router: a request.
    case submit = 16
    /// Router to gateway: the steps that the request will take.
    case plan = 17
    /// Gateway to router to worker: end this request or job.
    case cancel = 18
    /// Router to gateway: may this non-idempotent job start? And the gateway's answer.
    case mayStart = 19
    /// Any peer to router: a question about registry or routing.
    case query = 20
    /// Router to that peer: the answer.
    case answer = 21
    /// Router to gateway: a skill has more to do than it may have waiting, or has room again.
    case load = 22
    /// Gateway to router to worker: the user's answer to the question whether data may go to a party.
    case approval = 23

    // Router and worker
    /// Router to worker: run this job.
    case dispatch = 32
    /// Worker to router: the job has been taken; from here on a death spends an attempt.
    case accepted = 33
    /// Worker to router, or router to gateway: not taken, and why.
    case nack = 34
    /// Worker to router to gateway: what a job is doing.
    case event = 35
    /// Gateway to router to worker: terminal events that are committed.
    case eventAck = 36
    /// Router to worker: this attempt is over; stop it and forget it.
    case fenced = 37
    /// Worker to router: free slots, absolute.
    case credit = 38
    /// Worker to router: an accepted job handed back unfinished while draining.
    case release = 39
    /// Worker to router: run this further skill for a job of mine.
    case call = 40
    /// Router to worker: how a called job ended.
    case result = 41
    /// Worker to router: executions that it has of a router that is gone.
    case claim = 42
    /// Router to worker: executions that are this router's from now on, running on.
    case adopted = 43
}
