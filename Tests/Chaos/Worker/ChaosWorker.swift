import Glibc
import Lifecycle
import SkillKit
import Wire

/// Streams pieces for a time: what a model does, without one.
struct Tokens: Skill {
    struct Arguments: SkillArguments {
        var count: Int?
        var milliseconds: Int?
        static let descriptions = ["count": "pieces of text", "milliseconds": "time that all of them take"]
    }

    static let manifest = SkillManifest(
        id: "tokens",
        description: "Streams pieces of text, for tests.",
        concurrency: 64,
        cacheTTL: 0
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let count = max(arguments.count ?? 20, 1)
        let pause = Duration.milliseconds(arguments.milliseconds ?? 500) / count
        var whole = ""
        for number in 1...count {
            try await Task.sleep(for: pause)
            let piece = "\(input.text)-\(number) "
            context.text(piece)
            whole += piece
        }
        return SkillOutput(text: whole)
    }
}

/// Adds a line to a file, on disk at once.
private func appendLine(_ line: String, to path: String) throws(SkillError) {
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SkillError("no_ledger", "\(path) cannot be opened") }
    defer { close(file) }
    let bytes = Array((line + "\n").utf8)
    guard write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
        throw SkillError("no_ledger", "\(path) cannot be written")
    }
}

/// Does something that must not be done twice: writes a line at its start and one at its end, each on disk at once.
struct Ledger: Skill {
    static let manifest = SkillManifest(
        id: "ledger",
        description: "Keeps a book, for tests.",
        concurrency: 64,
        cacheTTL: 0,
        idempotent: false
    )

    let path: String

    struct Arguments: SkillArguments {
        var milliseconds: Int?
        static let descriptions = ["milliseconds": "time between the two lines"]
    }

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        try appendLine("start \(context.idempotencyKey) \(context.execution.attempt) \(getpid())", to: path)
        try await Task.sleep(for: .milliseconds(arguments.milliseconds ?? 100))
        try appendLine("end \(context.idempotencyKey) \(context.execution.attempt) \(getpid())", to: path)
        return SkillOutput(text: input.text)
    }
}

/// May be run again, and says by which key it knew the job.
struct Keyed: Skill {
    static let manifest = SkillManifest(id: "keyed", description: "Notes its key, for tests.", cacheTTL: 0)

    let path: String

    func execute(_ input: SkillInput, _ arguments: NoArguments, _ context: SkillContext) async throws -> SkillOutput {
        try appendLine("\(context.execution.job) \(context.execution.attempt) \(context.idempotencyKey)", to: path)
        context.text("x")
        try await Task.sleep(for: .seconds(1.5))
        return SkillOutput(text: "x")
    }
}

/// Ends its own process.
struct Poison: Skill {
    static let manifest = SkillManifest(id: "poison", description: "Dies, for tests.", cacheTTL: 0)

    func execute(_ input: SkillInput, _ arguments: NoArguments, _ context: SkillContext) async throws -> SkillOutput {
        context.text("x")
        try await Task.sleep(for: .milliseconds(100))
        kill(getpid(), SIGKILL)
        return SkillOutput(text: "")
    }
}

/// Runs for ever and obeys no cancellation.
struct Hang: Skill {
    static let manifest = SkillManifest(id: "hang", description: "Hangs, for tests.", timeout: 2, cacheTTL: 0)

    func execute(_ input: SkillInput, _ arguments: NoArguments, _ context: SkillContext) async throws -> SkillOutput {
        while true { await Task.detached { try? await Task.sleep(for: .seconds(1)) }.value }
    }
}

/// Says very much, or gives more than may be given.
struct Burst: Skill {
    struct Arguments: SkillArguments {
        var events: Int?
        var bytes: Int?
    }

    static let manifest = SkillManifest(id: "burst", description: "Bursts, for tests.", cacheTTL: 0)

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        if let bytes = arguments.bytes { return SkillOutput(text: String(repeating: "b", count: bytes)) }
        let count = arguments.events ?? 10_000
        for number in 1...max(count, 1) { context.progress("\(number) of \(count)", fraction: nil) }
        return SkillOutput(text: input.text)
    }
}

/// Says that it sends its text to somebody, as it must; it sends nothing.
struct Teller: Skill {
    struct Arguments: SkillArguments {
        var party: String?
        var times: Int?
    }

    static let manifest = SkillManifest(
        id: "teller",
        description: "Tells others, for tests.",
        concurrency: 1,
        cacheTTL: 0,
        sendsDataTo: ["party.test"]
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        for _ in 0..<max(arguments.times ?? 1, 1) {
            try await context.disclose(
                party: arguments.party ?? "party.test",
                bytes: input.text.utf8.count,
                purpose: "telling"
            )
        }
        return SkillOutput(text: "told, \(context.privacy.rawValue)")
    }
}

/// Writes a line for each run. Its outputs may be used again.
struct Counted: Skill {
    struct Arguments: SkillArguments {
        var milliseconds: Int?
    }

    static let manifest = SkillManifest(id: "counted", description: "Counts, for tests.", concurrency: 8, cacheTTL: 60)

    let path: String

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        try appendLine("\(input.text)", to: path)
        try await Task.sleep(for: .milliseconds(arguments.milliseconds ?? 0))
        return SkillOutput(text: "counted \(input.text)")
    }
}

@main
struct ChaosWorker {
    static func main() async {
        switch Environment.all["CHAOS_SKILL"] {
        case "ledger": await SkillWorker.run(Ledger(path: Environment.all["CHAOS_LEDGER"] ?? "/dev/null"))
        case "keyed": await SkillWorker.run(Keyed(path: Environment.all["CHAOS_LEDGER"] ?? "/dev/null"))
        case "poison": await SkillWorker.run(Poison())
        case "hang": await SkillWorker.run(Hang())
        case "burst": await SkillWorker.run(Burst())
        case "teller": await SkillWorker.run(Teller())
        case "counted": await SkillWorker.run(Counted(path: Environment.all["CHAOS_LEDGER"] ?? "/dev/null"))
        default: await SkillWorker.run(Tokens())
        }
    }
}
