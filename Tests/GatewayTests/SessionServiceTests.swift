import Bus
import SessionStore
import Telemetry
import TestSupport
import Testing
import Wire

@testable import Gateway

/// A gateway without HTTP over a folder and a router's address.
struct TestGateway {
    let folder: TemporaryFolder
    let service: SessionService
    var endpoint: String { "ipc://\(folder.file("frontend"))" }

    init(
        in folder: TemporaryFolder? = nil,
        memorySkill: String? = nil,
        memoryPatience: ConversationMemory.Patience = ConversationMemory.Patience()
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let store = try SQLiteSessionStore(folder: folder.file("state"))
        service = try SessionService(
            store: store,
            name: try GatewayName.read(in: folder.file("state")),
            log: Log(service: "test", to: { _ in }),
            memorySkill: memorySkill,
            memoryPatience: memoryPatience
        )
        try await service.restore()
        try service.connect(["ipc://\(folder.file("frontend"))"])
    }

    func router(instance: UInt64 = 1, skills: [String]? = nil) async throws -> FakeRouter {
        let router = try FakeRouter(endpoint, instance: instance, skills: skills)
        #expect(await eventually { service.readiness.router })
        return router
    }

    func events(_ session: Identifier, after number: UInt64 = 0) async throws -> [SessionEvent] {
        try await service.events(of: session, after: number, maxBytes: 1 << 24).events.map {
            try JSONBody.decode(SessionEvent.self, from: $0.json)
        }
    }

    func end(of request: Identifier, in session: Identifier) async throws -> SessionEvent {
        let follower = try await service.follow(session)
        defer { follower.stop() }
        func find() async throws -> SessionEvent? {
            try await events(session).first { $0.request == "\(request)" && $0.isTerminal }
        }
        if let event = try await find() { return event }
        for await _ in follower.changes {
            if let event = try await find() { return event }
        }
        return try #require(try await find())
    }
}

private let finished = #"{"output":{"text":"hi","parts":[]},"engine":"offline","cached":false,"milliseconds":1}"#

@Suite(.timeLimit(.minutes(1))) struct SessionServiceTests {
    @Test func aRequestGoesToTheRouterAndItsEventsComeBack() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        var request = NewRequest(text: "say hi", skill: "echo", arguments: ["loud": true])
        request.attachments = [.init(name: "a.txt", mediaType: "text/plain", data: Array("file".utf8))]
        let submitted = try await gateway.service.submit(request, in: session)
        #expect(submitted.session == session && !submitted.replayed)

        let submit = try await router.next(.submit)
        let (skill, input) = try JobBody.decode(submit.body)
        #expect(submit.header.job == submitted.id && submit.header.generation == 1)
        #expect(590_000...600_000 ~= submit.header.value)
        #expect(skill == "echo" && input.text == "say hi" && input.arguments == ["loud": true] && input.plan == nil)
        #expect(input.session == "\(session)" && input.history == nil)
        #expect(submit.attachments == [Array("file".utf8)])
        #expect(input.attachments == [JobInput.Attachment(name: "a.txt", mediaType: "text/plain", bytes: 4)])

        let job = Header(.event, job: submitted.id.job(step: 1), generation: 1, attempt: 1, sequence: 1)
        router.send(job, (.started, #"{"worker":"w","engine":"offline"}"#), (.delta, "hi"), (.finished, finished))
        let end = try await gateway.end(of: submitted.id, in: session)
        #expect(end.type == "request.finished" && end.data["output"]?["text"] == "hi")
        let acknowledged = try await router.next(.eventAck)
        #expect(acknowledged.body.count == ExecutionList.entry)
        #expect(
            try await gateway.events(session).map(\.type) == [
                "request.accepted", "request.plan", "job.started", "job.delta", "job.finished", "request.finished",
            ]
        )
        let snapshot = try await gateway.service.snapshot(of: session)
        #expect(snapshot.seq == 6 && snapshot.running.isEmpty && snapshot.messages.map(\.text) == ["say hi", "hi"])
        let log = try await gateway.service.jobLog(after: nil, limit: 10)
        #expect(
            log.jobs.map(\.skill) == ["echo"] && log.jobs.map(\.outcome) == ["finished"]
                && log.jobs.map(\.worker) == ["w"]
        )
        await gateway.service.close()
        await router.stop()
    }

    @Test func theRoutersPlanIsStoredAndTheNextRequestKnowsTheTurnsBefore() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let first = try await gateway.service.submit(NewRequest(text: "one", explain: true), in: session)
        let submit = try await router.next(.submit)
        #expect(try JobBody.decode(submit.body).input.explain == true)
        let plan = Plan.single("echo")
        router.send(try Outgoing(Header(.plan, job: first.id, generation: 1), json: plan))
        let job = Header(.event, job: first.id.job(step: 1), generation: 1, attempt: 1, sequence: 1)
        router.send(job, (.finished, finished))
        _ = try await gateway.end(of: first.id, in: session)
        _ = try await gateway.service.submit(NewRequest(text: "again"), in: session)
        let second = try JobBody.decode(try await router.next(.submit, number: 2).body)
        #expect(
            second.input.history == [
                JobInput.Turn(role: "user", text: "one", skills: ["echo"]),
                JobInput.Turn(role: "assistant", text: "hi"),
            ]
        )
        await gateway.service.close()
        await router.stop()
    }

    @Test func aClarificationIsOneEventBeforeTheEnd() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let request = try await gateway.service.submit(
            NewRequest(text: "shorten it", canClarify: true, routing: .model),
            in: session
        )
        let submitted = try JobBody.decode(try await router.next(.submit).body).input
        #expect(submitted.canClarify == true && submitted.routing == .model)
        let candidates = ["a", "b"].map { Plan.Candidate(skill: $0, displayName: "Skill \($0)", score: 0.75) }
        let question = try Outgoing(
            Header(.nack, job: request.id, generation: 1),
            json: Clarification(between: candidates)
        )
        router.send(question)
        router.send(question)
        let end = try await gateway.end(of: request.id, in: session)
        #expect(end.type == "request.failed" && end.data["error"]?["code"] == "ambiguous")
        let events = try await gateway.events(session)
        #expect(events.map(\.type) == ["request.accepted", "clarify", "request.failed"])
        let named: JSONValue = [
            "candidates": [
                ["skill": "a", "displayName": "Skill a", "score": 0.75],
                ["skill": "b", "displayName": "Skill b", "score": 0.75],
            ]
        ]
        #expect(events[1].data == named)
        #expect(events[1].request == "\(request.id)" && events[1].job == nil && events[1].seq == 2)
        await gateway.service.close()
        await router.stop()
    }

    @Test func aRestartSubmitsAgainWithPlanAndOutputs() async throws {
        let folder = try TemporaryFolder()
        let gateway = try await TestGateway(in: folder)
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let request = try await gateway.service.submit(NewRequest(text: "find and sum"), in: session)
        _ = try await router.next(.submit)
        let plan = Trial.plan("find", "sum", after: [2: ["s1"]])
        router.send(try Outgoing(Header(.plan, job: request.id, generation: 1), json: plan))
        router.send(
            Header(.event, job: request.id.job(step: 1), generation: 1, attempt: 1, sequence: 1),
            (.finished, finished)
        )
        router.send(
            Header(.event, job: request.id.job(step: 2), generation: 1, attempt: 1, sequence: 1),
            (.started, #"{"worker":"w","engine":"offline"}"#),
            (.delta, "half")
        )
        #expect(try await eventually { try await gateway.events(session).count == 5 })
        let running = try await gateway.service.snapshot(of: session).running
        #expect(running.map(\.request) == [request.id])
        #expect(running.first?.steps.map(\.state) == ["finished", "running"])
        #expect(running.first?.steps.map(\.text) == ["hi", "half"])
        await gateway.service.close()

        let restarted = try await TestGateway(in: folder)
        let again = try await router.next(.submit, number: 2)
        let input = try JobBody.decode(again.body).input
        // The same instance of the router has it still: it is asked for, not begun anew.
        #expect(again.header.job == request.id && again.header.generation == 1)
        #expect(again.header.flags.contains(.resent))
        #expect(input.plan == plan)
        #expect(input.previous == [JobInput.Previous(step: "s1", skill: "find", output: SkillOutput(text: "hi"))])
        // The attempt that still runs is adopted: what it said before is not repeated, what it says now goes on.
        router.send(
            Header(.event, job: request.id.job(step: 2), generation: 1, attempt: 1, sequence: 2),
            (.delta, "half"),
            (.delta, " whole"),
            (.finished, finished)
        )
        let end = try await restarted.end(of: request.id, in: session)
        #expect(end.type == "request.finished" && end.seq == 8)
        await restarted.service.close()
        await router.stop()
    }

    @Test func aRestartSubmitsAnewToAnotherRouterOrToOneThatHasForgotten() async throws {
        let folder = try TemporaryFolder()
        let gateway = try await TestGateway(in: folder)
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let request = try await gateway.service.submit(NewRequest(text: "x", skill: "echo"), in: session)
        let first = try await router.next(.submit)
        #expect(!first.header.flags.contains(.resent))
        await gateway.service.close()

        let restarted = try await TestGateway(in: folder)
        #expect(try await router.next(.submit, number: 2).header.flags.contains(.resent))
        let unknown = JobError(code: JobError.Code.unknownRequest, message: "")
        router.send(try Outgoing(Header(.nack, job: request.id, generation: 1), json: unknown))
        let anew = try await router.next(.submit, number: 3)
        #expect(anew.header.generation == 2 && !anew.header.flags.contains(.resent))
        await restarted.service.close()
        await router.stop()

        let other = try FakeRouter("ipc://\(folder.file("frontend"))", instance: 2)
        let third = try await TestGateway(in: folder)
        let elsewhere = try await other.next(.submit)
        #expect(elsewhere.header.generation == 3 && !elsewhere.header.flags.contains(.resent))
        await third.service.close()
        await other.stop()
    }

    @Test func aRouterThatCouldNotBeReachedGetsWhatWaited() async throws {
        let gateway = try await TestGateway()
        let session = try await gateway.service.createSession()
        let request = try await gateway.service.submit(NewRequest(text: "early"), in: session)
        await #expect(throws: GatewayError.noRouter) { try await gateway.service.skills() }
        #expect(gateway.service.readiness.isReady == false)
        let router = try await gateway.router()
        #expect(try await router.next(.submit).header.job == request.id)
        // Another instance at the same address: a new generation.
        await router.stop()
        let second = try await gateway.router(instance: 2)
        #expect(try await second.next(.submit).header.generation == 2)
        await gateway.service.close()
        await second.stop()
    }

    @Test func questionsAreAnsweredByTheirNumber() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        async let skills = gateway.service.skills()
        let first = try await router.next(.query)
        async let plan = gateway.service.route("text", attachments: [])
        let second = try await router.next(.query, number: 2)
        #expect(try JSONBody.decode(Query.self, from: second.body).text == "text")
        router.send(try Outgoing(Header(.answer, sequence: second.header.sequence), json: Plan.single("echo")))
        router.send(Outgoing(Header(.answer, sequence: 999), body: [1]))
        router.send(Outgoing(Header(.answer, sequence: first.header.sequence), body: Array(#"{"skills":[]}"#.utf8)))
        #expect(try await plan == Plan.single("echo"))
        #expect(try await skills == Array(#"{"skills":[]}"#.utf8))
        await gateway.service.close()
        await router.stop()
    }

    @Test func aQuestionThatTheRouterCannotReadIsAnsweredAtOnce() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let plan = Task { try await gateway.service.route("text", attachments: []) }
        let asked = try await router.next(.query)
        let error = JobError(code: JobError.Code.badMessage, message: "no such question")
        router.send(try Outgoing(Header(.error, sequence: asked.header.sequence), json: error))
        await #expect(throws: GatewayError.refused(error)) { _ = try await plan.value }
        let names = (0..<200_000).map {
            JobInput.Attachment(name: "\($0)\(String(repeating: "a", count: 200))", mediaType: "", bytes: 1)
        }
        let refusal = await #expect(throws: GatewayError.self) {
            _ = try await gateway.service.route("text", attachments: names)
        }
        #expect(refusal?.code == "too_large")
        await gateway.service.close()
        await router.stop()
    }

    @Test func cancelIsStoredSentAndAnswered() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let request = try await gateway.service.submit(NewRequest(text: "long", skill: "echo"), in: session)
        _ = try await router.next(.submit)
        #expect(try await gateway.service.cancel(request.id, in: session) == .cancelling)
        #expect(try await router.next(.cancel).header.job == request.id)
        let end = try await gateway.end(of: request.id, in: session)
        #expect(end.type == "request.cancelled")
        #expect(try await gateway.service.cancel(request.id, in: session) == .cancelled)
        let stranger = Identifier.timeOrdered(milliseconds: 1)
        await #expect(throws: GatewayError.requestNotFound("\(stranger)")) {
            try await gateway.service.cancel(stranger, in: session)
        }
        await gateway.service.close()
        await router.stop()
    }

    @Test func garbageOnTheBusDisturbsNothing() async throws {
        let gateway = try await TestGateway()
        let router = try await gateway.router()
        let session = try await gateway.service.createSession()
        let request = try await gateway.service.submit(NewRequest(text: "x", skill: "echo"), in: session)
        _ = try await router.next(.submit)
        let job = Header(.event, job: request.id.job(step: 1), generation: 1, attempt: 1, sequence: 1)
        router.send(Outgoing(job, body: [1, 2, 3]))
        router.send(Outgoing(Header(.plan, job: request.id, generation: 1), body: Array("{".utf8)))
        router.send(Outgoing(Header(.nack, job: request.id, generation: 1), body: []))
        router.send(Outgoing(Header(.welcome), body: Array("[]".utf8)))
        router.send(Outgoing(Header(.dispatch, job: request.id)))
        router.send(Outgoing(Header(.event, job: .none, sequence: .max), body: []))
        router.send(job, (.finished, finished))
        #expect(try await gateway.end(of: request.id, in: session).type == "request.finished")
        await gateway.service.close()
        await router.stop()
    }
}

@Suite(.timeLimit(.minutes(1))) struct SubmitTests {
    @Test func whatCannotBeServedIsNamed() async throws {
        let gateway = try await TestGateway()
        let session = try await gateway.service.createSession()
        func refusal(_ change: (inout NewRequest) -> Void) async -> GatewayError? {
            var request = NewRequest(text: "text")
            change(&request)
            do {
                _ = try await gateway.service.submit(request, in: session)
                return nil
            } catch { return error }
        }
        func field(_ change: (inout NewRequest) -> Void) async -> String? {
            if case .invalid(let field, _) = await refusal(change) { field } else { nil }
        }
        #expect(await field { $0.text = " \n " } == "text")
        #expect(await field { $0.arguments = [1] } == "arguments")
        #expect(await field { $0.arguments = ["x": .number(.nan)] } == "arguments")
        #expect(await field { $0.skill = "" } == "skill")
        #expect(await field { $0.timeout = 0 } == "timeout")
        #expect(await field { $0.timeout = .infinity } == "timeout")
        #expect(await field { $0.timeout = .nan } == "timeout")
        #expect(await field { $0.idempotencyKey = "" } == "Idempotency-Key")
        let one = NewRequest.Attachment(name: "a", mediaType: "", data: [])
        #expect(await field { $0.attachments = Array(repeating: one, count: 31) } == "attachments")
        #expect(await field { $0.attachments = [.init(name: "", mediaType: "", data: [])] } == "attachments.name")
        let text = await refusal { $0.text = String(repeating: "x", count: Limits.requestText + 1) }
        #expect(
            text == .tooLarge(what: "text with its arguments", limit: Limits.requestText, got: Limits.requestText + 1)
        )
        let big = NewRequest.Attachment(name: "a", mediaType: "", data: [UInt8](repeating: 0, count: Limits.frame))
        guard case .tooLarge(_, Limits.attachments, _) = await refusal({ $0.attachments = [big, big, big, big] }) else {
            Issue.record("the sum has a limit")
            return
        }
        #expect(await refusal { $0.text = String(repeating: "x", count: Limits.requestText) } == nil)
        await gateway.service.close()
    }

    @Test func aSessionThatIsNotThereIsNamed() async throws {
        let gateway = try await TestGateway()
        let stranger = Identifier.timeOrdered(milliseconds: 1)
        let expected = GatewayError.sessionNotFound("\(stranger)")
        await #expect(throws: expected) { try await gateway.service.submit(NewRequest(text: "x"), in: stranger) }
        await #expect(throws: expected) { try await gateway.service.snapshot(of: stranger) }
        await #expect(throws: expected) { try await gateway.service.events(of: stranger, after: 0, maxBytes: 1) }
        await #expect(throws: expected) { try await gateway.service.follow(stranger) }
        await gateway.service.close()
        await #expect(throws: GatewayError.draining) { try await gateway.service.createSession() }
    }

    @Test func theSameKeyIsTheSameRequest() async throws {
        let gateway = try await TestGateway()
        let session = try await gateway.service.createSession()
        let request = NewRequest(text: "x", whenBusy: .reject, idempotencyKey: "k")
        let first = try await gateway.service.submit(request, in: session)
        // It runs, and is to be refused while something runs; but it is the same one.
        let second = try await gateway.service.submit(request, in: session)
        #expect(second.id == first.id && second.replayed)
        await #expect(throws: GatewayError.idempotencyMismatch(key: "k")) {
            try await gateway.service.submit(NewRequest(text: "y", idempotencyKey: "k"), in: session)
        }
        await #expect(throws: GatewayError.busy(running: 1)) {
            try await gateway.service.submit(NewRequest(text: "y", whenBusy: .reject), in: session)
        }
        await gateway.service.close()
    }

    @Test func aNumberFromTheFutureGetsAGap() async throws {
        let gateway = try await TestGateway()
        let session = try await gateway.service.createSession()
        _ = try await gateway.service.submit(NewRequest(text: "x"), in: session)
        let page = try await gateway.service.events(of: session, after: 7, maxBytes: 1000)
        let gap = try JSONBody.decode(SessionEvent.self, from: try #require(page.gap))
        #expect(gap.type == "gap" && gap.seq == nil && gap.data == ["from": 2, "to": 7])
        #expect(page.events.isEmpty && page.next == 1)
        let usual = try await gateway.service.events(of: session, after: 1, maxBytes: 1000)
        #expect(usual.gap == nil && usual.events.isEmpty && usual.next == 1)
        await gateway.service.close()
    }

    @Test func aSessionTakesFiftyOpenRequests() async throws {
        let gateway = try await TestGateway()
        let session = try await gateway.service.createSession()
        for _ in 0..<50 { _ = try await gateway.service.submit(NewRequest(text: "x"), in: session) }
        await #expect(throws: GatewayError.tooManyRequests(limit: 50, of: "session")) {
            try await gateway.service.submit(NewRequest(text: "x"), in: session)
        }
        await gateway.service.close()
    }
}
