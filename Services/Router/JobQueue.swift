import Bus
import Wire

/// Jobs waiting for one skill; bounded in number and bytes.
///
/// Sessions take turns, each first in first out: however many jobs one of them has waiting, another's first one is
/// delayed by one job of it at most. What was running already goes before all of them, and what may have ended a worker
/// waits apart, for a worker of its own.
struct JobQueue {
    /// The jobs of one session.
    private final class Flow {
        let session: UInt64
        var jobs: [Job?] = []
        var head = 0
        var count = 0
        var bytes = 0
        /// Whether it is among those whose turn comes.
        var hasTurn = false

        init(_ session: UInt64) { self.session = session }
    }

    /// Empty flows that are kept, since their sessions mostly come back.
    private static let spareFlows = 64

    private var flows: [UInt64: Flow] = [:]
    /// Flows whose turn comes, in that order. One that has been emptied by removals is passed over.
    private var turns: [Flow] = []
    private var firstTurn = 0
    /// The flow of the last job: jobs of a session often come in runs.
    private var last: Flow?
    /// Jobs that were running before.
    private var begun: [Job] = []
    private var suspects: [Job] = []
    private(set) var count = 0
    private(set) var bytes = 0

    /// Whether a job of that size would be too much.
    func isFull(for size: Int) -> Bool {
        count >= Limits.queuedJobsPerSkill || bytes + size > Limits.queuedBytesPerSkill && count > 0
    }

    /// Whether jobs wait for a worker of their own.
    var hasSuspects: Bool { !suspects.isEmpty }

    /// Whether one of them may run by now.
    func hasSuspect(dueBy now: UInt64) -> Bool { suspects.contains { $0.notBefore <= now } }

    mutating func append(_ job: Job) {
        let session = job.session
        let flow: Flow
        if let last, last.session == session {
            flow = last
        } else {
            flow = self.flow(of: session)
            last = flow
        }
        if flow.count == 0 {
            flow.jobs.removeAll(keepingCapacity: true)
            flow.head = 0
        }
        if !flow.hasTurn {
            flow.hasTurn = true
            turns.append(flow)
        }
        flow.jobs.append(job)
        flow.count += 1
        flow.bytes += job.size
        count += 1
        bytes += job.size
    }

    private mutating func flow(of session: UInt64) -> Flow {
        if let known = flows[session] { return known }
        let flow = Flow(session)
        flows[session] = flow
        return flow
    }

    /// For what was already running: it goes before everything else, or waits to run alone.
    mutating func prepend(_ job: Job) {
        if job.isSuspect { suspects.append(job) } else { begun.insert(job, at: 0) }
        count += 1
        bytes += job.size
    }

    /// The next job that may run by now; not one of those that must run alone.
    mutating func next(now: UInt64) -> Job? {
        if !begun.isEmpty, let index = begun.firstIndex(where: { $0.notBefore <= now }) {
            let job = begun.remove(at: index)
            took(job)
            return job
        }
        while firstTurn < turns.count {
            let flow = turns[firstTurn]
            let job = pop(flow)
            // The only one keeps its place.
            if flow.count == 0 || firstTurn + 1 < turns.count { passTurn(of: flow) }
            if let job { return job }
        }
        return nil
    }

    private mutating func passTurn(of flow: Flow) {
        firstTurn += 1
        if flow.count > 0 {
            turns.append(flow)
        } else {
            flow.hasTurn = false
            if flows.count > JobQueue.spareFlows {
                flows[flow.session] = nil
                if last === flow { last = nil }
            }
        }
        if firstTurn == turns.count {
            turns.removeAll(keepingCapacity: true)
            firstTurn = 0
        } else if firstTurn > 64, firstTurn * 2 > turns.count {
            turns.removeFirst(firstTurn)
            firstTurn = 0
        }
    }

    /// The next of those that must run alone.
    mutating func nextSuspect(now: UInt64) -> Job? {
        guard let index = suspects.firstIndex(where: { $0.notBefore <= now }) else { return nil }
        let job = suspects.remove(at: index)
        took(job)
        return job
    }

    private mutating func pop(_ flow: Flow) -> Job? {
        while flow.head < flow.jobs.count {
            defer { flow.head += 1 }
            guard let job = flow.jobs[flow.head] else { continue }
            flow.jobs[flow.head] = nil
            flow.count -= 1
            flow.bytes -= job.size
            took(job)
            if flow.head > 64, flow.head * 2 > flow.jobs.count {
                flow.jobs.removeFirst(flow.head)
                flow.head = 0
            }
            return job
        }
        return nil
    }

    mutating func remove(_ job: Job) {
        if let index = begun.firstIndex(where: { $0 === job }) {
            begun.remove(at: index)
        } else if let index = suspects.firstIndex(where: { $0 === job }) {
            suspects.remove(at: index)
        } else if let flow = flows[job.session], let index = flow.jobs.lastIndex(where: { $0 === job }) {
            flow.jobs[index] = nil
            flow.count -= 1
            flow.bytes -= job.size
        } else {
            return
        }
        took(job)
    }

    /// Of a full queue, the job that gives way to one of a session with less: the last of the session with most. Nil when
    /// none has that much more.
    func victim(for job: Job) -> Job? {
        let isFullOfJobs = count >= Limits.queuedJobsPerSkill
        let own = flows[job.session]
        let most = flows.values.max { isFullOfJobs ? $0.count < $1.count : $0.bytes < $1.bytes }
        guard let most, most !== own else { return nil }
        let isMore =
            isFullOfJobs ? most.count > (own?.count ?? 0) + 1 : most.bytes > (own?.bytes ?? 0) + job.size
        return isMore ? most.jobs.last { $0 != nil } ?? nil : nil
    }

    private mutating func took(_ job: Job) {
        count -= 1
        bytes -= job.size
    }

    var all: [Job] { begun + suspects + flows.values.flatMap { $0.jobs.compactMap { $0 } } }
}
