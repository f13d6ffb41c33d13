import Bus
import SessionStore
import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

@testable import Gateway

/// Whether data may go to outside parties: the question on its way to the user, and the answer on its way back.
@Suite struct ApprovalTests {
    private let disclosure = Disclosure(party: "api.example.org", bytes: 9, purpose: "translating")

    private func eventTypes(_ bench: Bench) async throws -> [String] {
        try await bench.store.events(of: bench.session, owner: "local", after: 0, maxBytes: 1 << 20).events.map(\.type)
    }

    private func answer(_ bench: Bench, _ request: Identifier, _ choice: ApprovalChoice) async throws {
        let record = ApprovalRecord(party: disclosure.party, choice: choice)
        try await bench.store.approve(record, of: request, in: bench.session, owner: "local", at: .now)
        bench.requests.answered(request, [record], now: 0)
    }

    @Test(arguments: [ApprovalChoice.allow, .deny])
    func eachPartyIsAskedAboutOnce(choice: ApprovalChoice) async throws {
        let bench = try await Bench()
        bench.requests.routerReady(.none, now: 0)
        let request = try await bench.accept()
        bench.report(request, 1, .approval(disclosure))
        // Said again, since no answer has come; and by another job of the request.
        bench.report(request, 2, .approval(disclosure))
        bench.report(request, 1, .approval(disclosure), step: 100)
        #expect(await eventually { (try? await eventTypes(bench))?.last == "approval" })
        #expect(bench.requests.openQuestions(of: request) == [disclosure.party])
        #expect(bench.router.now.approvals.isEmpty)
        try await answer(bench, request, choice)
        let jobs = [request.job(step: 1), request.job(step: 100)]
        #expect(bench.router.now.approvals.map(\.execution.job) == jobs)
        #expect(bench.router.now.approvals.allSatisfy { $0.isAllowed == choice.isAllowed })
        #expect(bench.requests.openQuestions(of: request).isEmpty)
        // An answer that was lost on its way is given again.
        bench.report(request, 3, .approval(disclosure))
        #expect(bench.router.now.approvals.count == 3)
        bench.report(request, 4, .disclosure(Array("{}".utf8)))
        #expect(await eventually { (try? await eventTypes(bench))?.last == "disclosure" })
        #expect(try await eventTypes(bench).filter { $0 == "approval" }.count == 1)
    }

    /// The answer is in the store and not here, as after a restart or from another gateway.
    @Test func whatIsAnsweredInTheStoreIsFound() async throws {
        let bench = try await Bench()
        bench.requests.routerReady(.none, now: 0)
        let request = try await bench.accept()
        let record = ApprovalRecord(party: disclosure.party, choice: .always)
        try await bench.store.approve(record, of: request, in: bench.session, owner: "local", at: .now)
        bench.report(request, 1, .approval(disclosure))
        #expect(await eventually { bench.router.now.approvals.map(\.isAllowed) == [true] })
        let other = try await bench.accept()
        bench.report(other, 1, .approval(disclosure))
        #expect(await eventually { bench.router.now.approvals.count == 2 })
    }

    @Test func theEventAsksInWordsAndSaysWhatCanBeAnswered() throws {
        let request = Identifier.timeOrdered(milliseconds: 1)
        let composer = EventComposer(session: request, request: request)
        let execution = Execution(job: request.job(step: 1), generation: 1, attempt: 1)
        let items = composer.items([.job(execution, skill: "translate", sequence: 1, .approval(disclosure))], at: .now)
        guard case .job(let events) = try #require(items.first) else { throw JobError(code: "none", message: "") }
        let event = try JSONBody.decode(JSONValue.self, from: try #require(events.events.first).numbered(1))
        #expect(event["type"] == "approval" && event["skill"] == "translate" && event["step"] == "s1")
        #expect(event["data"]?["choices"] == ["allow", "always", "deny"])
        let words = "May translate send 9 bytes to api.example.org (translating)?"
        #expect(event["data"]?["question"]?.string == words)
        #expect(event["data"]?["party"] == "api.example.org" && event["data"]?["bytes"] == 9)
    }

    @Test func aQuestionThatCannotBeReadHarmsNothing() throws {
        for payload in ["{}", #"{"party":"","bytes":1,"purpose":""}"#, #"{"party":"p","bytes":-1,"purpose":""}"#] {
            var writer = EventRecordWriter()
            writer.append(.approval, Array(payload.utf8))
            let (reports, problem) = ReportReader.read(writer.bytes.span.bytes)
            #expect(problem != nil && reports.map(\.report) == [.thinking("")])
        }
    }

    // MARK: HTTP

    @Test func aSessionSaysWhatMayLeave() async throws {
        let gateway = try await ServedGateway()
        for (body, policy) in [
            ("{}", "local-only"), (#"{"privacy":"ask"}"#, "ask"), (#"{"privacy":"allow"}"#, "allow"),
        ] {
            let id = try #require(try await gateway.send("POST", "/v1/sessions", body).json?["id"]?.string)
            #expect(try await gateway.send("GET", "/v1/sessions/\(id)").json?["privacy"]?.string == policy)
        }
        let wrong = try await gateway.send("POST", "/v1/sessions", #"{"privacy":"maybe"}"#)
        #expect(wrong.status == 400 && wrong.code == "invalid")
        #expect(wrong.json?["detail"]?.string?.contains("\"local-only\"") == true)
        let session = try await gateway.newSession()
        let path = "/v1/sessions/\(session)/requests"
        #expect(try await gateway.send("POST", path, #"{"text":"t","privacy":"never"}"#).status == 400)
        #expect(try await gateway.send("POST", path, #"{"text":"t","privacy":"ask","cache":false}"#).status == 202)
        await gateway.stop()
    }

    @Test func anAnswerIsForAQuestion() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        let request = try await gateway.ask("t", in: session)
        let path = "/v1/sessions/\(session)/requests/\(request)/approval"
        let none = try await gateway.send("POST", path, #"{"choice":"allow"}"#)
        #expect(none.status == 409 && none.code == "no_question")
        #expect(try await gateway.send("POST", path, #"{"choice":"perhaps"}"#).status == 400)
        #expect(try await gateway.send("POST", path, #"{"choice":"allow","party":""}"#).status == 400)
        // Who names the party may answer before the question comes.
        #expect(try await gateway.send("POST", path, #"{"choice":"deny","party":"p"}"#).status == 204)
        let other = "/v1/sessions/\(session)/requests/\(session)/approval"
        #expect(try await gateway.send("POST", other, #"{"choice":"allow","party":"p"}"#).status == 404)
        await gateway.stop()
    }

    @Test func forgettingEndsWhatRunsAndLeavesNothing() async throws {
        let gateway = try await ServedGateway()
        let session = try await gateway.newSession()
        _ = try await gateway.ask("t", in: session)
        #expect(try await gateway.send("DELETE", "/v1/sessions/\(session)").status == 204)
        #expect(try await gateway.send("GET", "/v1/sessions/\(session)").status == 404)
        #expect(try await gateway.send("DELETE", "/v1/sessions/\(session)").status == 404)
        #expect(try await gateway.send("GET", "/v1/sessions/\(session)/disclosures").status == 404)
        let all = try await gateway.send("GET", "/v1/disclosures")
        #expect(all.json?["disclosures"]?.array?.isEmpty == true && all.status == 200)
        #expect(try await gateway.send("GET", "/v1/disclosures?before=x").status == 400)
        await gateway.stop()
    }
}
