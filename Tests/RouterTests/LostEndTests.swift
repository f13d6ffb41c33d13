import Bus
import Testing
import Wire

@testable import Router

/// An end goes from worker to gateway in two hops, and all of router's memory of it is that it went: when the gateway
/// dies before it has stored the end, and the worker before it has said it again, nobody has it any more.
@Suite struct LostEndTests {
    /// A job whose end has gone to the gateway.
    private func ended(
        _ bench: inout Bench,
        idempotent: Bool = true
    ) throws -> (request: Identifier, execution: Execution, worker: Peer) {
        let worker = try bench.worker(idempotent: idempotent)
        let request = try bench.submit()
        if !idempotent {
            bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        }
        let execution = try #require(bench.taken().dispatches.first?.0)
        #expect(bench.event(execution, from: worker, terminal: [.terminal], kind: .finished) == "forward")
        return (request, execution, worker)
    }

    /// The gateway is another process now, and has no end of the request.
    private func ask(_ bench: inout Bench, for request: Identifier) throws {
        let hello = Hello(gateway: "g", instance: .none, host: "h", pid: 2, product: "t")
        bench.gateway = bench.dispatcher.registry.greet(hello, peer: Peer(number: 1001), now: bench.now)
        try bench.submit("echo", request: request, generation: 1, flags: .resent)
        #expect(bench.taken().said.isEmpty)
    }

    private func lose(_ worker: Peer, _ bench: inout Bench) {
        bench.dispatcher.workerLost(worker, reason: "its worker died", now: bench.now)
        bench.dispatcher.tick(now: bench.now)
    }

    @Test(arguments: [true, false]) func itRunsAgainWhenTheWorkerIsGone(asksFirst: Bool) throws {
        var bench = Bench()
        let (request, execution, worker) = try ended(&bench)
        if asksFirst { try ask(&bench, for: request) }
        lose(worker, &bench)
        if !asksFirst {
            #expect(bench.taken().said.isEmpty)
            try ask(&bench, for: request)
            bench.dispatcher.tick(now: bench.now)
        }
        #expect(bench.taken().said == ["gateway event retrying"])
        let other = try bench.worker()
        let again = bench.taken().dispatches
        #expect(again.map(\.1) == [other])
        #expect(again.first?.0.job == execution.job)
        #expect(again.first.map { execution.isOlder(than: $0.0) } == true)
    }

    @Test func whatTheWorkerSaysAgainIsNotLost() throws {
        var bench = Bench()
        let (request, execution, worker) = try ended(&bench)
        try ask(&bench, for: request)
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said.isEmpty)
        #expect(bench.event(execution, from: worker, terminal: [.terminal], kind: .finished) == "forward")
        lose(worker, &bench)
        #expect(bench.taken().said.isEmpty)
        bench.dispatcher.acknowledged(execution)
        #expect(bench.dispatcher.jobs.isEmpty)
    }

    @Test func whatMustNotRunTwiceEndsUnknown() throws {
        var bench = Bench()
        let (request, _, worker) = try ended(&bench, idempotent: false)
        lose(worker, &bench)
        try ask(&bench, for: request)
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway event failed outcome_unknown"])
    }

    @Test func whatIsOnItsWayIsWaitedFor() throws {
        var bench = Bench()
        let (_, execution, worker) = try ended(&bench)
        lose(worker, &bench)
        #expect(bench.taken().said.isEmpty)
        bench.dispatcher.acknowledged(execution)
        #expect(bench.dispatcher.jobs.isEmpty)
    }
}
