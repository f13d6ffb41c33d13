import Bus
import Wire

/// How much may wait for a skill, and telling the gateways before it is too much: what they refuse has cost nothing yet.
extension Dispatcher {
    /// How often the gateways are told again: what they were told is forgotten after three times that.
    private static let loadInterval: UInt64 = 1000

    /// Looks how long the queue of a skill takes. Called a few times a second.
    mutating func measure(_ entry: SkillEntry, now: UInt64) {
        if entry.queue.count > 0 || entry.backlog.isStanding {
            let running = entry.versions.reduce(0) { $0 + $1.workers.reduce(0) { $0 + $1.leases.count(of: entry.id) } }
            entry.bound = entry.backlog.bound(
                waiting: entry.queue.count,
                running: running,
                longest: longestWait,
                now: now
            )
        }
        guard entry.isShut else { return closeDoor(entry, now: now) }
        if entry.queue.count <= entry.opensAt {
            openDoor(entry)
        } else if now >= entry.loadSaid + Dispatcher.loadInterval {
            sayLoad(entry, now: now)
        }
    }

    /// Has the gateways refuse what would be too much, once the queue is nearly full: some is on its way already.
    mutating func closeDoor(_ entry: SkillEntry, now: UInt64) {
        guard entry.queue.count >= entry.shutsAt, !entry.isShut else { return }
        entry.isShut = true
        sayLoad(entry, now: now)
    }

    /// Has the gateways take requests again.
    mutating func openDoor(_ entry: SkillEntry) {
        entry.isShut = false
        say(SkillLoad(skill: entry.id, tenants: [], session: 0), wait: 0)
    }

    private mutating func sayLoad(_ entry: SkillEntry, now: UInt64) {
        entry.loadSaid = now
        let (tenants, session) = entry.queue.heaviest
        let load = SkillLoad(skill: entry.id, tenants: Array(tenants.prefix(256)), session: session)
        say(load, wait: max(entry.backlog.wait(for: entry.queue.count), 1))
    }

    private mutating func say(_ load: SkillLoad, wait: UInt64) {
        let header = Header(.load, flags: .mayIgnore, value: wait)
        for gateway in registry.gateways.values where gateway.isConnected && gateway.takesLoad {
            guard let message = try? Outgoing(header, json: load) else { return }
            actions.append(.toGateway(gateway, message))
        }
    }
}

extension SkillEntry {
    /// So many waiting jobs are too much for the gateways.
    var shutsAt: Int { min(bound, Limits.queuedJobsPerSkill * 7 / 8) }
    /// So few are not.
    var opensAt: Int { shutsAt - max(1, shutsAt / 4) }
}
