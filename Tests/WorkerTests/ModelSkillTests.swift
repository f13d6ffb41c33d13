import Glibc
import LLM
import ModelAccess
import SkillKit
import SkillKitTesting
import Synchronization
import TestSupport
import Testing
import Wire

@testable import ChatWorker
@testable import SummarizeWorker

/// Skills with a model, which is a server of the test's own.
@Suite(.timeLimit(.minutes(2))) struct ModelSkillTests {
    private typealias Connection = ScriptedServer.Connection

    private static func event(_ text: String) -> String {
        var json = JSONText()
        json.string(text)
        return #"data: {"choices":[{"index":0,"delta":{"content":\#(String(decoding: json.bytes, as: UTF8.self))}}]}"#
            + "\n\n"
    }

    private static func say(_ text: String, _ connection: Connection) {
        connection.startStream()
        connection.send(event(text))
        connection.send(#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"# + "\n\ndata: [DONE]\n\n")
    }

    private func access(_ server: ScriptedServer) throws -> ModelAccess {
        ModelAccess(client: LLMClient([try Endpoint(url: server.url + "/v1", model: "tester")]))
    }

    private static func messages(_ request: ScriptedServer.Request) -> [(role: String, text: String)] {
        let body = try? JSONBody.decode(JSONValue.self, from: request.body)
        return (body?["messages"]?.array ?? []).map { ($0["role"]?.string ?? "", $0["content"]?.string ?? "") }
    }

    private func engines(_ run: SkillRun) -> [String] {
        run.events.compactMap { if case .engine(let name) = $0 { name } else { nil } }
    }

    // MARK: chat

    @Test func chatStreamsTheModelsAnswer() async throws {
        let server = try ScriptedServer { _, connection in Self.say("a tide mill", connection) }
        let chat = Chat(access: try access(server))
        #expect(chat.engine == "tester")
        let run = await SkillRun(chat, SkillInput(text: "what is it?"))
        #expect(run.output?.text == "a tide mill" && run.streamedText == "a tide mill")
        #expect(engines(run) == ["tester"])
    }

    @Test func chatSendsTheLastTurnsThatFit() async throws {
        let server = try ScriptedServer { _, connection in Self.say("ok", connection) }
        var history: [JobInput.Turn] = []
        for number in 0..<40 {
            history.append(.init(role: "user", text: "question \(number) " + String(repeating: "q", count: 900)))
            history.append(.init(role: "assistant", text: "answer \(number)"))
        }
        history.append(.init(role: "user", text: String(repeating: "界", count: 3000)))
        _ = await SkillRun(Chat(access: try access(server)), SkillInput(text: "now", history: history))
        let messages = Self.messages(try #require(server.requests.first))
        #expect(messages.first?.role == "system" && messages.last?.text == "now")
        #expect(messages.dropFirst().first?.role == "user")
        #expect(messages.reduce(0) { $0 + $1.text.utf8.count } < 18 * 1024)
        #expect(
            messages.contains { $0.text.contains("question 39") }
                && !messages.contains { $0.text.contains("question 1 ") }
        )
        #expect(messages.contains { $0.text.contains("[…]") && $0.text.hasPrefix("界") })
    }

    @Test func chatForgetsTheOldestTurnsWhenTheModelReadsLess() async throws {
        let server = try ScriptedServer { request, connection in
            if Self.messages(request).count > 4 {
                connection.answer(400, #"{"error":{"code":"context_length_exceeded","message":"too long"}}"#)
            } else {
                Self.say("ok", connection)
            }
        }
        let history = (0..<8).map { JobInput.Turn(role: $0 % 2 == 0 ? "user" : "assistant", text: "turn \($0)") }
        let run = await SkillRun(Chat(access: try access(server)), SkillInput(text: "now", history: history))
        #expect(run.output?.text == "ok")
        #expect(Self.messages(try #require(server.requests.last)).contains { $0.text == "turn 6" })
    }

    @Test func chatWithoutAnAnswerFails() async throws {
        let server = try ScriptedServer { _, connection in Self.say("<think>hmm", connection) }
        let run = await SkillRun(Chat(access: try access(server)), SkillInput(text: "what?"))
        #expect(run.error?.code == "truncated")
    }

    @Test func cancellingChatClosesTheConnection() async throws {
        let begun = Mutex(false)
        let closed = Mutex(false)
        let server = try ScriptedServer { _, connection in
            connection.startStream()
            connection.send(Self.event("one "))
            begun.withLock { $0 = true }
            connection.waitForClose()
            closed.withLock { $0 = true }
        }
        let chat = Chat(access: try access(server))
        let task = Task { await SkillRun(chat, SkillInput(text: "go on")) }
        #expect(await eventually { begun.withLock { $0 } })
        task.cancel()
        #expect(await eventually { closed.withLock { $0 } })
        #expect(await task.value.output == nil)
    }

    // MARK: who may be asked

    @Test func withoutAnEndpointTheSkillsWorkOffline() async {
        #expect(Chat().engine == "offline" && Summarize().engine == "offline")
        #expect(await SkillRun(Chat(), SkillInput(text: "hello")).output != nil)
    }

    @Test func anEndpointOutsideIsNotAskedUnlessAllowed() async throws {
        // Reserved for documentation: nobody is there.
        let far = LLMClient([try Endpoint(url: "http://192.0.2.1:9/v1", model: "far")], rounds: 1)
        let local = Chat(access: ModelAccess(client: far))
        #expect(local.engine == "offline")
        let run = await SkillRun(local, SkillInput(text: "hello"))
        #expect(run.output != nil && engines(run) == ["offline"])
        #expect(
            run.events.contains { if case .progress(let text, _) = $0 { text.contains("192.0.2.1") } else { false } }
        )
        // Who is asked and says no is served offline as well.
        let refused = await SkillRun(local, SkillInput(text: "hello"), privacy: .ask)
        #expect(refused.output != nil && engines(refused) == ["offline"] && disclosures(refused).isEmpty)
    }

    @Test(arguments: [PrivacyPolicy.ask, .allow]) func whatGoesOutsideIsSaidBefore(policy: PrivacyPolicy) async throws {
        let far = LLMClient([try Endpoint(url: "http://192.0.2.1:9/v1", model: "far")], timeouts: quick, rounds: 1)
        let asked = Mutex<[Disclosure]>([])
        let chat = Chat(access: ModelAccess(client: far))
        let run = await SkillRun(
            chat,
            SkillInput(text: "hello"),
            privacy: policy,
            allows: { disclosure in
                asked.withLock { $0.append(disclosure) }
                return true
            }
        )
        // Nobody is there, which the skill finds out by trying.
        #expect(run.error != nil)
        #expect(disclosures(run).map(\.bytes) == [5] && disclosures(run).allSatisfy { $0.party.contains("192.0.2.1") })
        #expect(asked.withLock { $0.count } == (policy == .ask ? 1 : 0))
    }

    @Test(arguments: [
        ([String](), [String]()),
        (["http://192.0.2.1:9/v1"], ["http://192.0.2.1:9"]),
        (["https://api.example/v1", "http://localhost:1", "https://api.example/v1"], ["https://api.example"]),
        (["http://localhost:1", "https://api.example/v1"], []),
    ]) func theManifestSaysWhoMayGetWhat(urls: [String], parties: [String]) throws {
        let endpoints = try urls.map { try Endpoint(url: $0, model: "m") }
        let access = ModelAccess(client: endpoints.isEmpty ? nil : LLMClient(endpoints))
        #expect(Chat(access: access).sendsDataTo == parties && Summarize(access: access).sendsDataTo == parties)
    }

    @Test func nothingOutsideIsAFallbackOfWhatIsHere() async throws {
        let endpoints = [
            try Endpoint(url: "http://127.0.0.1:1/v1", model: "here"),
            try Endpoint(url: "http://192.0.2.1:9/v1", model: "far"),
        ]
        let chat = Chat(access: ModelAccess(client: LLMClient(endpoints, timeouts: quick, rounds: 1)))
        #expect(chat.engine == "here")
        let run = await SkillRun(chat, SkillInput(text: "hello"), privacy: .allow)
        #expect(disclosures(run).isEmpty)
        #expect(run.error?.message.contains("192.0.2.1") == false)
    }

    private var quick: LLMTimeouts {
        var timeouts = LLMTimeouts()
        timeouts.connect = 0.2
        return timeouts
    }

    private func disclosures(_ run: SkillRun) -> [Disclosure] {
        run.events.compactMap { if case .disclosure(let disclosure) = $0 { disclosure } else { nil } }
    }

    @Test func theEnvironmentNamesTheEndpoints() throws {
        let variables = ["SKILLBUS_LLM_URL": "http://127.0.0.1:9/v1", "SKILLBUS_LLM_MODEL": "m"]
        #expect(try ModelAccess.fromEnvironment([:]).engine == "offline")
        #expect(try ModelAccess.fromEnvironment(variables).engine == "m")
        #expect(throws: LLMError.self) {
            _ = try ModelAccess.fromEnvironment(variables.merging(["SKILLBUS_LLM_URL": "nowhere"]) { $1 })
        }
    }

    // MARK: summarize

    private func file(_ text: String) -> SkillInput {
        SkillInput(
            text: "summarise this",
            attachments: [.init(name: "a.txt", mediaType: "text/plain", data: Array(text.utf8))]
        )
    }

    private static func isLast(_ request: ScriptedServer.Request) -> Bool {
        messages(request).first?.text.contains("one part") == false
    }

    @Test func aShortTextIsOneCallAndAtMostFivePoints() async throws {
        let server = try ScriptedServer { _, connection in
            Self.say("Here are the points:\n\n1. **One**\n2) Two\n- Three\n* Four\n• Five\n- Six\n", connection)
        }
        let run = await SkillRun(Summarize(access: try access(server)), file("The mill stood still. It rained."))
        #expect(run.output?.text == "- One\n- Two\n- Three\n- Four\n- Five" && run.streamedText == run.output?.text)
        #expect(run.output?.parts.map(\.text) == ["One", "Two", "Three", "Four", "Five"])
        #expect(server.requests.count == 1)
    }

    @Test func aLongTextIsReadInPartsEachOfThemOnce() async throws {
        let running = Mutex((now: 0, most: 0))
        let server = try ScriptedServer { request, connection in
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            usleep(20_000)
            if Self.isLast(request) { Self.say("- All of it.", connection) } else { Self.say("A note.", connection) }
            running.withLock { $0.now -= 1 }
        }
        let paragraphs = (0..<200).map { "Paragraph \($0) says this. " + String(repeating: "It goes on. ", count: 30) }
        let run = await SkillRun(Summarize(access: try access(server)), file(paragraphs.joined(separator: "\n\n")))
        #expect(run.output?.text == "- All of it.")
        let parts = server.requests.filter { !Self.isLast($0) }.map { Self.messages($0).last?.text ?? "" }
        #expect(parts.count > 5 && parts.allSatisfy { $0.utf8.count < Digest.chunk + 100 })
        for number in 0..<200 { #expect(parts.count { $0.contains("Paragraph \(number) says") } == 1) }
        #expect(running.withLock { $0.most } > 1 && running.withLock { $0.most } <= 4)
        let fractions = run.events.compactMap { if case .progress(_, let fraction) = $0 { fraction } else { nil } }
        #expect(fractions == fractions.sorted() && fractions.count > parts.count)
    }

    @Test func partsThatTheModelCannotReadAreHalved() async throws {
        let server = try ScriptedServer { request, connection in
            if Self.messages(request).reduce(0, { $0 + $1.text.utf8.count }) > 3000 {
                connection.answer(400, #"{"error":{"message":"exceeds the available context size"}}"#)
            } else if Self.isLast(request) {
                Self.say("- Short.", connection)
            } else {
                Self.say("A note.", connection)
            }
        }
        let paragraphs = (0..<60).map { "Paragraph \($0) says this. " + String(repeating: "It goes on. ", count: 30) }
        let run = await SkillRun(Summarize(access: try access(server)), file(paragraphs.joined(separator: "\n\n")))
        #expect(run.output?.text == "- Short.", "\(String(describing: run.error))")
    }

    @Test func aPartThatFailsEndsTheJobAndTheOtherCalls() async throws {
        let server = try ScriptedServer { request, connection in
            if Self.messages(request).last?.text.contains("Paragraph 99 ") == true {
                connection.answer(401, #"{"error":{"message":"no"}}"#)
            } else {
                connection.waitForClose()
            }
        }
        let paragraphs = (0..<100).map { "Paragraph \($0) says this. " + String(repeating: "It goes on. ", count: 12) }
        let text = paragraphs.reversed().joined(separator: "\n\n")
        let run = await SkillRun(Summarize(access: try access(server)), file(text))
        #expect(run.error?.code == "model_key" && run.error?.hint?.contains("SKILLBUS_LLM_KEY") == true)
    }

    @Test func chunksKeepParagraphsAndLoseNothing() {
        let text = "One.\n\nTwo two.\n\n" + String(repeating: "long words ", count: 50) + "\n\nLast 界界界界界界界界界界界界."
        for size in [16, 40, 100, 10_000] {
            let chunks = TextChunks.split(text, atMost: size)
            #expect(chunks.allSatisfy { $0.utf8.count <= size })
            func bare(_ text: String) -> String { text.filter { !$0.isWhitespace } }
            #expect(bare(chunks.joined()) == bare(text))
        }
        #expect(TextChunks.split("a b c.\n\nd e f.", atMost: 8) == ["a b c.", "d e f."])
        #expect(TextChunks.split("", atMost: 8).isEmpty)
    }

    @Test(arguments: [
        ("- a\n- b\n- c\n", ["a", "b"]), ("3.5 million people came\n", ["3.5 million people came"]),
        ("1、第一\n2、第二", ["第一", "第二"]), ("# Summary\n\nSummary:\n- x\n- x\n", ["x"]),
        ("only one, unmarked", ["only one, unmarked"]),
        ("", []), ("-\n*\n", []), ("- 2021 was dry\n", ["2021 was dry"]),
    ])
    func pointsAreReadHoweverTheyAreMarked(_ written: String, _ points: [String]) {
        for size in [1, 5, 1000] {
            var reader = PointReader(most: 2, longest: 100)
            var found: [String] = []
            var rest = written[...]
            while !rest.isEmpty {
                found += reader.feed(String(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(found + reader.end() == points)
        }
    }
}
