internal import Text
internal import Wire

/// What a model is shown of a result: all of it, or start and end.
enum Observation {
    /// Text of at most about so many bytes.
    static func bounded(_ text: String, to limit: Int) -> String {
        let bytes = text.utf8.count
        guard bytes > limit else { return text }
        let head = text.start(ofBytes: limit * 2 / 3)
        let tail = text.end(ofBytes: limit / 3)
        let left = bytes - head.utf8.count - tail.utf8.count
        return "\(head)\n[… \(left) of \(bytes) bytes are left out here …]\n\(tail)"
    }

    /// A result with where it comes from, where its parts say so.
    static func text(of output: SkillOutput) -> String {
        let sources = output.parts.compactMap(\.source)
        guard !sources.isEmpty else { return output.text }
        var seen: Set<String> = []
        return output.text + "\n\nSources: " + sources.filter { seen.insert($0).inserted }.joined(separator: "; ")
    }

    /// A text in which `{{input}}` and `{{result N}}` are replaced by what they stand for. What stands for nothing stays, and
    /// so does what would make the text longer than a call may be.
    static func filled(_ text: String, input: String, results: [Int: String]) -> String {
        guard text.contains("{{") else { return text }
        var filled = ""
        var rest = text[...]
        while filled.utf8.count < Limits.message, let open = rest.firstRange(of: "{{") {
            guard let close = rest[open.upperBound...].firstRange(of: "}}") else { break }
            let name = rest[open.upperBound..<close.lowerBound].split { $0.isWhitespace || $0 == ":" }
            filled += rest[..<open.lowerBound]
            if name == ["input"] {
                filled += input
            } else if name.count == 2, name[0] == "result", let number = Int(name[1]), let result = results[number] {
                filled += result
            } else {
                filled += rest[open.lowerBound..<close.upperBound]
            }
            rest = rest[close.upperBound...]
        }
        return filled + rest
    }
}
