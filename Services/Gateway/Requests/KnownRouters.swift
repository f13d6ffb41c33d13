internal import Wire

/// The routers that are there, by their instances, and which of them gets a request. A value; it reads no clock.
struct KnownRouters {
    private struct Known {
        /// Skills that have a worker there; nil where it does not say.
        var skills: Set<String>?
        /// Jobs that it has, as it said last, and requests that it was sent since.
        var load = 0
        var sent = 0
        /// Whether it takes nothing new.
        var isDraining = false
    }
    private var ready: [Identifier: Known] = [:]
    /// Since when others are gone; 0 for those that will not come back.
    private var gone: [Identifier: UInt64] = [:]

    private static let skillLimit = 10_000
    /// Skills that any of them has had a worker for.
    private var served: Set<String> = []

    /// Whether a skill has had a worker: a router that does not know it is too new.
    func haveServed(_ skill: String) -> Bool { served.contains(skill) }

    private mutating func note(_ skills: Set<String>?) {
        guard let skills, served.count < KnownRouters.skillLimit else { return }
        served.formUnion(skills)
    }

    /// Whether there is none.
    var isEmpty: Bool { ready.isEmpty }

    /// Whether an instance is there.
    func has(_ router: Identifier) -> Bool { ready[router] != nil }

    /// Whether it takes requests.
    func takes(_ router: Identifier) -> Bool { ready[router].map { !$0.isDraining } ?? false }

    /// Whether any does, besides one.
    func hasAny(besides router: Identifier? = nil) -> Bool {
        ready.contains { $0.key != router && !$0.value.isDraining }
    }

    /// The one for a request of these skills: where most of them have a worker; where a router is to choose among skills,
    /// one that has most to choose from. Of several the one with the least to do.
    func choose(for skills: [String]) -> Identifier? {
        ready.filter { !$0.value.isDraining }.min { rank($0, skills) < rank($1, skills) }?.key
    }

    private func rank(_ router: (key: Identifier, value: Known), _ skills: [String]) -> (Int, Int, Identifier) {
        let missing: Int
        if let served = router.value.skills {
            missing = skills.isEmpty ? -served.count : skills.count { !served.contains($0) }
        } else {
            missing = 0
        }
        return (missing, router.value.load + router.value.sent, router.key)
    }

    /// One is there. With `isOnly` all others are gone for good.
    mutating func add(_ router: Identifier, skills: Set<String>?, load: Int, isOnly: Bool) {
        if isOnly {
            for other in ready.keys where other != router { gone[other] = 0 }
            ready = ready.filter { $0.key == router }
        }
        note(skills)
        ready[router] = Known(skills: skills, load: load)
        gone[router] = nil
    }

    /// One has other skills than before.
    mutating func serves(_ router: Identifier, _ skills: Set<String>?) {
        note(skills)
        ready[router]?.skills = skills
    }

    /// One says how much it has.
    mutating func has(_ router: Identifier, load: Int) {
        ready[router]?.load = load
        ready[router]?.sent = 0
    }

    /// Whether one says that it has a worker for a skill.
    func serves(_ router: Identifier, _ skill: String) -> Bool { ready[router]?.skills?.contains(skill) ?? false }

    /// One is sent a request.
    mutating func sent(to router: Identifier) { ready[router]?.sent += 1 }

    mutating func drains(_ router: Identifier) { ready[router]?.isDraining = true }

    /// One is gone, nil for all; perhaps only for a moment.
    mutating func lose(_ router: Identifier?, isForGood: Bool, now: UInt64) {
        for lost in router.map({ [$0] }) ?? Array(ready.keys) {
            ready[lost] = nil
            gone[lost] = isForGood ? 0 : now
        }
        // Those of long ago are known by no request any more, or as gone by being unknown.
        if gone.count > 256 { gone = gone.filter { now < $0.value + 600_000 } }
    }

    /// Whether one has been gone for so long. One never heard of counts from now on.
    mutating func isGone(_ router: Identifier, for time: UInt64, now: UInt64) -> Bool {
        guard ready[router] == nil else { return false }
        guard let since = gone[router] else {
            gone[router] = now
            return time == 0
        }
        return since == 0 || now >= since + time
    }
}
