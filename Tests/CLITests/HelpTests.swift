import Glibc
import Lifecycle
import TestSupport
import Testing

@testable import CLI

/// Help texts are golden files in Tests/CLITests/Golden. `SKILLBUS_RENEW_GOLDEN=1 swift test --filter HelpTests`
/// writes them anew; the change then shows in review.
struct HelpTests {
    @Test("Each command's help is as kept", arguments: [""] + CommandTable.entries.map(\.word))
    func golden(_ word: String) throws {
        let name = word.isEmpty ? "skillbus" : word
        let help = word.isEmpty ? CommandTable.overview + "\n" : CommandTable.entry(word)?.command.help
        try expectGolden(try #require(help), "\(projectFolder)/Tests/CLITests/Golden/\(name).txt")
    }

    @Test("No line of a help is wider than a terminal of 120 columns")
    func width() {
        for entry in CommandTable.entries {
            for line in entry.command.help.split(separator: "\n") { #expect(line.count <= 120, "\(line)") }
        }
    }

    @Test("The skill that the documentation shows is the example that is built")
    func example() throws {
        let guide = try readFile("\(projectFolder)/docs/skills.md")
        for name in ["Package.swift", "Sources/Shout/Shout.swift"] {
            let source = try readFile("\(projectFolder)/docs/examples/shout/\(name)")
            #expect(guide.contains("```swift\n\(source)```"), "\(name)")
        }
    }

    @Test("--help works everywhere and leaves with code 0")
    func helpOption() async throws {
        for entry in CommandTable.entries {
            let result = try await run(skillbus, [entry.word, "--help"])
            #expect(result.code == 0)
            #expect(result.output + "\n" == entry.command.help)
        }
    }

    @Test("The completion for bash runs, and completes commands and options of each")
    func bash() async throws {
        func complete(_ words: String) async throws -> String {
            let script = """
                source <("$0" completion bash)
                COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                _skillbus; echo "${COMPREPLY[*]}"
                """
            return try await run("/bin/bash", ["-c", script, skillbus]).output
        }
        #expect(try await complete("skillbus re") == "resume")
        #expect(try await complete("skillbus ask --ti") == "--timeout")
        #expect(try await complete("skillbus log --f") == "--follow")
        #expect(try await complete("skillbus completion z") == "zsh")
        #expect(try await complete("skillbus up --he") == "--help")
    }

    @Test("The completion for zsh names each command and option")
    func zsh() {
        let script = CompletionCommand.zsh()
        for entry in CommandTable.entries {
            #expect(script.contains("'\(entry.word):"))
            for option in entry.command.options { #expect(script.contains("--\(option.name)[")) }
        }
    }
}

func expectGolden(_ text: String, _ path: String) throws {
    if getenv("SKILLBUS_RENEW_GOLDEN") != nil {
        guard let file = fopen(path, "w") else { throw FileError(path: path, code: errno) }
        fputs(text, file)
        fclose(file)
        return
    }
    #expect(try readFile(path) == text)
}

func readFile(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw FileError(path: path, code: errno) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = fread(&buffer, 1, buffer.count, file)
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}

struct FileError: Error {
    let path: String
    let code: Int32
}
