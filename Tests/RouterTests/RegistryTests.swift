import Bus
import Testing
import Wire

@testable import Router

struct RegistryTests {
    @Test func sameIdAndVersionWithAnotherManifestIsRefusedNamingTheHolder() throws {
        var bench = Bench()
        _ = try bench.worker("echo", credit: 1)
        let other = SkillManifest(id: "echo", description: "something else")
        let registration = Registration(
            worker: "w2",
            instance: .none,
            host: "h",
            pid: 7,
            product: "t",
            concurrency: 1,
            manifests: [other]
        )
        let error = #expect(throws: JobError.self) {
            _ = try bench.dispatcher.registered(registration, peer: Peer(number: 77), credit: 1, now: 1)
        }
        #expect(error?.code == "manifest_conflict")
        #expect(error?.message.contains("pid 1") == true)
        #expect(bench.dispatcher.registry.list.skills.map(\.workers.count) == [1])
    }

    @Test func workersOfOneVersionMaySendDataToDifferentParties() throws {
        var bench = Bench()
        func parties() -> [[String]] { bench.dispatcher.registry.list.skills.map(\.manifest.sendsDataTo) }
        let local = try bench.worker()
        #expect(parties() == [[]])
        let far = try bench.worker(sendsDataTo: ["https://a.example", "https://b.example"])
        try bench.worker(sendsDataTo: ["https://b.example", "https://c.example"])
        #expect(parties() == [["https://a.example", "https://b.example", "https://c.example"]])
        #expect(bench.dispatcher.registry.list.skills.map(\.workers.count) == [3])
        bench.dispatcher.workerLost(far, reason: "gone", now: 2)
        bench.dispatcher.workerLost(local, reason: "gone", now: 2)
        #expect(parties() == [["https://b.example", "https://c.example"]])
    }

    @Test func aBadManifestNamesItsField() throws {
        var bench = Bench()
        let registration = Registration(
            worker: "w",
            instance: .none,
            host: "h",
            pid: 7,
            product: "t",
            concurrency: 1,
            manifests: [SkillManifest(id: "echo", description: " ")]
        )
        let error = #expect(throws: JobError.self) {
            _ = try bench.dispatcher.registered(registration, peer: Peer(number: 77), credit: 1, now: 1)
        }
        #expect(error?.message.contains("\"description\"") == true)
    }

    @Test func aSkillWhoseLastWorkerLeftStaysKnownForAWhile() throws {
        var bench = Bench()
        let peer = try bench.worker("echo", credit: 1)
        let revision = bench.dispatcher.registry.revision
        bench.dispatcher.workerLost(peer, reason: "left", now: 1000)
        #expect(bench.dispatcher.registry.revision > revision)
        #expect(bench.dispatcher.registry.list.skills.map(\.workers.count) == [0])
        bench.dispatcher.registry.forget(orphanedBefore: 2000)
        #expect(bench.dispatcher.registry.list.skills.isEmpty)
    }

    @Test func theQueueKeepsItsOrderAndItsBounds() throws {
        var bench = Bench()
        _ = try bench.worker("echo", credit: 0)
        for _ in 0..<3 { try bench.submit() }
        let entry = try #require(bench.dispatcher.registry.skills["echo"])
        let jobs = entry.queue.all
        entry.queue.remove(jobs[1])
        #expect(entry.queue.next(now: 1) === jobs[0])
        entry.queue.prepend(jobs[0])
        jobs[0].notBefore = 100
        #expect(entry.queue.next(now: 1) === jobs[2])
        #expect(entry.queue.next(now: 1) == nil)
        #expect(entry.queue.next(now: 100) === jobs[0])
        #expect(entry.queue.count == 0)
        #expect(entry.queue.bytes == 0)
    }
}
