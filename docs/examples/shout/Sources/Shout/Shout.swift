import SkillKit
import Wire

/// Writes a text in capitals.
struct Shout: Skill {
    struct Arguments: SkillArguments {
        var times: Int?
        static let descriptions = ["times": "how many times to shout"]
    }

    static let manifest = SkillManifest(
        id: "shout",
        displayName: "Shout",
        description: "Shout a text: write it in capital letters, upper case. 把文字变成大写，喊出来。",
        examples: ["shout this: hello there", "write it in capitals", "upper case please", "把这句话变成大写"]
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        guard !input.material.isEmpty else {
            throw SkillError("no_text", "there is nothing to shout", hint: "give a text, or a file with --file")
        }
        let times = min(max(arguments.times ?? 1, 1), 100)
        for number in 1...times {
            try Task.checkCancellation()
            context.progress("shouting \(number) of \(times)", fraction: Double(number) / Double(times))
            context.text(input.material.uppercased() + (number < times ? "\n" : ""))
        }
        return SkillOutput(text: Array(repeating: input.material.uppercased(), count: times).joined(separator: "\n"))
    }
}

@main
struct Main {
    static func main() async { await SkillWorker.run(Shout()) }
}
