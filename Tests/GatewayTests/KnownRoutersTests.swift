import Testing
import Wire

@testable import Gateway

/// Which router gets a request.
@Suite struct KnownRoutersTests {
    private let one = Identifier(high: 1, low: 0)
    private let two = Identifier(high: 2, low: 0)

    private func routers(_ first: Set<String>?, _ second: Set<String>?, loads: (Int, Int) = (0, 0)) -> KnownRouters {
        var routers = KnownRouters()
        routers.add(one, skills: first, load: loads.0, isOnly: false)
        routers.add(two, skills: second, load: loads.1, isOnly: false)
        return routers
    }

    @Test func itGoesWhereItsSkillsAre() {
        let routers = routers(["a", "b"], ["c"], loads: (50, 0))
        #expect(routers.choose(for: ["a"]) == one)
        #expect(routers.choose(for: ["c"]) == two)
        #expect(routers.choose(for: ["a", "b", "c"]) == one)
        // Where a router is to choose, it should have something to choose from.
        #expect(routers.choose(for: []) == one)
    }

    @Test func itGoesWhereThereIsLessToDo() {
        var routers = routers(["a"], ["a"], loads: (3, 2))
        #expect(routers.choose(for: ["a"]) == two)
        // Between two heartbeats what was sent counts.
        for _ in 1...2 { routers.sent(to: two) }
        #expect(routers.choose(for: ["a"]) == one)
        routers.has(two, load: 1)
        #expect(routers.choose(for: ["a"]) == two)
    }

    @Test func oneThatDrainsOrIsGoneGetsNothing() {
        var routers = routers(["a"], ["a"])
        routers.drains(one)
        #expect(routers.choose(for: ["a"]) == two && !routers.takes(one) && routers.has(one))
        routers.lose(two, isForGood: false, now: 0)
        #expect(routers.choose(for: ["a"]) == nil && !routers.hasAny() && !routers.isEmpty)
    }

    @Test func itIsGoneAfterATimeOrForGood() {
        var routers = routers(nil, nil)
        routers.lose(one, isForGood: false, now: 1000)
        #expect(!gone(&routers, one, for: 500, now: 1499) && gone(&routers, one, for: 500, now: 1500))
        routers.lose(two, isForGood: true, now: 1000)
        #expect(gone(&routers, two, for: 500, now: 1000))
        routers.add(two, skills: nil, load: 0, isOnly: false)
        #expect(!gone(&routers, two, for: 500, now: 9000))
        // One never heard of may be on its way.
        let three = Identifier(high: 3, low: 0)
        #expect(!gone(&routers, three, for: 500, now: 100) && gone(&routers, three, for: 500, now: 600))
    }

    private func gone(_ routers: inout KnownRouters, _ router: Identifier, for time: UInt64, now: UInt64) -> Bool {
        routers.isGone(router, for: time, now: now)
    }

    @Test func theOnlyOneEndsAllOthers() {
        var routers = routers(nil, nil)
        routers.add(Identifier(high: 3, low: 0), skills: nil, load: 0, isOnly: true)
        #expect(!routers.has(one) && gone(&routers, two, for: 10_000, now: 1))
    }
}

/// Lists of several routers as one.
@Suite struct MergedSkillTests {
    private func list(_ skill: String, version: String = "1.0.0", queued: Int, _ workers: [SkillList.Worker])
        -> SkillList
    {
        let manifest = SkillManifest(id: skill, description: "d", version: version)
        return SkillList(skills: [.init(manifest: manifest, workers: workers, queued: queued)])
    }

    @Test func aWorkerIsListedOnceWithAllItsSlots() {
        let here = SkillList.Worker(id: "w", host: "h", pid: 1, credit: 2, busy: 1)
        let there = SkillList.Worker(id: "w", host: "h", pid: 1, credit: 1, busy: 0)
        let other = SkillList.Worker(id: "x", host: "h", pid: 2, credit: 4, busy: 0)
        let merged = SkillList(merging: [list("a", queued: 1, [here]), list("a", queued: 2, [there, other])])
        #expect(merged.skills.count == 1 && merged.skills[0].queued == 3)
        #expect(merged.skills[0].workers.map(\.credit) == [3, 4])
        #expect(merged.skills[0].workers.map(\.busy) == [1, 0])
    }

    @Test func skillsThatOneDoesNotKnowAreThere() {
        let merged = SkillList(merging: [list("b", queued: 0, []), list("a", queued: 0, [])])
        #expect(merged.skills.map(\.manifest.id) == ["a", "b"])
    }

    @Test func thePartiesAreThoseOfAllWorkers() {
        func list(_ parties: [String], _ workers: [SkillList.Worker]) -> SkillList {
            let manifest = SkillManifest(id: "a", description: "d", sendsDataTo: parties)
            return SkillList(skills: [.init(manifest: manifest, workers: workers, queued: 0)])
        }
        func worker(_ pid: Int32) -> SkillList.Worker { .init(id: "w", host: "h", pid: pid, credit: 1, busy: 0) }
        let merged = SkillList(
            merging: [list(["gone"], []), list(["x", "y"], [worker(1)]), list(["y", "z"], [worker(2)])]
        )
        #expect(merged.skills.map(\.manifest.sendsDataTo) == [["x", "y", "z"]])
    }

    @Test func theManifestIsThatOfWhoHasWorkers() {
        let worker = SkillList.Worker(id: "w", host: "h", pid: 1, credit: 2, busy: 1)
        let merged = SkillList(
            merging: [list("a", version: "1.0.0", queued: 0, []), list("a", version: "2.0.0", queued: 0, [worker])]
        )
        #expect(merged.skills[0].manifest.version == "2.0.0")
    }
}
