/// Jobs of one session that wait with one priority, first in first out.
final class SessionFlow: TurnTaker {
    let session: UInt64
    private var jobs: [Job?] = []
    private var head = 0
    private(set) var count = 0
    private(set) var bytes = 0
    var hasTurn = false

    init(_ session: UInt64) { self.session = session }

    func append(_ job: Job) {
        if count == 0 {
            jobs.removeAll(keepingCapacity: true)
            head = 0
        }
        jobs.append(job)
        count += 1
        bytes += job.size
    }

    /// The next one. Those that were removed are passed over.
    var first: Job? {
        while head < jobs.count {
            if let job = jobs[head] { return job }
            head += 1
        }
        return nil
    }

    func pop() -> Job? {
        guard let job = first else { return nil }
        jobs[head] = nil
        head += 1
        count -= 1
        bytes -= job.size
        if head > 64, head * 2 > jobs.count {
            jobs.removeFirst(head)
            head = 0
        }
        return job
    }

    /// Takes one out of the middle.
    func remove(_ job: Job) -> Bool {
        guard let index = jobs.lastIndex(where: { $0 === job }) else { return false }
        jobs[index] = nil
        count -= 1
        bytes -= job.size
        return true
    }

    /// The one that came last.
    var last: Job? { jobs.last { $0 != nil } ?? nil }

    var all: [Job] { jobs.compactMap { $0 } }
}

/// The sessions of one tenant that wait with one priority.
struct Lane {
    /// Empty flows that are kept, since their sessions mostly come back.
    private static let spareFlows = 64

    private(set) var flows: [UInt64: SessionFlow] = [:]
    private var turns = Turns<SessionFlow>()
    /// The flow of the last job: jobs of a session often come in runs.
    private var recent: SessionFlow?
    private(set) var count = 0

    mutating func append(_ job: Job) {
        let flow: SessionFlow
        if let recent, recent.session == job.session {
            flow = recent
        } else {
            flow = flows[job.session] ?? SessionFlow(job.session)
            flows[job.session] = flow
            recent = flow
        }
        flow.append(job)
        turns.add(flow)
        count += 1
    }

    /// The job whose turn it is.
    mutating func first() -> Job? {
        while let flow = turns.current {
            if let job = flow.first { return job }
            pass()
        }
        return nil
    }

    mutating func pop() -> Job? {
        while let flow = turns.current {
            let job = flow.pop()
            pass()
            guard let job else { continue }
            count -= 1
            return job
        }
        return nil
    }

    private mutating func pass() {
        guard let out = turns.pass(), flows.count > Lane.spareFlows else { return }
        flows[out.session] = nil
        if recent === out { recent = nil }
    }

    mutating func remove(_ job: Job) -> Bool {
        guard flows[job.session]?.remove(job) ?? false else { return false }
        count -= 1
        return true
    }

    /// The session with the most jobs, or the most bytes.
    func heaviest(byBytes: Bool) -> SessionFlow? {
        flows.values.max { byBytes ? $0.bytes < $1.bytes : $0.count < $1.count }
    }
}
