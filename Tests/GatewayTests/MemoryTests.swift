import Bus
import TestSupport
import Testing
import Wire

@testable import Gateway

/// Turns that are too old to go along with a request are summarised, beside the requests.
@Suite(.timeLimit(.minutes(1))) struct MemoryTests {
    /// A turn of 400 bytes and more.
    private static func question(_ number: Int) -> String { "question \(number) " + String(repeating: "x", count: 400) }

    /// Plays the part of the router and of all workers in one session.
    private struct Conversation {
        let gateway: TestGateway
        let router: FakeRouter
        let session: Identifier
        var turns = 0
        /// SUBMIT messages that were read.
        var read = 0

        init(_ gateway: TestGateway, skills: [String]? = ["echo", "summarize"], owner: String = "local") async throws {
            self.gateway = gateway
            router = try await gateway.router(skills: skills)
            session = try await gateway.service.createSession(owner: owner)
        }

        /// The next message to the router.
        mutating func next() async throws -> (header: Header, skill: String, input: JobInput) {
            read += 1
            let submit = try await router.next(.submit, number: read)
            let (skill, input) = try JobBody.decode(submit.body)
            return (submit.header, skill, input)
        }

        func answer(_ request: Identifier, _ text: String) {
            router.send(
                Header(.event, job: request.job(step: 1), generation: 1, attempt: 1, sequence: 1),
                (.started, #"{"worker":"w","engine":"offline"}"#),
                (.delta, text),
                (
                    .finished,
                    #"{"output":{"text":"\#(text)","parts":[]},"engine":"offline","cached":false,"milliseconds":1}"#
                )
            )
        }

        /// One turn of the user's, which is answered.
        /// - Returns: What the skill got.
        @discardableResult
        mutating func turn(owner: String = "local") async throws -> JobInput {
            turns += 1
            let request = NewRequest(text: MemoryTests.question(turns), skill: "echo")
            let submitted = try await gateway.service.submit(request, in: session, owner: owner)
            let (header, skill, input) = try await next()
            #expect(header.job == submitted.id && skill == "echo")
            answer(submitted.id, "answer \(turns)")
            let gateway = gateway
            let session = session
            #expect(
                await eventually {
                    (try? await gateway.service.snapshot(of: session, owner: owner).running.isEmpty) ?? false
                }
            )
            return input
        }

        func stop() async {
            await gateway.service.close()
            await router.stop()
        }
    }

    @Test func olderTurnsAreSummarisedAndTheSummaryGoesAlong() async throws {
        let gateway = try await TestGateway(memorySkill: "summarize")
        var talk = try await Conversation(gateway)
        // Six turns go along word for word; with the tenth request there are three that do not, and those are enough.
        for _ in 1...9 { #expect(try await talk.turn().summary == nil) }
        let tenth = try await talk.turn()
        #expect(tenth.history?.first?.text == Self.question(4))
        let (header, skill, input) = try await talk.next()
        #expect(skill == "summarize" && header.flags.contains(.lowPriority))
        #expect(input.privacy == nil && input.cache == false && input.session == "\(talk.session)")
        for number in 1...3 {
            #expect(input.text.contains(Self.question(number)) && input.text.contains("answer \(number)"))
        }
        #expect(!input.text.contains("question 4"))
        talk.answer(header.job, "they talked")
        let session = talk.session
        #expect(await eventually { (try? await gateway.service.snapshot(of: session).summary?.text) == "they talked" })
        let snapshot = try await gateway.service.snapshot(of: session)
        #expect(snapshot.summary?.requests == 3)
        let acknowledged = talk.router
        #expect(
            await eventually {
                acknowledged.all(.eventAck).contains { message in
                    var found = false
                    try? ExecutionList.forEach(message.body.span.bytes) { execution in
                        found = found || execution.job.request == header.job
                    }
                    return found
                }
            }
        )
        // It is no turn, and no follower has seen anything of it.
        #expect(snapshot.messages.count == 20)
        #expect(try await !gateway.events(session).contains { $0.request == "\(header.job)" })

        // It goes along with the next request, and the next summary begins with it and has only what came after.
        let eleventh = try await talk.turn()
        #expect(eleventh.summary == "they talked" && eleventh.history?.first?.text == Self.question(5))
        for _ in 12...13 { try await talk.turn() }
        let (_, again, more) = try await talk.next()
        #expect(again == "summarize" && more.text.hasPrefix("they talked\n\n"))
        #expect(more.text.contains("question 4 ") && more.text.contains("question 6 "))
        #expect(!more.text.contains("question 3 "))
        await talk.stop()
    }

    @Test func withoutAWorkerOrWithoutASkillForItNothingIsSummarised() async throws {
        for (memorySkill, skills) in [("summarize", ["echo"]), (nil, ["echo", "summarize"])] {
            let gateway = try await TestGateway(memorySkill: memorySkill)
            var talk = try await Conversation(gateway, skills: skills)
            for _ in 1...12 { try await talk.turn() }
            #expect(talk.router.all(.submit).count == 12)
            await talk.stop()
        }
    }

    @Test func oneThatFailsIsTriedAgainAndNobodyNotices() async throws {
        var patience = ConversationMemory.Patience()
        patience.afterFailure = 0
        let gateway = try await TestGateway(memorySkill: "summarize", memoryPatience: patience)
        var talk = try await Conversation(gateway)
        for _ in 1...10 { try await talk.turn() }
        let first = try await talk.next()
        // While it runs there is no second one.
        try await talk.turn()
        #expect(talk.router.all(.submit).count == talk.read)
        talk.router.send(
            try Outgoing(
                Header(.nack, job: first.header.job, generation: 1),
                json: JobError(code: "overloaded", message: "too much", retryable: true)
            )
        )
        #expect(await eventually { !gateway.service.requests.background.has(first.header.job) })
        var second: (header: Header, skill: String, input: JobInput)?
        // The task that failed may not have ended when the next request comes: the one after it tries.
        for _ in 1...20 where second == nil {
            try await talk.turn()
            let (router, read) = (talk.router, talk.read)
            if await eventually(within: .milliseconds(500), { router.all(.submit).count > read }) {
                second = try await talk.next()
            }
        }
        let tried = try #require(second)
        #expect(tried.skill == "summarize" && tried.input.text.contains("question 1 "))
        talk.router.send(
            Header(.event, job: tried.header.job.job(step: 1), generation: 1, attempt: 1, sequence: 1),
            (.failed, #"{"code":"skill_failed","message":"no"}"#)
        )
        let session = talk.session
        #expect(await eventually { !gateway.service.requests.background.has(tried.header.job) })
        #expect(try await gateway.service.snapshot(of: session).summary == nil)
        await talk.stop()
    }

    @Test func aForgottenSessionEndsWhatIsBeingMade() async throws {
        let gateway = try await TestGateway(memorySkill: "summarize")
        var talk = try await Conversation(gateway)
        for _ in 1...10 { try await talk.turn() }
        let (header, _, _) = try await talk.next()
        try await gateway.service.forget(talk.session, owner: SessionService.owner)
        #expect(try await talk.router.next(.cancel).header.job == header.job)
        // It ends all the same, and leaves nothing.
        talk.answer(header.job, "they talked")
        #expect(await eventually { !gateway.service.requests.background.has(header.job) })
        let session = talk.session
        await #expect(throws: GatewayError.self) { _ = try await gateway.service.snapshot(of: session) }
        await talk.stop()
    }

    @Test func whoIsOneOfManyTenantsStaysOneOfThem() async throws {
        let gateway = try await TestGateway(memorySkill: "summarize")
        var talk = try await Conversation(gateway, owner: "anna")
        for _ in 1...10 { try await talk.turn(owner: "anna") }
        #expect(try await talk.next().input.tenant == TenantNumber.of("anna"))
        await talk.stop()
    }
}
