internal import Text

/// Finds a list of references in a text: below its heading, by numbers in brackets, or because all of the text is one.
enum ReferenceListReader {
    private static let headings: Set<String> = [
        "references", "reference list", "reference", "bibliography", "works cited", "literature", "literature cited",
        "sources", "参考文献", "參考文獻", "引用文献", "文献", "参考资料", "引用", "参考书目",
    ]
    private static let longest = 1500

    /// The entries, and the paragraphs of the text before and after them.
    static func read(_ text: String) -> (entries: [Reference], body: [String]) {
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }.map(String.init)
        if let start = lines.lastIndex(where: isHeading) {
            // Another heading ends it.
            let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("#") } ?? lines.count
            let entries = entries(of: lines[(start + 1)..<end])
            if !entries.isEmpty { return (entries, paragraphs(lines[..<start]) + paragraphs(lines[end...])) }
        }
        let filled = lines.filter { $0.contains { !$0.isWhitespace } }
        let alike = filled.filter(isLikeReference)
        if !filled.isEmpty, alike.count * 5 >= filled.count * 3 {
            let entries = entries(of: lines[...])
            if !entries.isEmpty { return (entries, []) }
        }
        let numbered = lines.indices.filter {
            lines[$0].contains(/^\s*[\[［]\s*[0-9]{1,3}\s*[\]］]\s*\S/) && isLikeReference(lines[$0])
        }
        if let first = numbered.first, let last = numbered.last, numbered.count >= 2 {
            return (entries(of: lines[first...last]), paragraphs(lines[..<first]) + paragraphs(lines[(last + 1)...]))
        }
        return ([], paragraphs(lines[...]))
    }

    private static func isHeading(_ line: String) -> Bool {
        let marks = "#*_:：【】[] \t0123456789.、"
        var bare = line.drop { marks.contains($0) }
        while let last = bare.last, marks.contains(last) { bare = bare.dropLast() }
        return bare.count <= 24 && headings.contains(Normalizer.fold(String(bare)))
    }

    private static func paragraphs(_ lines: ArraySlice<String>) -> [String] {
        Paragraphs.split(lines.joined(separator: "\n"))
    }

    /// Whether a line may be a reference: it has a year or names a work, and has a number or begins with a name, as no
    /// sentence of a text does.
    static func isLikeReference(_ line: String) -> Bool {
        guard 15...longest ~= line.count else { return false }
        let hasYear = line.contains(/(?:^|[^0-9])(?:1[5-9]|20)[0-9]{2}(?:[^0-9]|$)/)
        if label(of: line) != nil { return hasYear || !IdentifierScanner.identifiers(in: line).isEmpty }
        guard hasYear, line.count(where: { ".,;:，。；：．、《》".contains($0) }) >= 2 else { return false }
        let text = bare(line)
        return text.prefixMatch(of: /\p{Lu}[\p{L}'’\-]+(?:,\s*\p{Lu}| \p{Lu}{1,3}[.,; ])/) != nil
            || text.prefixMatch(of: /(?:\p{Lu}\.[ \-]?)+\p{Lu}[\p{L}'’\-]+/) != nil
            || text.prefixMatch(of: /\p{Han}{2,4}(?:等)?[，,、.．：:《]/) != nil || FieldParser.fields(of: text).isEnough
    }

    /// The entries of the lines of a list. Where some have numbers, what has none goes on with the one before.
    private static func entries(of lines: ArraySlice<String>) -> [Reference] {
        let isNumbered = lines.count { label(of: $0) != nil } >= 2
        var written: [(label: String?, text: String)] = []
        for line in lines {
            let label = label(of: line)
            var text = bare(line)
            guard !text.isEmpty else { continue }
            if isNumbered, label == nil, let last = written.indices.last {
                written[last].text += " " + text
                continue
            }
            // Several on one line: "…, 2019; …, 2021".
            let pieces = text.split { $0 == ";" || $0 == "；" }.map { bare(String($0)) }
            if label == nil, pieces.count > 1, pieces.allSatisfy(isLikeReference) {
                written += pieces.map { (nil, $0) }
                continue
            }
            if text.count > longest { text = String(text.prefix(longest)) }
            written.append((label, text))
        }
        var seen: Set<String> = []
        return written.filter { seen.insert(Normalizer.fold($0.text)).inserted }.map { label, text in
            var reference = Reference(written: text, label: label)
            reference.identifiers = IdentifierScanner.identifiers(in: text)
            reference.fields = FieldParser.fields(of: text)
            return reference
        }
    }

    private static func label(of line: String) -> String? {
        let text = Normalizer.halfWidth(line)
        if let match = text.prefixMatch(of: /\s*[\[〔]\s*([0-9]{1,3})\s*[\]〕]/) { return String(match.1) }
        if let match = text.prefixMatch(of: /\s*\(?([0-9]{1,3})[.)、]\s*(?=[^0-9\s])/) { return String(match.1) }
        return nil
    }

    private static func bare(_ line: String) -> String {
        let joined = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let marker = /(?:[\[〔［]\s*[0-9]{1,3}\s*[\]〕］]|\(?[0-9]{1,3}[.)、](?=\s*[^0-9\s])|[\-*•])\s*/
        guard let match = joined.prefixMatch(of: marker) else { return joined }
        return String(joined[match.range.upperBound...])
    }
}
