import SkillKit
import SkillKitTesting
import Testing
import Wire

/// A skill is run as its author's tests run it.
struct SkillTests {
    struct Shout: Skill {
        struct Arguments: SkillArguments { var times: Int? }
        static let manifest = SkillManifest(id: "shout", description: "Shouts.")
        func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
            guard !input.material.isEmpty else {
                throw SkillError("no_text", "nothing to shout", hint: "say something")
            }
            context.progress("shouting", fraction: 7)
            context.thinking("louder")
            let text = String(repeating: input.material.uppercased(), count: arguments.times ?? 1)
            context.text(text)
            context.text("")
            return SkillOutput(text: text)
        }
    }

    @Test func aFileWithoutTextIsNotCalledEmpty() async {
        let file = SkillInput.Attachment(name: "a.png", mediaType: "image/png", data: [1, 2])
        let run = await SkillRun(Shout(), SkillInput(text: "", attachments: [file]))
        #expect(run.error?.code == "unreadable_attachment")
        #expect(run.error?.message.contains("a.png") == true && run.error?.message.contains("image/png") == true)
        let chinese = await SkillRun(Shout(), SkillInput(text: "总结", separatedMaterial: "", attachments: [file]))
        #expect(chinese.error?.message.contains("附件“a.png”") == true)
        let empty = SkillInput.Attachment(name: "a.txt", mediaType: "text/plain", data: [])
        #expect(await SkillRun(Shout(), SkillInput(text: "", attachments: [empty])).error?.code == "no_text")
    }

    struct Caller: Skill {
        static let manifest = SkillManifest(id: "caller", description: "Calls.")
        func execute(
            _ input: SkillInput,
            _ arguments: NoArguments,
            _ context: SkillContext
        ) async throws -> SkillOutput {
            try await context.call("shout", text: input.text, arguments: ["times": 2])
        }
    }

    @Test func eventsComeInOrder() async {
        let run = await SkillRun(Shout(), SkillInput(text: "hey"), arguments: ["times": 2])
        #expect(
            run.events == [
                .started(engine: "offline"), .progress(message: "shouting", fraction: 1), .thinking("louder"),
                .textDelta("HEYHEY"), .finished(SkillOutput(text: "HEYHEY")),
            ]
        )
        #expect(run.streamedText == run.output?.text)
    }

    @Test func errorsKeepTheirWords() async {
        let empty = await SkillRun(Shout(), SkillInput(text: ""))
        #expect(empty.error == SkillError("no_text", "nothing to shout", hint: "say something"))
        let wrong = await SkillRun(Shout(), SkillInput(text: "x"), arguments: ["times": "two"])
        #expect(wrong.error?.code == "invalid_arguments")
    }

    @Test func aCallIsAnsweredOrFails() async {
        let answered = await SkillRun(Caller(), SkillInput(text: "hey")) { skill, input throws(SkillError) in
            SkillOutput(text: "\(skill) \(input.text) \(input.depth ?? 0) \(input.arguments?["times"]?.integer ?? 0)")
        }
        #expect(answered.output?.text == "shout hey 1 2")
        let refused = await SkillRun(Caller(), SkillInput(text: "hey"))
        #expect(refused.error?.code == "unknown_skill")
    }

    @Test func materialIsWhatComesClosest() {
        var input = SkillInput(text: "summarise: abc", separatedMaterial: "abc")
        #expect(input.material == "abc")
        input.attachments = [
            .init(name: "a.bin", mediaType: "image/png", data: [0xff]),
            .init(name: "a.txt", mediaType: "text/plain", data: Array("\u{FEFF}file".utf8)),
        ]
        #expect(input.material == "file")
        input.previous = [.init(step: "s1", skill: "k", output: SkillOutput(text: "found"))]
        #expect(input.material == "found")
        #expect(SkillInput(text: "all").material == "all")
        #expect(!SkillInput(text: "all").hasSeparateMaterial)
    }
}
