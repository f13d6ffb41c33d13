import Bus
import Wire

/// How much may wait for a skill, and telling the gateways before it is too much: what they refuse has cost nothing yet.
extension Dispatcher {
    /// How often the gateways are told again: what they were told is forgotten after three times that.
    private static let loadInterval: UInt64 = 1000

    /// How often a queue that grows is looked at.
    static let measureInterval: UInt64 = 50

    /// Looks how long the queue of a skill takes. Called a few times a second, and while it grows more often.
    mutating func measure(_ entry: SkillEntry, now: UInt64) {
        entry.measuredAt = now
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
        makeRoom(entry, now: now)
        if entry.isShut, now >= entry.loadSaid + Dispatcher.loadInterval {
            sayLoad(entry, now: now)
        }
    }

    /// Has the gateways refuse what would be too much, once the queue is nearly full: some is on its way already.
    mutating func closeDoor(_ entry: SkillEntry, now: UInt64) {
        guard entry.queue.count >= entry.shutsAt, !entry.isShut else { return }
        entry.isShut = true
        sayLoad(entry, now: now)
    }

    /// Has the gateways take requests again: all that come, or where more is asked than can be done so many as there is
    /// room for, since in the time in which they could be told to stop too many would come.
    mutating func makeRoom(_ entry: SkillEntry, now: UInt64) {
        guard entry.queue.count <= entry.opensAt else { return }
        guard entry.backlog.isStanding else {
            entry.isShut = false
            return say(SkillLoad(skill: entry.id, tenants: [], session: 0), wait: 0)
        }
        if registry.gateways.values.contains(where: { $0.mayBeTold && $0.room[entry.id, default: 0] == 0 }) {
            sayLoad(entry, onlyWithoutRoom: true, now: now)
        }
    }

    /// A request of a skill has come that has gateways refuse some. Counts what they may send still.
    mutating func came(_ entry: SkillEntry, from gateway: GatewayLink, now: UInt64) {
        guard let room = gateway.room[entry.id], room > 0 else { return }
        gateway.room[entry.id] = room - 1
        if room == 1 { makeRoom(entry, now: now) }
    }

    private mutating func sayLoad(_ entry: SkillEntry, onlyWithoutRoom: Bool = false, now: UInt64) {
        if !onlyWithoutRoom { entry.loadSaid = now }
        let (tenants, session) = entry.queue.heaviest
        var load = SkillLoad(skill: entry.id, tenants: Array(tenants.prefix(256)), session: session)
        if entry.backlog.isStanding {
            // Where nobody has more than one waiting, whoever has none has no better right.
            if session == 0 { load.tenants = [] }
            let gateways = max(registry.gateways.values.reduce(0) { $0 + ($1.mayBeTold ? 1 : 0) }, 1)
            load.room = (max(entry.shutsAt - entry.queue.count, 0) + gateways - 1) / gateways
        }
        say(load, wait: max(entry.backlog.wait(for: entry.queue.count), 1), onlyWithoutRoom: onlyWithoutRoom)
    }

    private mutating func say(_ load: SkillLoad, wait: UInt64, onlyWithoutRoom: Bool = false) {
        let header = Header(.load, flags: .mayIgnore, value: wait)
        for gateway in registry.gateways.values where gateway.mayBeTold {
            if onlyWithoutRoom, gateway.room[load.skill, default: 0] > 0 { continue }
            guard let message = try? Outgoing(header, json: load) else { return }
            gateway.room[load.skill] = load.room
            actions.append(.toGateway(gateway, message))
        }
    }
}

extension SkillEntry {
    /// So many waiting jobs are too much for the gateways. Where more is asked than can be done that is less than may wait:
    /// some is on its way when they are told.
    var shutsAt: Int {
        backlog.isStanding ? max(bound / 2, 1) : min(bound, Limits.queuedJobsPerSkill * 7 / 8)
    }
    /// So few are not.
    var opensAt: Int { shutsAt - max(1, shutsAt / 4) }
}

extension GatewayLink {
    /// Whether it can be told what there is to do.
    var mayBeTold: Bool { isConnected && takesLoad }
}
