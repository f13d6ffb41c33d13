import FoundationEssentials
import Intent
import TestSupport
import Testing
import Wire

/// The examples of docs/routing.md: what they say is what comes out with the skills of this repository.
@Suite("Examples of the documentation")
struct RoutingExamplesTests {
    struct Example: Sendable, CustomTestStringConvertible {
        var text: String
        var after: [String]
        var plan: String
        var testDescription: String { text }
    }

    /// The rows of the table: what is said, after which skills, and what becomes of it.
    static let examples: [Example] = {
        let data = (try? Data(contentsOf: URL(filePath: "\(projectFolder)/docs/routing.md"))) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmed(of: " ").trimmed(of: "`") }
            guard line.hasPrefix("| `"), cells.count >= 5 else { return nil }
            return Example(text: cells[1], after: cells[2].isEmpty ? [] : [cells[2]], plan: cells[3])
        }
    }()

    @Test("There are ten of them, in both languages and of each kind")
    func kinds() {
        #expect(Self.examples.count >= 10)
        for mode in ["single", "parallel", "chain", "none"] {
            #expect(Self.examples.contains { $0.plan.hasPrefix(mode) }, "none is \(mode)")
        }
        #expect(Self.examples.contains { !$0.after.isEmpty })
        #expect(Self.examples.contains { $0.text.unicodeScalars.contains { $0.value >= 0x4E00 } })
    }

    @Test("Each goes where the table says, before anything is learned and after", arguments: examples)
    func goes(_ example: Example) {
        let plain = IntentModel(manifests: Manifests.usual + [Manifests.translate, Manifests.citations])
        for model in [plain, plain.trained()] {
            let history =
                example.after.isEmpty
                ? []
                : [
                    JobInput.Turn(role: "user", text: "", skills: example.after),
                    JobInput.Turn(role: "assistant", text: ""),
                ]
            let decision = model.decide(RoutingQuestion(text: example.text, history: history))
            let steps = decision.plan.steps.map { step in
                step.skill + (step.after.isEmpty ? "" : " after \(step.after.joined(separator: ", "))")
            }
            let mode = decision.plan.mode.rawValue
            #expect((steps.isEmpty ? mode : "\(mode): \(steps.joined(separator: "; "))") == example.plan)
        }
    }
}

extension StringProtocol {
    fileprivate func trimmed(of characters: Character...) -> String {
        String(drop { characters.contains($0) }.reversed().drop { characters.contains($0) }.reversed())
    }
}
