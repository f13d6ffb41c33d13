import Bus
import Testing
import Wire

@testable import Router

/// A dispatcher with a gateway and workers that exist only as numbers: what it decides, without a socket or a clock.
struct Bench {
    var dispatcher = Dispatcher(now: 0)
    var gateway: GatewayLink
    var now: UInt64 = 10_000
    private var nextPeer: UInt32 = 1

    init() {
        let hello = Hello(gateway: "g", instance: .none, host: "h", pid: 1, product: "t")
        gateway = dispatcher.registry.greet(hello, peer: Peer(number: 1000), now: 0)
    }

    @discardableResult mutating func worker(
        _ skill: String = "echo",
        credit: Int = 1,
        version: String = "1.0.0",
        idempotent: Bool = true,
        produces: [String] = ["text"],
        cacheTTL: Double = 600,
        sendsDataTo: [String] = [],
        held: [Registration.Held] = [],
        instance: Identifier = .timeOrdered(milliseconds: 1),
        again known: Peer? = nil,
        seen: UInt64 = 0
    ) throws -> Peer {
        let manifest = SkillManifest(
            id: skill,
            description: "d",
            version: version,
            produces: produces,
            cacheTTL: cacheTTL,
            idempotent: idempotent,
            sendsDataTo: sendsDataTo
        )
        let registration = Registration(
            worker: "w",
            instance: instance,
            host: "h",
            pid: 1,
            product: "t",
            concurrency: 8,
            manifests: [manifest],
            held: held
        )
        let peer: Peer
        if let known {
            peer = known
        } else {
            nextPeer += 1
            peer = Peer(number: nextPeer)
        }
        let worker = try dispatcher.registered(registration, peer: peer, credit: credit, seen: seen, now: now)
        dispatcher.admit(worker, now: now)
        return peer
    }

    @discardableResult
    mutating func submit(
        _ skill: String = "echo",
        session: String = "s",
        tenant: UInt64? = nil,
        text: String = "t",
        generation: UInt32 = 1,
        deadline: UInt64 = 0,
        flags: Header.Flags = []
    ) throws -> Identifier {
        let request = Identifier.timeOrdered(milliseconds: 1)
        try submit(
            skill,
            session: session,
            tenant: tenant,
            text: text,
            request: request,
            generation: generation,
            deadline: deadline,
            flags: flags
        )
        return request
    }

    mutating func submit(
        _ skill: String,
        session: String = "s",
        tenant: UInt64? = nil,
        text: String = "t",
        request: Identifier,
        generation: UInt32,
        deadline: UInt64 = 0,
        flags: Header.Flags = []
    ) throws {
        let body = try JobBody.encode(skill: skill, input: JobInput(session: session, tenant: tenant, text: text))
        let header = Header(.submit, flags: flags, job: request, generation: generation, value: deadline)
        let parcel = Parcel(header: header, body: body)
        dispatcher.submitted(header, skill: skill, parcel: parcel, from: gateway, now: now)
    }

    mutating func event(
        _ execution: Execution,
        from peer: Peer,
        terminal: Header.Flags = [],
        kind: EventKind = .delta,
        payload: [UInt8] = []
    ) -> String {
        let header = Header(
            .event,
            flags: terminal,
            job: execution.job,
            generation: execution.generation,
            attempt: execution.attempt,
            sequence: 1,
            value: 1
        )
        switch dispatcher.event(header, from: peer, now: now, terminalRecord: { (kind, payload) }) {
        case .forward: return "forward"
        case .drop: return "drop"
        case .fence: return "fence"
        }
    }

    /// What users were told to do about failed jobs.
    private(set) var hints: [String] = []
    /// What gateways were asked back.
    private(set) var questions: [Clarification] = []

    /// Dispatches since the last look, and what else was said, in words.
    mutating func taken() -> (dispatches: [(Execution, Peer)], said: [String]) {
        var dispatches: [(Execution, Peer)] = []
        var said: [String] = []
        var actions: [Dispatcher.Action] = []
        dispatcher.passOnAcknowledgements()
        dispatcher.takeActions(into: &actions)
        for action in actions {
            switch action {
            case .dispatch(let job, let worker, _): dispatches.append((job.execution, worker.peer))
            case .toWorker(_, let message): said.append("worker \(message.header.type)")
            case .toGateway(_, let message):
                var detail = ""
                if message.header.type == .event {
                    var cursor = EventRecordCursor()
                    if let record = try? cursor.next(in: message.body.span.bytes) {
                        detail = " \(record.kind)"
                        let error = try? JSONBody.decode(JobError.self, from: Array(message.body[record.payload]))
                        if let error {
                            detail += " \(error.code)"
                            hints += error.hint.map { [$0] } ?? []
                        }
                    }
                } else if let error = try? JSONBody.decode(JobError.self, from: message.body) {
                    detail = " \(error.code)"
                    if let question = try? JSONBody.decode(Clarification.self, from: message.body) {
                        questions.append(question)
                    }
                }
                said.append("gateway \(message.header.type)\(detail)")
            case .plan: said.append("plan")
            case .passOn: said.append("event passed on")
            }
        }
        return (dispatches, said)
    }
}

struct DispatcherTests {
    @Test func idleWorkersTakeTurns() throws {
        var bench = Bench()
        for _ in 0..<3 { _ = try bench.worker(credit: 2, instance: .timeOrdered(milliseconds: 1)) }
        var counts: [Peer: Int] = [:]
        for _ in 0..<12 {
            try bench.submit()
            let (execution, peer) = try #require(bench.taken().dispatches.first)
            counts[peer, default: 0] += 1
            _ = bench.event(execution, from: peer, terminal: .terminal, kind: .finished)
            bench.dispatcher.acknowledged(execution)
        }
        #expect(counts.values.sorted() == [4, 4, 4])
    }

    @Test func aWorkerNeverHoldsMoreThanItsCredit() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2)
        for _ in 0..<5 { try bench.submit() }
        let first = bench.taken().dispatches
        #expect(first.count == 2)
        #expect(bench.event(first[0].0, from: peer, terminal: .terminal, kind: .finished) == "forward")
        #expect(bench.taken().dispatches.count == 1)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        #expect(worker.leases.count == 2)
        #expect(worker.credit == 0)
    }

    @Test func creditIsAbsoluteAndCountsWhatIsUnderway() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        for _ in 0..<3 { try bench.submit() }
        #expect(bench.taken().dispatches.count == 1)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        // Said before it saw the first dispatch: that one still counts against the two slots.
        bench.dispatcher.credited(worker, free: 2, seen: 0, now: bench.now)
        #expect(bench.taken().dispatches.count == 1)
        bench.dispatcher.credited(worker, free: 1, seen: 2, now: bench.now)
        #expect(bench.taken().dispatches.count == 1)
        #expect(worker.leases.count == 3)
    }

    @Test func theWorkerWithMostFreeSlotsGetsTheJob() throws {
        var bench = Bench()
        let small = try bench.worker(credit: 1)
        let large = try bench.worker(credit: 3)
        for _ in 0..<4 { try bench.submit() }
        let peers = bench.taken().dispatches.map(\.1)
        #expect(peers.filter { $0 == large }.count == 3)
        #expect(peers.filter { $0 == small }.count == 1)
    }

    @Test func anEventOfAnotherExecutionOrWorkerIsFenced() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        let other = try bench.worker(credit: 0)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        var stale = execution
        stale.attempt = 0
        #expect(bench.event(stale, from: peer) == "fence")
        #expect(bench.event(execution, from: other) == "fence")
        #expect(bench.event(Execution(job: .none, generation: 1, attempt: 1), from: peer) == "fence")
        #expect(bench.event(execution, from: peer) == "forward")
    }

    @Test func aLostWorkersJobRunsElsewhereUnderTheNextAttempt() throws {
        var bench = Bench()
        let first = try bench.worker(credit: 1)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        _ = bench.event(execution, from: first)
        let second = try bench.worker(credit: 1)
        bench.dispatcher.workerLost(first, reason: "died", now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.map(\.1) == [second])
        #expect(dispatches.first?.0.attempt == execution.attempt + 1)
        #expect(said == ["gateway event retrying"])
        #expect(bench.event(execution, from: first) == "fence")
    }

    @Test func aJobThatWasNeverAcceptedComesBackForFree() throws {
        var bench = Bench()
        for _ in 0..<5 {
            let peer = try bench.worker(credit: 1)
            if bench.dispatcher.jobs.isEmpty { try bench.submit() }
            #expect(bench.taken().dispatches.count == 1)
            bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
            #expect(bench.taken().said.isEmpty)
        }
        #expect(bench.dispatcher.jobs.count == 1)
    }

    @Test func aJobThatEndsWorkersBeforeTheySpeakIsDeadLetteredToo() throws {
        var bench = Bench()
        var ends: [String] = []
        for turn in 0..<Dispatcher.unseenLosses + Dispatcher.maximumAttempts {
            let peer = try bench.worker(credit: 1)
            if turn == 0 { try bench.submit() }
            bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
            ends += bench.taken().said
        }
        #expect(ends.last == "gateway event failed dead_lettered")
    }

    @Test func whatIsNotIdempotentIsNotSentAgainWhenItsWorkerDiesBeforeItSpeaks() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 1, idempotent: false)
        _ = try bench.worker(credit: 1, idempotent: false)
        let request = try bench.submit()
        bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        let owner = try #require(bench.taken().dispatches.first?.1)
        bench.dispatcher.workerLost(owner, reason: "died", now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty)
        #expect(said == ["gateway event failed outcome_unknown"])
    }

    @Test func aJobThatKeepsEndingWorkersIsDeadLettered() throws {
        var bench = Bench()
        try bench.submit("echo", request: .timeOrdered(milliseconds: 5), generation: 1)
        #expect(bench.taken().said == ["gateway nack unknown_skill"])
        var ends: [String] = []
        for attempt in 1...3 {
            let peer = try bench.worker(credit: 1)
            if attempt == 1 { try bench.submit() }
            let execution = try #require(bench.taken().dispatches.first?.0)
            _ = bench.event(execution, from: peer)
            bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
            ends += bench.taken().said
        }
        #expect(ends == ["gateway event retrying", "gateway event retrying", "gateway event failed dead_lettered"])
    }

    @Test func whatIsNotIdempotentAsksFirstAndNeverRunsTwice() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1, idempotent: false)
        _ = try bench.worker(credit: 1, idempotent: false)
        let request = try bench.submit()
        #expect(bench.taken().said == ["gateway mayStart"])
        bench.dispatcher.mayStart(request.job(step: 1), generation: 1, isGranted: true, now: bench.now)
        let (execution, owner) = try #require(bench.taken().dispatches.first)
        _ = bench.event(execution, from: owner)
        bench.dispatcher.workerLost(owner, reason: "died", now: bench.now)
        let (dispatches, said) = bench.taken()
        #expect(dispatches.isEmpty)
        #expect(said == ["gateway event failed outcome_unknown"])
        _ = peer
    }

    @Test func aFailureThatMayPassIsTriedAgainThreeTimesInAll() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let payload = try JSONBody.encode(JobError(code: "x", message: "m", retryable: true))
        var decisions: [String] = []
        for _ in 0..<3 {
            let execution = try #require(bench.taken().dispatches.first?.0)
            let flags: Header.Flags = [.terminal, .failed, .retryable]
            decisions.append(bench.event(execution, from: peer, terminal: flags, kind: .failed, payload: payload))
            bench.now += 31_000
            bench.dispatcher.registry.workers[peer]?.lastHeard = bench.now
            bench.dispatcher.tick(now: bench.now)
        }
        #expect(decisions == ["drop", "drop", "forward"])
    }

    @Test func aResentEndIsPassedOnUntilItIsAcknowledged() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        let flags: Header.Flags = [.terminal, .resent]
        #expect(bench.event(execution, from: peer, terminal: .terminal, kind: .finished) == "forward")
        #expect(bench.event(execution, from: peer, terminal: flags, kind: .finished) == "forward")
        bench.dispatcher.acknowledged(execution)
        bench.dispatcher.passOnAcknowledgements()
        #expect(bench.taken().said == ["worker eventAck"])
        #expect(bench.event(execution, from: peer, terminal: flags, kind: .finished) == "fence")
        #expect(bench.dispatcher.registry.workers[peer]?.credit == 1)
    }

    @Test func theSameSubmissionAgainChangesNothing() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 2)
        let request = try bench.submit()
        try bench.submit("echo", request: request, generation: 1)
        #expect(bench.taken().dispatches.count == 1)
    }

    @Test func whatIsAskedForAgainIsNotBegunAnew() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2)
        let request = try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        try bench.submit("echo", request: request, generation: 1, flags: .resent)
        #expect(bench.taken().dispatches.isEmpty && bench.taken().said.isEmpty)
        // Not of that generation, and not after it is over.
        try bench.submit("echo", request: request, generation: 2, flags: .resent)
        #expect(bench.taken().said == ["gateway nack unknown_request"])
        #expect(bench.event(execution, from: peer, terminal: .terminal, kind: .finished) == "forward")
        bench.dispatcher.acknowledged(execution)
        _ = bench.taken()
        try bench.submit("echo", request: request, generation: 1, flags: .resent)
        #expect(bench.taken().said == ["gateway nack unknown_request"])
        try bench.submit("echo", request: request, generation: 2)
        #expect(bench.taken().dispatches.map(\.0.generation) == [2])
    }

    @Test func whatAnotherGatewayAsksForGoesOnForThatOne() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2)
        _ = try bench.worker("chat")
        let request = try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        let planned = try bench.submit("")
        let other = GatewayLink(id: "other", peer: bench.gateway.peer, now: bench.now)
        for (id, skill) in [(request, "echo"), (planned, "")] {
            let header = Header(.submit, flags: .resent, job: id, generation: 1)
            let body = try JobBody.encode(skill: skill, input: JobInput(session: "s", text: "t"))
            let parcel = Parcel(header: header, body: body)
            bench.dispatcher.submitted(header, skill: skill, parcel: parcel, from: other, now: bench.now)
        }
        #expect(bench.taken().dispatches.isEmpty)
        #expect(bench.dispatcher.jobs[execution.job]?.gateway === other)
        #expect(bench.dispatcher.planning[planned]?.gateway === other)
        #expect(bench.event(execution, from: peer, terminal: .terminal, kind: .finished) == "forward")
    }

    @Test func whatIsWithThePlannerOrWaitsForWorkersIsKnown() throws {
        var bench = Bench()
        bench.now = 500
        _ = try bench.worker("chat")
        let planned = try bench.submit("")
        let early = try bench.submit("absent")
        #expect(bench.taken().said == ["plan"])
        for request in [planned, early] {
            try bench.submit(request == planned ? "" : "absent", request: request, generation: 1, flags: .resent)
        }
        #expect(bench.taken().said.isEmpty)
        #expect(bench.dispatcher.early.count == 1)
    }

    @Test func aHigherGenerationReplacesTheLower() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2)
        let request = try bench.submit()
        let old = try #require(bench.taken().dispatches.first?.0)
        try bench.submit("echo", request: request, generation: 2)
        let (dispatches, said) = bench.taken()
        #expect(said == ["worker fenced"])
        #expect(dispatches.first?.0.generation == 2)
        #expect(bench.event(old, from: peer) == "fence")
    }

    @Test func cancellingQueuedAndRunningJobs() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        let running = try bench.submit()
        let queued = try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        bench.dispatcher.cancelled(queued, now: bench.now)
        #expect(bench.taken().said == ["gateway event failed cancelled"])
        bench.dispatcher.cancelled(running, now: bench.now)
        #expect(bench.taken().said == ["worker cancel"])
        // Its worker dies before it can obey: the job is over all the same, and not run again.
        _ = bench.event(execution, from: peer)
        bench.dispatcher.workerLost(peer, reason: "died", now: bench.now)
        #expect(bench.taken().said == ["gateway event failed cancelled"])
    }

    @Test func aFullQueueRefusesAtOnce() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 0)
        for _ in 0..<Limits.queuedJobsPerSkill { try bench.submit() }
        #expect(bench.taken().said.isEmpty)
        try bench.submit()
        #expect(bench.taken().said == ["gateway nack overloaded"])
    }

    @Test func aSkillWithoutWorkersFailsByNameAfterTenSeconds() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        bench.dispatcher.workerLost(peer, reason: "left", now: bench.now)
        try bench.submit()
        bench.now += 9_000
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said.isEmpty)
        bench.now += 2_000
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway event failed no_worker"])
        #expect(bench.hints.count == 1 && bench.hints.allSatisfy { $0.hasPrefix("start a worker that serves ") })
    }

    @Test func aSilentWorkerIsLostAfterThreeHeartbeats() throws {
        var bench = Bench()
        let silent = try bench.worker(credit: 1)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        _ = bench.event(execution, from: silent)
        bench.now += 3_100
        let other = try bench.worker(credit: 1)
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().dispatches.map(\.1) == [other])
    }

    @Test func aJobThatAHeartbeatLacksIsLost() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.heartbeat(from: worker, free: 1, seen: 0, running: [], now: bench.now)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.heartbeat(from: worker, free: 1, seen: 1, running: [execution], now: bench.now)
        #expect(bench.taken().dispatches.isEmpty)
        bench.dispatcher.heartbeat(from: worker, free: 1, seen: 1, running: [], now: bench.now)
        #expect(bench.taken().dispatches.first?.0.attempt == 2)
    }

    @Test func newJobsGoToTheNewerVersion() throws {
        var bench = Bench()
        let old = try bench.worker(credit: 5, version: "1.0.0")
        let new = try bench.worker(credit: 1, version: "1.10.0")
        try bench.submit()
        try bench.submit()
        #expect(bench.taken().dispatches.map(\.1) == [new])
        bench.dispatcher.workerLost(new, reason: "left", now: bench.now)
        #expect(bench.taken().dispatches.map(\.1).allSatisfy { $0 == old })
    }

    @Test func aWorkerThatReconnectsKeepsItsJobs() throws {
        var bench = Bench()
        let instance = Identifier.timeOrdered(milliseconds: 9)
        let before = try bench.worker(credit: 1, instance: instance)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        _ = bench.event(execution, from: before)
        let held = Registration.Held(execution: execution, sequence: 1, state: .running)
        let after = try bench.worker(credit: 0, held: [held], instance: instance)
        #expect(bench.taken().dispatches.isEmpty)
        #expect(bench.event(execution, from: after, terminal: .terminal, kind: .finished) == "forward")
    }

    @Test func whatARouterDoesNotKnowOfAWorkersJobsIsFenced() throws {
        var bench = Bench()
        let execution = Execution(job: .timeOrdered(milliseconds: 3).job(step: 1), generation: 1, attempt: 1)
        _ = try bench.worker(credit: 1, held: [.init(execution: execution, sequence: 4, state: .running)])
        #expect(bench.taken().said == ["worker fenced"])
    }

    @Test func theDeadlineEndsAWaitingJob() throws {
        var bench = Bench()
        _ = try bench.worker(credit: 0)
        try bench.submit(deadline: 500)
        bench.now += 600
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway event failed timeout"])
    }

    @Test func anEndOfTheRoutersOwnComesAgainUntilItIsAcknowledged() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 0)
        let request = try bench.submit(deadline: 100)
        bench.now += 200
        bench.dispatcher.registry.workers[peer]?.lastHeard = bench.now
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway event failed timeout"])
        // The gateway was away when it was sent, and submits the request again after its return.
        try bench.submit("echo", request: request, generation: 1)
        #expect(bench.taken().said == ["gateway event failed timeout"])
        bench.dispatcher.acknowledged(Execution(job: request.job(step: 1), generation: 1, attempt: 1))
        #expect(bench.dispatcher.jobs.isEmpty)
    }

    @Test func aRequestThatReturnsToANewRouterIsPlannedOnlyWhenTheWorkersMayBeBack() throws {
        var bench = Bench()
        bench.now = 500
        _ = try bench.worker("chat")
        let request = Identifier.timeOrdered(milliseconds: 1)
        try bench.submit("", request: request, generation: 2)
        #expect(bench.taken().said.isEmpty)
        try bench.submit("", request: .timeOrdered(milliseconds: 2), generation: 1)
        #expect(bench.taken().said == ["plan"])
        bench.now = Dispatcher.startGrace + 1
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["plan"])
    }

    @Test func aQuestionThatIsNotAnsweredIsAskedAgainAndADenialReachesWhoeverWaits() throws {
        var bench = Bench()
        let caller = try bench.worker("a", credit: 1)
        _ = try bench.worker("once", credit: 1, idempotent: false)
        try bench.submit("a")
        let parent = try #require(bench.taken().dispatches.first?.0)
        let body = try JobBody.encode(skill: "once", input: JobInput(session: "s", text: "t", depth: 1))
        let worker = try #require(bench.dispatcher.registry.workers[caller])
        let call = Header(.call, job: parent.job, generation: 1, attempt: 1, sequence: 5)
        bench.dispatcher.called(call, body: body, frames: [], by: worker, now: bench.now)
        #expect(bench.taken().said == ["gateway mayStart"])
        bench.now += 2100
        bench.dispatcher.tick(now: bench.now)
        #expect(bench.taken().said == ["gateway mayStart"])
        let child = try #require(bench.dispatcher.jobs.keys.first { $0.step >= 100 })
        bench.dispatcher.mayStart(child, generation: 1, isGranted: false, now: bench.now)
        #expect(bench.taken().said == ["worker result"])
        #expect(bench.dispatcher.jobs[child] == nil)
    }

    @Test func aCancelledJobThatIsHandedBackIsOver() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 2)
        let requests = [try bench.submit(), try bench.submit()]
        let executions = bench.taken().dispatches.map(\.0)
        for request in requests { bench.dispatcher.cancelled(request, now: bench.now) }
        _ = bench.taken()
        let worker = try #require(bench.dispatcher.registry.workers[peer])
        bench.dispatcher.refused(executions[0], by: worker, JobError(code: "busy", message: "m"), now: bench.now)
        bench.dispatcher.released(executions[1], by: worker, now: bench.now)
        #expect(bench.taken().said == ["gateway event failed cancelled", "gateway event failed cancelled"])
    }

    @Test func anEndComesOverTheConnectionThatReplacedADeadOne() throws {
        var bench = Bench()
        let before = try bench.worker(credit: 1)
        try bench.submit()
        let execution = try #require(bench.taken().dispatches.first?.0)
        #expect(bench.event(execution, from: before, terminal: .terminal, kind: .finished) == "forward")
        bench.dispatcher.workerLost(before, reason: "silent", now: bench.now)
        let after = try bench.worker(credit: 1)
        #expect(bench.event(execution, from: after, terminal: [.terminal, .resent], kind: .finished) == "forward")
        bench.dispatcher.acknowledged(execution)
        #expect(bench.dispatcher.jobs.isEmpty)
    }

    @Test func numbersOfTheWireCannotOverflow() throws {
        var bench = Bench()
        let peer = try bench.worker(credit: 1)
        try bench.submit(deadline: .max)
        let execution = try #require(bench.taken().dispatches.first?.0)
        #expect(bench.event(execution, from: peer, terminal: .terminal, kind: .finished) == "forward")
    }
}
