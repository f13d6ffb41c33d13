import LLM
import ModelAccess
import SkillKit
import SkillKitTesting
import TestSupport
import Testing
import Wire

@testable import KeywordsWorker
@testable import KnowledgeWorker

/// Skills that keep a model to what is written: knowledge to its passages, keywords to the text.
@Suite(.timeLimit(.minutes(1))) struct GroundedTests {
    // MARK: knowledge

    private static let documents: JSONValue = [
        [
            "id": "leave.md", "title": "Leave",
            "text": "Annual leave is thirty days. Leave must be asked for a week before.",
        ],
        ["id": "trips.md", "title": "Trips", "text": "Leave for trips is granted by the head of the office."],
    ]

    private func ask(_ question: String, _ server: ScriptedServer) async throws -> SkillRun {
        let skill = Knowledge(index: "/nowhere", access: try ModelServer.access(server, rounds: 1))
        return await SkillRun(skill, SkillInput(text: question), arguments: ["documents": Self.documents])
    }

    private func answering(_ text: String) throws -> ScriptedServer {
        try ScriptedServer { _, connection in ModelServer.say(text, connection, pieces: 3) }
    }

    @Test func theAnswerHasItsSourcesBehindIt() async throws {
        let server = try answering("Thirty days of leave are granted [1].")
        let run = try await ask("how many days of annual leave are there?", server)
        #expect(run.output?.text == "Thirty days of leave are granted [1].\n\n[1] Leave — leave.md")
        #expect(run.streamedText == run.output?.text && run.engines == ["tester"])
        #expect(run.output?.parts.count { $0.kind == "passage" } == 2)
        let messages = ModelServer.messages(try #require(server.requests.first))
        #expect(messages[1].text.contains("[1] Leave\nAnnual leave is thirty days."))
        #expect(messages[1].text.hasSuffix("how many days of annual leave are there?"))
    }

    @Test func numbersOfPassagesThatDoNotExistAreTakenOut() async throws {
        let run = try await ask(
            "annual leave",
            try answering("Thirty days [1][7]. A week before [1, 9]; see [note] of [2024].")
        )
        #expect(run.output?.text.hasPrefix("Thirty days [1]. A week before [1]; see [note] of [2024].") == true)
        #expect(run.progress.contains { $0.contains("7, 9") } && run.output?.text.contains("trips.md") == false)
    }

    @Test func sentencesWithoutAPassageAreSaid() async throws {
        let run = try await ask(
            "annual leave",
            try answering("Leave is thirty days [1]. Everybody likes to travel a lot.")
        )
        #expect(run.output?.text.contains("(Note: no passage is named for 1 sentence.)") == true)
        #expect(GroundedAnswer.unsupported(in: "It is thirty days. [1] It must be asked for. [1][2]") == 0)
        #expect(GroundedAnswer.unsupported(in: "年假三十天[1]。提前一周申请即可办理好手续。") == 1)
    }

    @Test func anAnswerWithoutAnyPassageIsNotUsed() async throws {
        let run = try await ask("annual leave", try answering("I believe it is forty days [8]."))
        #expect(run.output?.text.hasPrefix("[1] Leave — leave.md\n") == true)
        #expect(run.retries.count == 1 && run.standingText.isEmpty && run.engines.last == "offline")
    }

    @Test(arguments: ["NO_ANSWER", " NO_ANSWER.", ""])
    func whereTheModelFindsNothingThePassagesAreTheAnswer(_ answer: String) async throws {
        let run = try await ask("annual leave", try answering(answer))
        #expect(run.output?.text.hasPrefix("[1] Leave — leave.md\n") == true && run.streamedText.isEmpty)
        #expect(run.engines.last == "offline" && run.progress.contains { $0.contains("model") })
    }

    @Test func aModelThatFailsLeavesThePassages() async throws {
        let refusing = try ScriptedServer { _, connection in connection.answer(401, #"{"error":{"message":"no"}}"#) }
        let refused = try await ask("查一下年假 annual leave", refusing)
        #expect(refused.output?.text.hasPrefix("[1] Leave") == true && refused.engines.last == "offline")
        #expect(refused.progress.contains { $0.contains("密钥") && $0.contains("离线") })
        let cutting = try ScriptedServer { _, connection in ModelServer.cut("Thirty days [1] and", connection) }
        let cut = try await ask("annual leave", cutting)
        #expect(cut.output?.text.hasPrefix("[1] Leave — leave.md\n") == true && cut.standingText.isEmpty)
    }

    @Test func whatIsNotFoundIsNotAskedFor() async throws {
        let server = try answering("It is forty days [1].")
        let run = try await ask("quantum chromodynamics", server)
        #expect(run.error?.code == "nothing_found" && server.requests.isEmpty)
    }

    // MARK: keywords

    private let text =
        "Solar panels turn sunlight into electricity. Electricity from solar panels needs storage at night."

    private func keywords(_ server: ScriptedServer, count: Int = 8) async throws -> SkillRun {
        let skill = Keywords(access: try ModelServer.access(server, rounds: 1))
        return await SkillRun(
            skill,
            SkillInput(text: "extract keywords", separatedMaterial: text),
            arguments: ["count": .integer(Int64(count))]
        )
    }

    @Test func aModelChoosesAndWhatTheTextDoesNotHaveIsATopic() async throws {
        let server = try answering(
            #"{"keywords": ["Solar  panels", "storage", "solar panels", "renewable energy", "", "art"]}"#
        )
        let run = try await keywords(server)
        #expect(run.output?.text == "Solar panels, storage, renewable energy (topic), art (topic)")
        #expect(run.output?.parts.map(\.kind) == ["keyword", "keyword", "topic", "topic"] && run.engines == ["tester"])
        let scores = run.output?.parts.compactMap(\.score) ?? []
        #expect(scores == scores.sorted(by: >) && scores.first == 1)
        #expect(try await keywords(server, count: 2).output?.text == "Solar panels, storage")
    }

    @Test(arguments: ["no list", #"{"keywords": ["#, #"{"keywords": ["elephants", "giraffes"]}"#, #"{"keywords": []}"#])
    func aBadAnswerLeavesTheOfflineKeywords(_ answer: String) async throws {
        let offline = await SkillRun(Keywords(), SkillInput(text: "extract keywords", separatedMaterial: text))
        let run = try await keywords(try answering(answer))
        #expect(run.output != nil && run.output == offline.output)
        #expect(run.engines.last == "offline" && run.progress.contains { $0.contains("going on without a model") })
    }

    @Test func theListIsFoundAmongWords() async throws {
        let server = try answering(#"Of the [3] lists that fit {this text}: {"keywords": ["storage"]}, see [1]."#)
        #expect(try await keywords(server).output?.text == "storage")
    }

    /// Only a model's own answer, or work for which none is set up, is an answer to the same text later.
    @Test func whatWasDoneForWantOfTheModelIsProvisional() async throws {
        func isProvisional(_ run: SkillRun) -> Bool { run.events.contains(.provisional) }
        let input = SkillInput(text: "extract keywords", separatedMaterial: text)
        let dead = ModelAccess(
            client: LLMClient([try Endpoint(url: "http://127.0.0.1:1/v1", model: "tester")], rounds: 1)
        )
        #expect(isProvisional(await SkillRun(Keywords(access: dead), input)))
        #expect(isProvisional(try await keywords(try answering("no list"))))
        #expect(!isProvisional(await SkillRun(Keywords(), input)))
        #expect(!isProvisional(try await keywords(try answering(#"{"keywords": ["storage"]}"#))))
        // Under the policy nothing may go out, and it is part of what is asked; a no of the user is for this once.
        let far = ModelAccess(client: LLMClient([try Endpoint(url: "http://192.0.2.1:9/v1", model: "far")]))
        #expect(!isProvisional(await SkillRun(Keywords(access: far), input)))
        #expect(isProvisional(await SkillRun(Keywords(access: far), input, privacy: .ask, allows: { _ in false })))
    }

    @Test func aBusyModelLeavesTheOfflineKeywords() async throws {
        let server = try ScriptedServer { _, connection in connection.answer(429, #"{"error":{"message":"slow down"}}"#)
        }
        let run = try await keywords(server)
        #expect(run.output?.parts.isEmpty == false && run.engines.last == "offline")
    }

    @Test func aLongTextIsSentByItsStartAndItsPhrases() async throws {
        let server = try answering(#"{"keywords": ["tide mills"]}"#)
        let long =
            String(repeating: "The council met on Monday to talk. ", count: 1000) + "Tide mills. Tide mills stand here."
        let skill = Keywords(access: try ModelServer.access(server))
        let run = await SkillRun(skill, SkillInput(text: "extract keywords", separatedMaterial: long))
        #expect(run.output?.parts.first?.kind == "keyword")
        let sent = ModelServer.material(try #require(server.requests.first))
        #expect(sent.utf8.count < 16 * 1024 && sent.lowercased().contains("tide mills"))
    }
}
