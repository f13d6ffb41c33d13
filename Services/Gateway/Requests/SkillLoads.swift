internal import Synchronization
internal import Wire

/// Skills that have more to do than they may have waiting, as the router says: what would be refused there is refused
/// here, before it is taken.
final class SkillLoads: Sendable {
    private struct Load {
        let tenants: Set<UInt64>
        let session: Int
        /// Requests that there is room for all the same; nil where a router counts none.
        var room: Int?
        /// Milliseconds until what waits has begun.
        let wait: UInt64
        let until: UInt64
    }

    /// For how long the router's word holds, in milliseconds. It says it again each second.
    static let validity: UInt64 = 3000

    /// By the router that said it.
    private let loads = Mutex<[Identifier: [String: Load]]>([:])

    /// A router has said how a skill stands; a wait of 0 says that there is room again.
    func note(_ load: SkillLoad, at router: Identifier, wait: UInt64, now: UInt64) {
        loads.withLock { loads in
            loads[router, default: [:]][load.skill] =
                wait == 0
                ? nil
                : Load(
                    tenants: Set(load.tenants),
                    session: load.session,
                    room: load.room,
                    wait: wait,
                    until: now + SkillLoads.validity
                )
        }
    }

    /// What a router said that is gone means nothing.
    func forget(_ router: Identifier) { loads.withLock { $0[router] = nil } }

    /// Whether a request for a skill is taken now; one that is takes the place of one where there is room for some.
    /// - Parameters:
    ///   - skill: The skill.
    ///   - router: The one that would get it.
    ///   - tenant: The number of its tenant.
    ///   - open: Requests of its session that have not ended.
    ///   - now: Milliseconds of the steady clock.
    /// - Returns: Why it is not taken; nil when it is.
    func refusal(_ skill: String, at router: Identifier?, tenant: UInt64, open: Int, now: UInt64) -> JobError? {
        let wait = loads.withLock { loads -> UInt64? in
            guard let router, let load = loads[router]?[skill] else { return nil }
            guard now < load.until else {
                loads[router]?[skill] = nil
                return nil
            }
            if let room = load.room, room > 0 {
                loads[router]?[skill]?.room = room - 1
                return nil
            }
            let isConcerned = load.tenants.contains(tenant) || (load.room != nil && load.tenants.isEmpty)
            guard !isConcerned || open < load.session else { return load.wait }
            // Whoever has less takes the place of one of those who have most; of the next one the router must say first.
            guard let room = load.room else { return nil }
            loads[router]?[skill]?.room = room - 1
            return room < 0 ? load.wait : nil
        }
        guard let wait else { return nil }
        let seconds = (Double(wait) / 1000).rounded(.up)
        return JobError(
            code: JobError.Code.overloaded,
            message: "The skill \(skill) has as much to do as may wait for it: about \(Int(seconds)) s of work.",
            hint: "Try again after the seconds of Retry-After, or start another worker of \(skill).",
            retryable: true,
            retryAfter: seconds
        )
    }
}
