internal import Bus

/// How a worker's free slots are promised to its routers: each slot to one of them, so that no more jobs come than there
/// are slots. A value; it reads no clock.
///
/// A router that has jobs waiting says so, and gets slots that another has no use for; two that both have get the slots
/// that become free in turn. What it is told may cross with a job, which is refused as `busy` then, and costs nothing.
struct SlotShares {
    private struct Share {
        let link: BusLink
        /// Free slots that its router may use, by all that it was told.
        var promised = 0
        /// Jobs of it that have a slot.
        var running = 0
        /// Jobs that wait there, as it said last.
        var wants = 0
        /// Whether its router does not know yet what is promised to it.
        var isUnsaid = false

        var load: Int { promised + running }
        var surplus: Int { max(promised - wants, 0) }
    }
    /// In the order of joining; nearly always one to three.
    private var shares: [Share] = []
    /// Where several could get the one slot, who does: another for each worker, so that routers are served alike.
    var seed = 0

    private func index(of link: BusLink) -> Int? { shares.firstIndex { $0.link == link } }

    private var promised: Int { shares.reduce(0) { $0 + $1.promised } }

    /// What a router may use.
    func promised(to link: BusLink) -> Int { index(of: link).map { shares[$0].promised } ?? 0 }

    /// A router comes, or comes again. Its part is said to it with the registration.
    mutating func join(_ link: BusLink, free: Int) {
        leave(link)
        shares.append(Share(link: link))
        let place = shares.count - 1
        var missing = fairPart(place, of: free)
        let unpromised = max(min(free - promised, missing), 0)
        shares[place].promised = unpromised
        missing -= unpromised
        for other in shares.indices.dropLast() where missing > 0 {
            let taken = min(max(shares[other].promised - fairPart(other, of: free), 0), missing)
            guard taken > 0 else { continue }
            shares[other].promised -= taken
            shares[other].isUnsaid = true
            shares[place].promised += taken
            missing -= taken
        }
    }

    private func fairPart(_ place: Int, of free: Int) -> Int {
        let isLucky = (place + seed) % shares.count < free % shares.count
        return free / shares.count + (isLucky ? 1 : 0)
    }

    /// A router is gone.
    mutating func leave(_ link: BusLink) { shares.removeAll { $0.link == link } }

    /// A router says how many jobs wait there.
    mutating func wants(_ count: Int, _ link: BusLink) {
        if let index = index(of: link) { shares[index].wants = count }
    }

    /// A job of a router takes a slot. False when it must not.
    mutating func take(for link: BusLink, free: Int) -> Bool {
        guard free > 0, let index = index(of: link) else { return false }
        guard shares[index].promised > 0 || free > promised else { return false }
        shares[index].promised = max(shares[index].promised - 1, 0)
        shares[index].running += 1
        shares[index].wants = max(shares[index].wants - 1, 0)
        return true
    }

    /// A job's slot is free without its router hearing of it by the job's end. ``settle(free:)`` promises it to somebody.
    mutating func give(backBy link: BusLink) {
        guard let index = index(of: link) else { return }
        shares[index].running = max(shares[index].running - 1, 0)
    }

    /// The same with the job's end, by which its router counts one slot more. True when that is right.
    mutating func staysAfterEnd(with link: BusLink) -> Bool {
        guard let index = index(of: link) else { return true }
        shares[index].running = max(shares[index].running - 1, 0)
        if shares.count > 1, let other = needy(besides: index) {
            let isServed = shares[index].wants <= shares[index].promised
            if isServed || shares[other].load <= shares[index].load {
                shares[other].promised += 1
                shares[other].isUnsaid = true
                return false
            }
        }
        shares[index].promised += 1
        return true
    }

    private func needy(besides place: Int? = nil) -> Int? {
        shares.indices.filter { $0 != place && shares[$0].wants > shares[$0].promised }
            .min { shares[$0].load < shares[$1].load }
    }

    /// Promises exactly what is free, and moves what nobody uses to where jobs wait.
    mutating func settle(free: Int) {
        guard !shares.isEmpty else { return }
        var lack = free - promised
        while lack < 0, let place = shares.indices.max(by: { shares[$0].promised < shares[$1].promised }) {
            shares[place].promised -= 1
            shares[place].isUnsaid = true
            lack += 1
        }
        while lack > 0 {
            let place = needy() ?? shares.indices.min { shares[$0].load < shares[$1].load } ?? 0
            shares[place].promised += 1
            shares[place].isUnsaid = true
            lack -= 1
        }
        guard shares.count > 1 else { return }
        while let place = needy(), let other = shares.indices.first(where: { $0 != place && shares[$0].surplus > 0 }) {
            shares[other].promised -= 1
            shares[place].promised += 1
            shares[other].isUnsaid = true
            shares[place].isUnsaid = true
        }
    }

    /// Takes out what is to be said to a router, if something is.
    mutating func takeUnsaid(_ link: BusLink) -> Int? {
        guard let index = index(of: link), shares[index].isUnsaid else { return nil }
        shares[index].isUnsaid = false
        return shares[index].promised
    }
}
