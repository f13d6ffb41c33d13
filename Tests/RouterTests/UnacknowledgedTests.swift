import Bus
import Testing
import Wire

@testable import Router

/// A gateway that never acknowledges what has ended takes no more memory than a fixed number of jobs does.
@Suite struct UnacknowledgedTests {
    /// So many jobs that have ended, none of which was acknowledged.
    private func bench(ended count: Int) throws -> Bench {
        var bench = Bench()
        _ = try bench.worker(credit: 0)
        for _ in 0..<count {
            let request = try bench.submit()
            let job = try #require(bench.dispatcher.jobs[request.job(step: 1)])
            bench.dispatcher.cancel(job, now: bench.now)
        }
        _ = bench.taken()
        #expect(bench.dispatcher.jobs.count == count)
        return bench
    }

    @Test func endsForAGatewayThatIsGoneAreForgottenWhenThereAreTooMany() throws {
        var bench = try bench(ended: Limits.unacknowledgedEnds + 500)
        let waiting = try bench.submit()
        bench.dispatcher.registry.lose(bench.gateway)
        bench.dispatcher.tick(now: bench.now)
        // What has not ended is not touched.
        #expect(bench.dispatcher.jobs.count == Limits.unacknowledgedEnds + 1)
        #expect(bench.dispatcher.jobs[waiting.job(step: 1)] != nil)
        #expect(bench.gateway.unacknowledged == Limits.unacknowledgedEnds)
    }

    @Test func aGatewayThatIsThereAndAcknowledgesNothingIsGivenNothingNew() throws {
        var bench = try bench(ended: Limits.unacknowledgedEnds)
        let running = try bench.submit()
        bench.dispatcher.tick(now: bench.now)
        _ = bench.taken()
        try bench.submit()
        #expect(bench.taken().said == ["gateway nack overloaded"])
        // The same request again is none that is new.
        try bench.submit("echo", request: running, generation: 1)
        #expect(bench.taken().said.isEmpty)
        for job in bench.dispatcher.jobs.values where job.isEnded { bench.dispatcher.acknowledged(job.execution) }
        bench.dispatcher.tick(now: bench.now)
        try bench.submit()
        #expect(!bench.taken().said.contains("gateway nack overloaded"))
        #expect(bench.gateway.unacknowledged == 0)
    }
}
