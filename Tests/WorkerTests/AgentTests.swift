import LLM
import SkillKit
import SkillKitTesting
import Testing
import Wire

@testable import AgentWorker

/// The parts of the agent, and what it does without a model.
struct AgentTests {
    private static let manifests = [
        SkillManifest(
            id: "count",
            description: "Counts.",
            inputSchema: [
                "type": "object", "additionalProperties": false, "required": ["unit"],
                "properties": [
                    "unit": ["type": "string", "enum": ["words", "lines"]],
                    "most": ["type": "integer", "minimum": 1, "maximum": 9],
                    "names": ["type": "array", "items": ["type": "string"]],
                ],
            ]
        ),
        SkillManifest(id: "pay", description: "Pays.", idempotent: false),
        SkillManifest(
            id: "say",
            description: "Says.",
            inputSchema: ["type": "object", "properties": ["text": ["type": "string"]]]
        ),
    ]

    private func misfit(_ name: String, _ arguments: String) -> String? {
        do throws(Toolbox.Misfit) {
            _ = try Toolbox(Self.manifests).read(
                ToolCall(id: "1", name: name, arguments: arguments, isComplete: true)
            )
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func toolsAreTheSkillsThatMayRunAgain() {
        let toolbox = Toolbox(Self.manifests)
        #expect(toolbox.tools.map(\.name) == ["count", "say"])
        #expect(toolbox.tools[0].parameters["required"] == ["unit", "text"])
        // The skill's own field keeps its name.
        #expect(toolbox.tools[1].parameters["properties"]?["skill_text"] != nil)
    }

    @Test func whatDoesNotFitIsSaidByName() throws {
        #expect(misfit("count", #"{"text": "a", "unit": "words", "most": 3, "names": ["x"]}"#) == nil)
        #expect(misfit("pay", "{}") == "There is no skill \"pay\". There are: count, say.")
        #expect(misfit("count", "{\"text\"") == "The arguments are no JSON object.")
        #expect(misfit("count", "[]") == "The arguments are no JSON object.")
        #expect(misfit("count", "") == "\"text\" is missing, or no string.")
        #expect(misfit("count", #"{"text": "a"}"#) == "arguments.unit is missing.")
        #expect(misfit("count", #"{"text": "a", "unit": "pages"}"#) == "arguments.unit must be one of words, lines.")
        #expect(
            misfit("count", #"{"text": "a", "unit": "words", "most": "3"}"#)
                == "arguments.most must be integer, not string."
        )
        #expect(
            misfit("count", #"{"text": "a", "unit": "words", "most": 10}"#) == "arguments.most must be at most 9.0."
        )
        #expect(
            misfit("count", #"{"text": "a", "unit": "words", "names": [1]}"#)
                == "arguments.names[] must be string, not integer."
        )
        #expect(
            misfit("count", #"{"text": "a", "unit": "words", "many": 1}"#)
                == "arguments.many is not known; known are: most, names, unit."
        )
    }

    @Test func longResultsKeepStartAndEnd() {
        #expect(Observation.bounded("short", to: 100) == "short")
        let long = "开始" + String(repeating: "中", count: 5000) + "结束"
        let bounded = Observation.bounded(long, to: 1000)
        #expect(bounded.hasPrefix("开始") && bounded.hasSuffix("结束") && bounded.utf8.count < 1200)
        #expect(bounded.contains("of 15012 bytes are left out here"))
        #expect(!bounded.contains("\u{FFFD}"))
    }

    @Test func placesAreFilledAndNothingElse() {
        let results = [1: "one {{input}}", 2: "two"]
        func filled(_ text: String) -> String { Observation.filled(text, input: "IN", results: results) }
        #expect(filled("a {{input}} b {{result 2}}{{ result 1 }}") == "a IN b twoone {{input}}")
        #expect(filled("{{result 3}} {{x}} {{") == "{{result 3}} {{x}} {{")
    }

    @Test(arguments: [
        ("summarize", ["summarize"]), (" `Keywords`.\n", ["keywords"]),
        ("summarize, keywords", ["summarize", "keywords"]),
        ("summarize、keywords", ["summarize", "keywords"]), ("summarize, summarize", ["summarize"]),
        ("I would use summarize", []), ("", []), ("nothing", []), ("summarize and keywords", []),
    ])
    func answersThatNameSkills(_ answer: String, _ named: [String]) {
        #expect(SkillChoice.named(answer, ["summarize", "keywords"]) == named)
    }

    // MARK: Without a model

    private func messages(_ run: SkillRun) -> [String] {
        run.events.compactMap { if case .progress(let message, _) = $0 { message } else { nil } }
    }

    private static let chain = Plan(
        mode: .chain,
        steps: [
            .init(number: 1, skill: "find"), .init(number: 2, skill: "shorten", after: ["s1"], arguments: ["n": 2]),
            .init(number: 3, skill: "other"),
        ]
    )
    private static let skills = ["find", "shorten", "other", "agent"].map { SkillManifest(id: $0, description: $0) }

    @Test func theRoutersPlanRuns() async throws {
        let run = await SkillRun(
            Agent(),
            SkillInput(text: "find it"),
            calls: { skill, input throws(SkillError) in
                if skill == "shorten" {
                    guard input.previous?.map(\.output.text) == ["find: find it"], input.arguments == ["n": 2] else {
                        throw SkillError("wrong", "\(input)")
                    }
                }
                return SkillOutput(text: "\(skill): \(input.text)")
            },
            skills: Self.skills,
            plan: { _ in Self.chain }
        )
        #expect(run.output?.text == "shorten: find it\n\nother: find it")
        #expect(messages(run).first == "no model: running the router's plan: find → shorten → other")
    }

    @Test func aStepThatFailsLeavesTheOthers() async throws {
        let calls: @Sendable (String, JobInput) async throws(SkillError) -> SkillOutput = {
            skill,
            _ throws(SkillError) in
            if skill == "find" { throw SkillError("gone", "nothing was found") }
            return SkillOutput(text: skill)
        }
        let run = await SkillRun(
            Agent(),
            SkillInput(text: "找一下"),
            calls: calls,
            skills: Self.skills,
            plan: { _ in Self.chain }
        )
        #expect(run.output?.text.hasPrefix("other\n\n(find 失败：nothing was found; shorten 失败：") == true)
        #expect(messages(run).contains("shorten 未执行：它依赖的步骤失败了"))
        let alone = await SkillRun(
            Agent(),
            SkillInput(text: "find it"),
            calls: calls,
            skills: Self.skills,
            plan: { _ in .single("find") }
        )
        #expect(alone.error?.code == "gone")
    }

    @Test func aPlanOfTheAgentItselfIsNoPlan() async throws {
        func run(_ scores: [Plan.Score]) async -> SkillRun {
            await SkillRun(
                Agent(),
                SkillInput(text: "do it"),
                calls: { skill, _ throws(SkillError) in SkillOutput(text: skill) },
                skills: Self.skills,
                plan: { _ in Plan(mode: .single, steps: [.init(number: 1, skill: "agent")], scores: scores) }
            )
        }
        let scores = [Plan.Score(skill: "agent", score: 0.9), Plan.Score(skill: "find", score: 0.4)]
        #expect(await run(scores).output?.text == "find")
        let nothing = await run([Plan.Score(skill: "agent", score: 0.9), Plan.Score(skill: "find", score: 0)])
        #expect(nothing.error?.code == "out_of_scope" && nothing.error?.hint?.contains("find") == true)
    }

    @Test func withoutAModelNothingIsChosen() async throws {
        let run = await SkillRun(Agent(), SkillInput(text: "做点什么"), arguments: ["choose": true], skills: Self.skills)
        #expect(run.output?.parts.first?.kind == "route")
        #expect(run.output?.parts.first?.values == ["reason": "没有设置模型（SKILLBUS_LLM_URL）"])
        #expect(Agent.manifest.produces.contains("route"))
    }
}
