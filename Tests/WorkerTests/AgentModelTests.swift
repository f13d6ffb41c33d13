import LLM
import ModelAccess
import SkillKit
import SkillKitTesting
import Synchronization
import TestSupport
import Testing
import Wire

@testable import AgentWorker

/// The agent with a model server of the test's own, most of all where that is of no use: then the router's plan runs.
@Suite(.timeLimit(.minutes(2))) struct AgentModelTests {
    private typealias Connection = ScriptedServer.Connection

    private static let skills = ["find", "shorten"].map { SkillManifest(id: $0, description: $0) }
    private static let chain = Plan(
        mode: .chain,
        steps: [.init(number: 1, skill: "find"), .init(number: 2, skill: "shorten", after: ["s1"])]
    )

    private static func calls(_ skill: String, _ text: String, _ connection: Connection) {
        calls(skill, arguments: #"{\"text\": \"\#(text)\"}"#, connection)
    }

    private static func calls(_ skill: String, arguments: String, _ connection: Connection) {
        connection.startStream()
        let function = #""function":{"name":"\#(skill)","arguments":"\#(arguments)"}"#
        let call = #"{"index":0,"id":"c","type":"function",\#(function)}"#
        connection.send(#"data: {"choices":[{"index":0,"delta":{"tool_calls":[\#(call)]}}]}"# + "\n\n")
        connection.send(#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"# + "\n\n")
        connection.send("data: [DONE]\n\n")
    }

    /// A model that calls `find`, and what it does when it has the result.
    private static func callsFind(_ then: @escaping @Sendable (Connection) -> Void) throws -> ScriptedServer {
        try ScriptedServer { request, connection in
            if ModelServer.messages(request).contains(where: { $0.role == "tool" }) {
                then(connection)
            } else {
                calls("find", "x", connection)
            }
        }
    }

    private func run(
        _ access: ModelAccess,
        _ text: String = "find it",
        timeout: Duration = .seconds(60),
        privacy: PrivacyPolicy = .localOnly,
        plan: Plan = Self.chain,
        calls: @escaping @Sendable (String, JobInput) async throws(SkillError) -> SkillOutput = {
            skill,
            input throws(SkillError) in SkillOutput(text: "\(skill): \(input.text)")
        }
    ) async -> SkillRun {
        await SkillRun(
            Agent(access: access),
            SkillInput(text: text),
            timeout: timeout,
            privacy: privacy,
            calls: calls,
            skills: Self.skills,
            plan: { _ in plan }
        )
    }

    @Test func whereNobodyListensTheRoutersPlanRuns() async throws {
        let endpoint = try Endpoint(url: "http://127.0.0.1:1/v1", model: "tester")
        let access = ModelAccess(client: LLMClient([endpoint], rounds: 1))
        let english = await run(access)
        #expect(english.output?.text == "shorten: find it" && english.engines.last == "offline")
        let why = english.progress.first { $0.contains("going on without a model") }
        #expect(why?.contains("the model at http://127.0.0.1:1 cannot be reached") == true)
        #expect(english.progress.contains("running the router's plan: find → shorten"))
        let chinese = await run(access, "找一下")
        #expect(chinese.output?.text == "shorten: 找一下")
        #expect(chinese.progress.contains { $0.contains("无法连接模型") })
        #expect(chinese.progress.contains("按路由器的计划执行：find → shorten"))
    }

    @Test(arguments: [401, 404, 500, 503]) func aModelThatRefusesLeavesTheRoutersPlan(status: Int) async throws {
        let server = try ScriptedServer { _, connection in connection.answer(status, #"{"error":{"message":"no"}}"#) }
        let run = await run(try ModelServer.access(server, rounds: 1))
        #expect(run.output?.text == "shorten: find it" && run.engines.last == "offline")
        #expect(run.progress.contains { $0.contains("no") && $0.contains("going on without a model") })
    }

    /// Time is kept for the plan.
    @Test func aModelThatHangsLeavesTheRoutersPlan() async throws {
        let server = try ScriptedServer { _, connection in connection.waitForClose() }
        let began = ContinuousClock.now
        let run = await run(try ModelServer.access(server), timeout: .seconds(2))
        #expect(run.output?.text == "shorten: find it")
        #expect(run.progress.contains { $0.contains("took too long") })
        // What a runtime would have ended by then.
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    @Test func anAnswerThatBreaksOffIsVoidAndThePlanRuns() async throws {
        let server = try Self.callsFind { connection in
            ModelServer.cut(String(repeating: "half of it ", count: 40), connection)
        }
        let run = await run(try ModelServer.access(server, rounds: 1))
        #expect(run.output?.text == "shorten: find it")
        #expect(run.streamedText.contains("half of it") && run.standingText.isEmpty)
        #expect(run.retries.last == "what was written so far does not count: the router's plan is run instead")
        #expect(run.progress.contains { $0.contains("incomplete") && $0.contains("going on without a model") })
    }

    @Test func anEmptyAnswerIsNone() async throws {
        let server = try ScriptedServer { _, connection in ModelServer.say("", connection) }
        let run = await run(try ModelServer.access(server, rounds: 1))
        #expect(run.output?.text == "shorten: find it")
        #expect(run.progress.contains { $0.contains("gave no answer") })
    }

    @Test func whereThereIsNoPlanTheModelsFailureIsTheAnswer() async throws {
        let server = try Self.callsFind { connection in
            connection.answer(401, #"{"error":{"message":"no"}}"#)
        }
        let run = await run(try ModelServer.access(server, rounds: 1), plan: Plan(mode: .none, steps: []))
        #expect(run.error?.code == "model_key")
        #expect(run.error?.message.contains("calls of skills finished before that: 1") == true)
        #expect(run.error?.message.contains("the router has no plan for this either") == true)
    }

    @Test func whereThePlanFailsTooTheModelsFailureIsTheAnswer() async throws {
        let server = try ScriptedServer { _, connection in connection.answer(401, #"{"error":{"message":"no"}}"#) }
        let run = await run(
            try ModelServer.access(server, rounds: 1),
            calls: { _, _ throws(SkillError) in throw SkillError("gone", "nothing was found", retryable: true) }
        )
        #expect(run.error?.code == "model_key" && run.error?.retryable == false)
        #expect(run.error?.message.contains("the router's plan failed too: find: nothing was found") == true)
    }

    /// What may have been done and must not be done twice ends the run.
    @Test func afterACallOfUnknownOutcomeNothingIsRunInstead() async throws {
        let server = try Self.callsFind { connection in
            connection.answer(500, #"{"error":{"message":"no"}}"#)
        }
        let made = Mutex<[String]>([])
        let run = await run(
            try ModelServer.access(server, rounds: 1),
            calls: { skill, _ throws(SkillError) in
                made.withLock { $0.append(skill) }
                throw SkillError(JobError.Code.outcomeUnknown, "its worker died")
            }
        )
        #expect(run.error?.code == "model_failed" && made.withLock { $0 } == ["find"])
        #expect(run.error?.message.contains("find may have done its work already") == true)
        #expect(run.error?.hint == "check whether it took effect before you ask again")
    }

    @Test func anEndpointThatIsNotAllowedLeavesTheRoutersPlan() async throws {
        let far = ModelAccess(client: LLMClient([try Endpoint(url: "http://192.0.2.1:9/v1", model: "far")]))
        for policy in [PrivacyPolicy.localOnly, .ask] {
            let run = await run(far, privacy: policy)
            #expect(run.output?.text == "shorten: find it" && run.engines.last == "offline")
            #expect(run.progress.contains { $0.contains("the model at http://192.0.2.1:9 is not used") })
            #expect(run.progress.contains("running the router's plan: find → shorten"))
            #expect(!run.progress.contains { $0.hasPrefix("no model:") })
        }
        let none = await run(far, plan: Plan(mode: .none, steps: []))
        #expect(none.error?.code == "out_of_scope" && none.error?.hint?.contains("--privacy") == true)
    }

    @Test func theModelHearsWhatWasSaidBefore() async throws {
        let server = try ScriptedServer { _, connection in ModelServer.say("ok", connection) }
        let input = SkillInput(
            text: "and now?",
            history: [.init(role: "user", text: "q"), .init(role: "assistant", text: "a")],
            summary: "They spoke of tide mills."
        )
        let run = await SkillRun(Agent(access: try ModelServer.access(server)), input, skills: Self.skills)
        #expect(run.output?.text == "ok")
        let messages = ModelServer.messages(try #require(server.requests.first))
        // With the rules, since many models take one message of the system only.
        #expect(messages.map(\.role) == ["system", "user", "assistant", "user"])
        #expect(messages.first?.text.contains("They spoke of tide mills.") == true)
    }

    // MARK: Files

    private static let readers = [
        SkillManifest(id: "find", description: "find"),
        SkillManifest(id: "read", description: "read", inputTypes: [.text, .file]),
    ]
    private static let files = [
        SkillInput.Attachment(name: "a.txt", mediaType: "text/plain", data: Array("tide".utf8)),
        SkillInput.Attachment(name: "b.pdf", mediaType: "application/pdf", data: [1, 2, 0]),
    ]

    @Test func theModelSaysWhichFilesASkillGets() async throws {
        let server = try ScriptedServer { request, connection in
            if ModelServer.messages(request).contains(where: { $0.role == "tool" }) {
                ModelServer.say("done", connection)
            } else {
                let arguments = #"{\"text\": \"x\", \"files\": [\"b.pdf\"]}"#
                Self.calls("read", arguments: arguments, connection)
            }
        }
        let got = Mutex<[JobInput.Attachment]>([])
        let run = await SkillRun(
            Agent(access: try ModelServer.access(server)),
            SkillInput(text: "read it", attachments: Self.files),
            calls: { _, input throws(SkillError) in
                got.withLock { $0 = input.attachments ?? [] }
                return SkillOutput(text: "read")
            },
            skills: Self.readers
        )
        #expect(run.output?.text == "done")
        #expect(got.withLock { $0 } == [.init(name: "b.pdf", mediaType: "application/pdf", bytes: 3)])
        let asked = ModelServer.messages(try #require(server.requests.first)).last?.text ?? ""
        #expect(asked.contains("Files: a.txt (text/plain, 4 bytes); b.pdf (application/pdf, 3 bytes)"))
    }

    @Test func onlySkillsThatTakeFilesGetThoseThatThereAre() throws {
        let toolbox = Toolbox(Self.readers, files: Self.files.map(\.name))
        #expect(toolbox.tools[0].parameters["properties"]?["files"] == nil)
        #expect(toolbox.tools[1].parameters["properties"]?["files"]?["items"]?["enum"] == ["a.txt", "b.pdf"])
        #expect(Toolbox(Self.readers).tools[1].parameters["properties"]?["files"] == nil)
        func read(_ arguments: String) throws(Toolbox.Misfit) -> [String] {
            try toolbox.read(ToolCall(id: "1", name: "read", arguments: arguments, isComplete: true)).files
        }
        #expect(try read(#"{"text": "x", "files": ["a.txt"]}"#) == ["a.txt"])
        #expect(try read(#"{"text": "x"}"#) == [] && read(#"{"text": "x", "files": null}"#) == [])
        for wrong in [#"["c.txt"]"#, "[1]", #""a.txt""#] {
            #expect(throws: Toolbox.Misfit(reason: "\"files\" must be a list of: a.txt, b.pdf.")) {
                try read("{\"text\": \"x\", \"files\": \(wrong)}")
            }
        }
    }

    @Test func everyStepOfThePlanGetsWhatCameWithTheText() async throws {
        let steps = Mutex<[JobInput]>([])
        let asked = Mutex<Query?>(nil)
        let turn = JobInput.Turn(role: "user", text: "before")
        let before = JobInput.Previous(step: "s1", skill: "other", output: SkillOutput(text: "found"))
        _ = await SkillRun(
            Agent(),
            SkillInput(
                text: "read it",
                attachments: Self.files,
                history: [turn],
                summary: "mills",
                previous: [before]
            ),
            calls: { skill, input throws(SkillError) in
                steps.withLock { $0.append(input) }
                return SkillOutput(text: skill)
            },
            skills: Self.skills,
            plan: { query in
                asked.withLock { $0 = query }
                return Self.chain
            }
        )
        let made = steps.withLock { $0 }
        #expect(made.map { $0.attachments?.map(\.name) } == [["a.txt", "b.pdf"], ["a.txt", "b.pdf"]])
        #expect(made.allSatisfy { $0.history == [turn] && $0.summary == "mills" })
        #expect(made.map { $0.previous?.map(\.output.text) } == [["found"], ["find"]])
        #expect(asked.withLock { $0?.attachments?.map(\.name) } == ["a.txt", "b.pdf"])
    }

    // MARK: Choosing

    private func choose(_ url: String, _ policy: PrivacyPolicy, approved: [String] = []) async throws -> SkillRun {
        var timeouts = LLMTimeouts()
        timeouts.connect = 0.1
        let client = LLMClient([try Endpoint(url: url, model: "far")], timeouts: timeouts, rounds: 1)
        return await SkillRun(
            Agent(access: ModelAccess(client: client)),
            SkillInput(text: "what is it"),
            arguments: ["choose": true],
            timeout: .seconds(2),
            privacy: policy,
            approved: approved,
            skills: Self.skills
        )
    }

    private func reason(_ run: SkillRun) -> String {
        run.output?.parts.first { $0.kind == "route" }?.values?["reason"]?.string ?? ""
    }

    /// Whoever was allowed in the session is asked; nobody has time for a question.
    @Test func anEndpointThatTheUserHasAllowedIsAsked() async throws {
        let url = "http://192.0.2.1:9/v1"
        let origin = "http://192.0.2.1:9"
        let allowed = try await choose(url, .ask, approved: [origin])
        #expect(allowed.events.contains { if case .disclosure(let to) = $0 { to.party == origin } else { false } })
        #expect(!reason(allowed).contains("may not go") && !reason(allowed).isEmpty)
        let another = try await choose(url, .ask, approved: ["http://192.0.2.2:9"])
        #expect(reason(another).contains("may not go to \(origin) in this session without a question"))
        #expect(reason(another).contains("\"always in this session\", or ask with --privacy allow"))
        let closed = try await choose(url, .localOnly, approved: [origin])
        #expect(reason(closed) == "this session's text may not go to \(origin) (--privacy allow lets it)")
        for run in [another, closed] {
            #expect(!run.events.contains { if case .disclosure = $0 { true } else { false } })
        }
    }
}
