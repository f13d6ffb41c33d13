import Wire

/// What comes first among the jobs of one tenant.
enum Priority: Int, CaseIterable {
    case high, normal, low

    /// What a SUBMIT says.
    init(_ flags: Header.Flags) {
        self = flags.contains(.highPriority) ? .high : flags.contains(.lowPriority) ? .low : .normal
    }

    /// How much longer than one of the next higher priority a job has waited when it goes before it: so the higher go
    /// first, and none waits for ever.
    static let ageing: UInt64 = 5000
}

/// Jobs of one tenant that wait: by priority, and within one the sessions take turns.
final class TenantFlow: TurnTaker {
    let tenant: UInt64
    private var lanes = Priority.allCases.map { _ in Lane() }
    private(set) var count = 0
    private(set) var bytes = 0
    var hasTurn = false

    init(_ tenant: UInt64) { self.tenant = tenant }

    func append(_ job: Job) {
        lanes[job.priority.rawValue].append(job)
        count += 1
        bytes += job.size
    }

    func pop() -> Job? {
        guard let priority = turn(), let job = lanes[priority].pop() else { return nil }
        took(job)
        return job
    }

    /// The lane whose turn it is: that of the job which would be the oldest if a priority were so much time.
    private func turn() -> Int? {
        let only = lanes.firstIndex { $0.count > 0 }
        guard let only, lanes[only].count < count else { return only }
        var best: (lane: Int, time: UInt64)?
        for lane in lanes.indices {
            guard let job = lanes[lane].first() else { continue }
            let time = job.submitted + UInt64(lane) * Priority.ageing
            if best.map({ time < $0.time }) ?? true { best = (lane, time) }
        }
        return best?.lane
    }

    func remove(_ job: Job) -> Bool {
        guard lanes[job.priority.rawValue].remove(job) else { return false }
        took(job)
        return true
    }

    private func took(_ job: Job) {
        count -= 1
        bytes -= job.size
    }

    /// The job that gives way to one of another tenant: the last of the session with most, of the lowest priority.
    func victim(byBytes: Bool) -> Job? {
        lanes.last { $0.count > 0 }?.heaviest(byBytes: byBytes)?.last
    }

    /// The job that gives way to one of its own tenant: one of a lower priority, or of a session that has more.
    func victim(for job: Job, byBytes: Bool) -> Job? {
        for lane in lanes.indices.reversed() where lane > job.priority.rawValue && lanes[lane].count > 0 {
            return lanes[lane].heaviest(byBytes: byBytes)?.last
        }
        let lane = lanes[job.priority.rawValue]
        let own = lane.flows[job.session]
        guard let most = lane.heaviest(byBytes: byBytes), most !== own else { return nil }
        let isMore = byBytes ? most.bytes > (own?.bytes ?? 0) + job.size : most.count > (own?.count ?? 0) + 1
        return isMore ? most.last : nil
    }

    /// Jobs of the session that has most.
    var most: Int { lanes.map { $0.heaviest(byBytes: false)?.count ?? 0 }.max() ?? 0 }

    var all: [Job] { lanes.flatMap { $0.flows.values.flatMap(\.all) } }
}
