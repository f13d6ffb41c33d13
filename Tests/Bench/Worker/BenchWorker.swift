import Lifecycle
import SkillKit
import Wire

/// The least that a skill can do: streams a number of pieces and ends.
@main
struct BenchWorker: Skill {
    static let manifest = SkillManifest(
        id: "bench",
        description: "Answers at once.",
        concurrency: 1024,
        cacheTTL: 0
    )

    let deltas: Int
    let piece = String(repeating: "e", count: 64)

    func execute(_ input: SkillInput, _ arguments: NoArguments, _ context: SkillContext) async throws -> SkillOutput {
        for _ in 0..<deltas { context.text(piece) }
        return SkillOutput(text: String(repeating: piece, count: deltas))
    }

    static func main() async {
        let deltas = Int(Environment.all["BENCH_DELTAS"] ?? "") ?? 0
        await SkillWorker.run(BenchWorker(deltas: deltas))
    }
}
