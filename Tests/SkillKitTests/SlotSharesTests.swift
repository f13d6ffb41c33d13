import Bus
import Testing

@testable import SkillKit

/// A worker's slots among its routers.
@Suite struct SlotSharesTests {
    private let one = BusLink(number: 1)
    private let two = BusLink(number: 2)
    private let three = BusLink(number: 3)

    /// Shares that change within an expectation.
    private final class Trial {
        private var shares = SlotShares()

        init(_ links: [BusLink], free: Int, seed: Int) {
            shares.seed = seed
            for link in links { shares.join(link, free: free) }
        }

        func promised(to link: BusLink) -> Int { shares.promised(to: link) }
        func join(_ link: BusLink, free: Int) { shares.join(link, free: free) }
        func leave(_ link: BusLink) { shares.leave(link) }
        func wants(_ count: Int, _ link: BusLink) { shares.wants(count, link) }
        func take(for link: BusLink, free: Int) -> Bool { shares.take(for: link, free: free) }
        func staysAfterEnd(with link: BusLink) -> Bool { shares.staysAfterEnd(with: link) }
        func settle(free: Int) { shares.settle(free: free) }
        func takeUnsaid(_ link: BusLink) -> Int? { shares.takeUnsaid(link) }
    }

    private func shares(_ links: BusLink..., free: Int, seed: Int = 0) -> Trial {
        Trial(links, free: free, seed: seed)
    }

    private func promised(_ shares: Trial) -> [Int] { [one, two, three].map(shares.promised) }

    @Test("One router gets all of them")
    func oneRouter() {
        let shares = shares(one, free: 4)
        #expect(promised(shares) == [4, 0, 0])
        for _ in 1...4 {
            let free = shares.promised(to: one)
            #expect(shares.take(for: one, free: free))
        }
        let isTaken = shares.take(for: one, free: 0)
        #expect(!isTaken)
        #expect(shares.staysAfterEnd(with: one))
        #expect(promised(shares) == [1, 0, 0])
        shares.settle(free: 1)
        #expect(shares.takeUnsaid(one) == nil)
    }

    @Test("Several get the same, together never more than there are", arguments: 1...9)
    func fair(_ free: Int) {
        for seed in 0..<3 {
            let shares = shares(one, two, three, free: free, seed: seed)
            let parts = promised(shares)
            #expect(parts.reduce(0, +) == free)
            #expect((parts.max() ?? 0) - (parts.min() ?? 0) <= 1)
        }
    }

    @Test("Who had more is told so")
    func joining() {
        let shares = shares(one, free: 4)
        shares.join(two, free: 4)
        #expect(promised(shares) == [2, 2, 0])
        #expect(shares.takeUnsaid(one) == 2)
        // What it is told with its registration is not said again.
        #expect(shares.takeUnsaid(two) == nil)
    }

    @Test("The one slot is not always the first router's")
    func seeds() {
        let holders = (0..<4).map { promised(shares(one, two, free: 1, seed: $0)).firstIndex(of: 1) }
        #expect(Set(holders) == [0, 1])
    }

    @Test("A slot moves to where jobs wait")
    func moves() {
        let shares = shares(one, free: 1)
        shares.join(two, free: 1)
        let holder = shares.promised(to: one) == 1 ? one : two
        let other = holder == one ? two : one
        shares.wants(3, other)
        shares.settle(free: 1)
        #expect(shares.promised(to: other) == 1 && shares.promised(to: holder) == 0)
        #expect(shares.takeUnsaid(other) == 1)
        #expect(shares.takeUnsaid(holder) == 0)
        // A job that crossed with that is refused.
        let isTaken = shares.take(for: holder, free: 1)
        #expect(!isTaken)
        #expect(shares.take(for: other, free: 1))
    }

    @Test("Two that both have jobs waiting get what becomes free in turn")
    func turns() {
        let shares = shares(one, two, free: 1)
        for link in [one, two] { shares.wants(100, link) }
        var served: [BusLink: Int] = [:]
        var runs = shares.promised(to: one) == 1 ? one : two
        for _ in 1...10 {
            #expect(shares.take(for: runs, free: 1))
            served[runs, default: 0] += 1
            if !shares.staysAfterEnd(with: runs) { runs = runs == one ? two : one }
        }
        #expect(served == [one: 5, two: 5])
    }

    @Test("With two slots each has one, whosever jobs are the shorter")
    func halves() {
        let shares = shares(one, two, free: 2)
        for link in [one, two] {
            #expect(shares.take(for: link, free: 2))
            shares.wants(100, link)
        }
        for _ in 1...10 {
            #expect(shares.staysAfterEnd(with: one))
            #expect(shares.take(for: one, free: 1))
        }
    }

    @Test("Where nobody else waits, a slot stays where it was used")
    func stays() {
        let shares = shares(one, two, free: 2)
        #expect(shares.takeUnsaid(one) == 1)
        #expect(shares.take(for: one, free: 2))
        #expect(shares.staysAfterEnd(with: one))
        shares.settle(free: 2)
        #expect(shares.takeUnsaid(one) == nil && shares.takeUnsaid(two) == nil)
    }

    @Test("What a router had goes to the others when it is lost, and nothing to anybody while draining")
    func losing() {
        let shares = shares(one, two, free: 4)
        shares.leave(one)
        shares.settle(free: 4)
        #expect(promised(shares) == [0, 4, 0])
        #expect(shares.takeUnsaid(two) == 4)
        shares.settle(free: 0)
        #expect(shares.takeUnsaid(two) == 0)
    }
}
