import Bus
import Wire

/// Jobs that wait: which may, and whose turn it is when a worker has a free slot.
extension Dispatcher {
    /// Whether a job may wait. In a full queue the session that has most waiting gives way to one that has less.
    mutating func hasRoom(for job: Job, _ entry: SkillEntry, now: UInt64) -> Bool {
        while entry.queue.isFull(for: job.size) {
            guard let victim = entry.queue.victim(for: job) else { return false }
            entry.queue.remove(victim)
            fail(victim, overloaded(entry), now: now)
        }
        return true
    }

    /// Puts a job into the queue of its skill.
    mutating func queue(_ job: Job, _ entry: SkillEntry, now: UInt64) {
        entry.queue.append(job)
        // Jobs in a pause before their next attempt are no reason to wait.
        if entry.queue.count > 1 { fill(entry, now: now) }
        // Not where it is known to be too much: then it would mostly be looked at when it has just become shorter.
        if !entry.backlog.isStanding, now >= entry.measuredAt + Dispatcher.measureInterval { measure(entry, now: now) }
        if entry.queue.count >= entry.shutsAt { closeDoor(entry, now: now) }
    }

    /// Gives waiting jobs to workers of the skill as long as there is credit.
    mutating func fill(_ entry: SkillEntry, now: UInt64) {
        if entry.queue.hasSuspects || entry.awaited != nil { fillAlone(entry, now: now) }
        while entry.queue.count > 0, let worker = entry.freeWorker(), let job = entry.queue.next(now: now) {
            lease(job, to: worker, now: now)
        }
        if entry.isShut { makeRoom(entry, now: now) }
    }

    /// How often workers are told that jobs wait, in milliseconds.
    private static let askInterval: UInt64 = 20

    /// Tells workers whose slots are promised to other routers, as far as is known here, that jobs wait.
    mutating func askForSlots(_ entry: SkillEntry, now: UInt64) {
        guard entry.queue.count > 0, now >= entry.askedAt + Dispatcher.askInterval else { return }
        entry.askedAt = now
        entry.hasAsked = true
        var missing = entry.queue.count
        for worker in entry.workersInUse where missing > 0 && worker.sharesSlots && worker.credit == 0 {
            let others = worker.registration.concurrency - worker.leases.count
            guard others > 0 else { continue }
            missing -= others
            let heartbeat = Header(.heartbeat, value: UInt64(worker.waitingJobs))
            actions.append(.toWorker(worker.peer, Outgoing(heartbeat)))
        }
    }

    /// Tells workers that nothing waits any more, so that they need keep nothing free for it.
    mutating func stopAsking(_ entry: SkillEntry) {
        guard entry.hasAsked, entry.queue.count == 0 else { return }
        entry.hasAsked = false
        for worker in entry.workersInUse where worker.sharesSlots {
            let heartbeat = Header(.heartbeat, value: UInt64(worker.waitingJobs))
            actions.append(.toWorker(worker.peer, Outgoing(heartbeat)))
        }
    }

    /// Gives jobs that must run alone to workers that have nothing; where none has, one is to get nothing until it has.
    private mutating func fillAlone(_ entry: SkillEntry, now: UInt64) {
        if let awaited = entry.awaited, awaited.leases.count == 0 || registry.workers[awaited.peer] !== awaited {
            awaited.isolation = .none
            entry.awaited = nil
        }
        while let worker = entry.emptyWorker() {
            guard let job = entry.queue.nextSuspect(now: now) else { break }
            worker.isolation = .alone
            lease(job, to: worker, now: now)
        }
        let isDue = entry.queue.hasSuspect(dueBy: now)
        if isDue, entry.awaited == nil {
            entry.awaited = entry.leastBusyWorker()
            entry.awaited?.isolation = .awaited
        } else if !isDue {
            entry.awaited?.isolation = .none
            entry.awaited = nil
        }
    }

    /// The same for all skills of a worker, which take turns.
    mutating func fill(_ worker: Worker, now: UInt64) {
        let first = worker.nextEntry
        for offset in worker.entries.indices {
            let place = (first + offset) % worker.entries.count
            guard worker.entries[place].queue.count > 0 else { continue }
            guard worker.credit > 0 else { return }
            worker.nextEntry = place + 1
            fill(worker.entries[place], now: now)
        }
    }
}
