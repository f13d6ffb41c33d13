import DocumentIndex
import SkillKit
import SkillKitTesting
import TestSupport
import Testing
import Wire

@testable import KnowledgeWorker

@Suite struct KnowledgeTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("knowledge.sqlite") }

    init() async throws {
        folder = try TemporaryFolder()
        _ = try await run("/bin/mkdir", ["-p", folder.file("docs")])
    }

    private func indexDocuments() throws {
        try folder.write("docs/bikes.md", "# Bicycles\n\nRepairing bicycle wheels: true the rim, replace spokes.")
        try folder.write("docs/rice.txt", "Cooking rice in a pot.")
        try folder.write("docs/leave.md", "# 请假制度\n\n年假每年十五天，须提前一周向主管申请。")
        _ = try DocumentIndex.Writer(path: path).index(folder: folder.file("docs"))
    }

    @Test func answersWithPassagesAndSources() async throws {
        try indexDocuments()
        let run = await SkillRun(Knowledge(index: path), SkillInput(text: "how do I repair a broken bicycle wheel?"))
        let output = try #require(run.output)
        #expect(output.text.hasPrefix("[1] Bicycles — "))
        #expect(output.text.contains("bikes.md"))
        #expect(output.text.contains("replace spokes"))
        let part = try #require(output.parts.first)
        #expect(part.kind == "passage")
        #expect(part.source?.hasSuffix("bikes.md") == true)
        #expect(part.title == "Bicycles")
        #expect((part.score ?? 0) > 0)
        #expect(run.events.contains { if case .progress = $0 { true } else { false } })
    }

    @Test func findsAnIndexThatAppearsLaterOrIsReplaced() async throws {
        let skill = Knowledge(index: path)
        let missing = await SkillRun(skill, SkillInput(text: "bicycle wheels"))
        #expect(missing.error?.code == "no_index")
        #expect(missing.error?.hint == "Make one with: skillbus index --state \(folder.path) DIR")
        let elsewhere = Knowledge(index: folder.file("an index"))
        let other = await SkillRun(elsewhere, SkillInput(text: "bicycle wheels"))
        #expect(other.error?.hint == "Make one with: SKILLBUS_KNOWLEDGE='\(folder.path)/an index' skillbus index DIR")
        let chinese = await SkillRun(skill, SkillInput(text: "查一下公司年假制度"))
        #expect(chinese.error?.message.contains("还没有文档索引") == true)

        try indexDocuments()
        #expect(await SkillRun(skill, SkillInput(text: "查一下公司年假制度")).output?.text.contains("十五天") == true)

        _ = try await run("/bin/sh", ["-c", "rm -f \(path)*"])
        try folder.write("docs/zebra.txt", "Zebras have stripes.")
        _ = try DocumentIndex.Writer(path: path).index(folder: folder.file("docs"))
        #expect(await SkillRun(skill, SkillInput(text: "zebra stripes")).output != nil)
    }

    @Test func saysWhenNothingFits() async throws {
        try indexDocuments()
        let skill = Knowledge(index: path)
        let run = await SkillRun(skill, SkillInput(text: "quantum chromodynamics"))
        #expect(run.error?.code == "nothing_found")
        let empty = await SkillRun(skill, SkillInput(text: "   "))
        #expect(empty.error?.code == "empty_query")
        #expect(empty.error?.message.contains("empty") == true)
    }

    @Test func searchesGivenDocumentsAndKeepsScopesApart() async throws {
        let documents: JSONValue = [
            ["id": "d1", "scope": "team-a", "text": "The secret plan of team A."],
            ["id": "d2", "scope": "team-b", "text": "The secret plan of team B."],
        ]
        let run = await SkillRun(
            Knowledge(index: path),
            SkillInput(text: "secret plan"),
            arguments: ["documents": documents, "scope": "team-a"]
        )
        #expect(run.output?.parts.compactMap(\.source) == ["d1"])

        let file = SkillInput.Attachment(
            name: "notes.txt",
            mediaType: "text/plain",
            data: Array("The meeting is on Friday.".utf8)
        )
        let attached = await SkillRun(
            Knowledge(index: path),
            SkillInput(text: "when is the meeting", attachments: [file])
        )
        #expect(attached.output?.parts.first?.source == "notes.txt")
    }

    @Test func keepsToTheLimit() async throws {
        for number in 0..<12 { try folder.write("docs/\(number).txt", "Apples of kind \(number) are sweet apples.") }
        try indexDocuments()
        let run = await SkillRun(Knowledge(index: path), SkillInput(text: "apples"), arguments: ["limit": 3])
        #expect(run.output?.parts.count == 3)
        let refused = await SkillRun(Knowledge(index: path), SkillInput(text: "apples"), arguments: ["limit": 0])
        #expect(refused.error?.code == JobError.Code.invalidArguments)
    }

    @Test(arguments: [
        ("look up the refund policy in our docs", "the refund policy"),
        ("search the knowledge base for vpn setup", "vpn setup"),
        ("what does the handbook say about parental leave", "parental leave"), ("请问 什么是CAP定理", "CAP定理"),
        ("知识库里有没有关于报销流程的说明", "报销流程"),
        ("look up the leave policy and summarise it", "the leave policy"), ("search", "search"),
        ("bicycle wheels", "bicycle wheels"),
    ])
    func leavesTheAskingAway(_ text: String, _ expected: String) { #expect(Question.stripped(text) == expected) }

    @Test func followsUpOnTheQuestionBefore() {
        let history = [
            JobInput.Turn(role: "user", text: "what is penicillin", skills: ["knowledge"]),
            JobInput.Turn(role: "assistant", text: "…"),
        ]
        let query = Question.query(SkillInput(text: "and who discovered it?", history: history), skill: "knowledge")
        #expect(query.contains("penicillin"))
        #expect(query.contains("discovered"))
    }

    @Test func manifestIsValid() throws {
        try Knowledge.completeManifest.validate()
        #expect(Knowledge.manifest.consumes == ["text"])
        #expect(Knowledge.manifest.produces == ["passages", "text"])
    }
}
