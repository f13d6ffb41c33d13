internal import Text
internal import Wire

/// Says of each line of a summary which document it comes from, by the words that both have. A line that no passage has
/// gets none.
struct Attribution {
    private let passages: [Set<String>]
    /// For each passage, the number of its document.
    private let owners: [Int?]
    private let count: Int

    /// A line belongs to a passage with so much of its words, and at least so many.
    private static let share = 0.5
    private static let fewest = 2

    init(_ passages: [OutputPart], _ documents: [Reference]) {
        self.passages = passages.map { Self.words(of: $0.text ?? "") }
        owners = passages.map { passage in
            let source = passage.source ?? passage.title ?? ""
            return documents.firstIndex { $0.document == source }
        }
        count = documents.count
    }

    /// The text with a number behind each line that has a source, and the lines that each document is used in.
    /// - Throws: `CancellationError`.
    func marked(_ text: String) throws -> (text: String, uses: [[Int]]) {
        var uses = [[Int]](repeating: [], count: count)
        var lines: [String] = []
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            try Task.checkCancellation()
            guard line.contains(where: { !$0.isWhitespace }) else {
                lines.append(String(line))
                continue
            }
            number += 1
            guard let document = source(of: String(line)) else {
                lines.append(String(line))
                continue
            }
            uses[document].append(number)
            lines.append("\(line) [\(document + 1)]")
        }
        return (lines.joined(separator: "\n"), uses)
    }

    private func source(of line: String) -> Int? {
        let words = Self.words(of: line)
        guard !words.isEmpty else { return nil }
        var best: (document: Int, common: Int)?
        for (passage, owner) in zip(passages, owners) {
            guard let owner else { continue }
            let common = words.intersection(passage).count
            if common > best?.common ?? 0 { best = (owner, common) }
        }
        guard let best, best.common >= Self.fewest, Double(best.common) >= Self.share * Double(words.count) else {
            return nil
        }
        return best.document
    }

    private static func words(of text: String) -> Set<String> {
        Set(
            WordSegmenter().words(in: text).map { Normalizer.fold($0.text) }
                .filter { !StopWords.contains($0) }.map(Stemmer.english.stem)
        )
    }
}
