import Glibc
import Intent
import Wire

/// Labelled utterances of a public set: one a line, a tabulator and its label.
struct Utterances {
    var lines: [(text: String, label: String)] = []

    /// Reads the first of the files that is there.
    init?(_ folder: String, _ names: String...) {
        for name in names {
            guard let bytes = Utterances.content("\(folder)/\(name)") else { continue }
            for line in bytes.split(separator: 0x0A) {
                guard let tab = line.lastIndex(of: 0x09) else { continue }
                lines.append(
                    (String(decoding: line[..<tab], as: UTF8.self), String(decoding: line[(tab + 1)...], as: UTF8.self))
                )
            }
            return
        }
        return nil
    }

    init(_ lines: [(text: String, label: String)]) { self.lines = lines }

    /// Only what some skill serves.
    var inScope: Utterances { Utterances(lines.filter { !$0.label.hasPrefix("oos") }) }

    /// A skill for each label: named by it, with its utterances as examples.
    func manifests(withExamples: Bool = true) -> [SkillManifest] {
        Dictionary(grouping: inScope.lines, by: \.label).sorted { $0.key < $1.key }.map { label, lines in
            SkillManifest(
                id: Utterances.id(label),
                description: String(label.map { $0.isLetter || $0.isNumber ? $0 : " " }),
                examples: withExamples ? lines.map(\.text) : []
            )
        }
    }

    /// The utterances as cases; a label of several intents joins them by `#`.
    var cases: [IntentEvaluation.Case] {
        lines.map { line in
            let skills =
                line.label.hasPrefix("oos") ? [] : line.label.split(separator: "#").map { Utterances.id(String($0)) }
            let mode: Plan.Mode = skills.isEmpty ? .none : skills.count == 1 ? .single : .parallel
            return IntentEvaluation.Case(utterance: line.text, expected: .init(mode: mode, skills: skills))
        }
    }

    /// A label as a skill's id.
    static func id(_ label: String) -> String {
        String(label.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" })
    }

    /// A file's bytes; nil if it is not there.
    static func content(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return bytes }
            bytes += part[..<count]
        }
    }
}
