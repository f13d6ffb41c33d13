import Wire

/// Jobs waiting for one skill; bounded in number and bytes, and by the time that they will take.
///
/// Tenants take turns, within a tenant what is more urgent goes first, and then sessions take turns, each first in first
/// out: however many jobs one of them has waiting, another's first one is delayed by one job of it at most. What was
/// running already goes before all of them, and what may have ended a worker waits apart, for a worker of its own.
struct JobQueue {
    /// Empty tenants that are kept, since they mostly come back.
    private static let spareTenants = 64

    private var tenants: [UInt64: TenantFlow] = [:]
    private var turns = Turns<TenantFlow>()
    private var recent: TenantFlow?
    /// Jobs that were running before.
    private var begun: [Job] = []
    private var suspects: [Job] = []
    private(set) var count = 0
    private(set) var bytes = 0
    /// How many may wait: as many as there is a place for, or as will have begun in a time that is worth waiting for.
    var bound = Limits.queuedJobsPerSkill

    /// Whether a job of that size would be too much.
    func isFull(for size: Int) -> Bool { count >= bound || isFullOfBytes(for: size) }

    private func isFullOfBytes(for size: Int) -> Bool {
        bytes + size > Limits.queuedBytesPerSkill && count > 0
    }

    /// Whether jobs wait for a worker of their own.
    var hasSuspects: Bool { !suspects.isEmpty }

    /// Whether one of them may run by now.
    func hasSuspect(dueBy now: UInt64) -> Bool { suspects.contains { $0.notBefore <= now } }

    mutating func append(_ job: Job) {
        let tenant: TenantFlow
        if let recent, recent.tenant == job.tenant {
            tenant = recent
        } else {
            tenant = tenants[job.tenant] ?? TenantFlow(job.tenant)
            tenants[job.tenant] = tenant
            recent = tenant
        }
        tenant.append(job)
        turns.add(tenant)
        count += 1
        bytes += job.size
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
        while let tenant = turns.current {
            let job = tenant.pop()
            if let out = turns.pass(), tenants.count > JobQueue.spareTenants {
                tenants[out.tenant] = nil
                if recent === out { recent = nil }
            }
            guard let job else { continue }
            took(job)
            return job
        }
        return nil
    }

    /// The next of those that must run alone.
    mutating func nextSuspect(now: UInt64) -> Job? {
        guard let index = suspects.firstIndex(where: { $0.notBefore <= now }) else { return nil }
        let job = suspects.remove(at: index)
        took(job)
        return job
    }

    mutating func remove(_ job: Job) {
        if let index = begun.firstIndex(where: { $0 === job }) {
            begun.remove(at: index)
        } else if let index = suspects.firstIndex(where: { $0 === job }) {
            suspects.remove(at: index)
        } else if !(tenants[job.tenant]?.remove(job) ?? false) {
            return
        }
        took(job)
    }

    /// Of a full queue, the job that gives way to one of a tenant, or a session, with less: the last of whoever has most.
    /// Nil when none has that much more.
    func victim(for job: Job) -> Job? {
        let byBytes = count < bound
        let own = tenants[job.tenant]
        let most = tenants.values.max { byBytes ? $0.bytes < $1.bytes : $0.count < $1.count }
        if let most, most !== own {
            let isMore = byBytes ? most.bytes > (own?.bytes ?? 0) + job.size : most.count > (own?.count ?? 0) + 1
            if isMore { return most.victim(byBytes: byBytes) }
        }
        return own?.victim(for: job, byBytes: byBytes)
    }

    /// Of a full queue, who would be refused: these tenants, and of them a session with so many jobs or more.
    var heaviest: (tenants: [UInt64], session: Int) {
        let most = tenants.values.reduce(0) { max($0, $1.count) }
        let full = tenants.values.filter { $0.count > 0 && $0.count + 1 >= most }
        return (full.map(\.tenant), max((full.map(\.most).max() ?? 0) - 1, 0))
    }

    private mutating func took(_ job: Job) {
        count -= 1
        bytes -= job.size
    }

    var all: [Job] { begun + suspects + tenants.values.flatMap(\.all) }
}
