internal import SkillKit
internal import Text
internal import Wire

/// The list of references in one style.
struct ReferenceList {
    private(set) var text = ""
    private(set) var parts: [OutputPart] = []

    /// Writes the references. A list that has numbers keeps them; another is numbered in the order of the text, or sorted
    /// by author.
    init(_ references: [Reference], style: Citations.Style, words: CitationWords) {
        var sorted = references
        if style == .authorYear {
            sorted.sort { Self.key($0).lexicographicallyPrecedes(Self.key($1)) }
        }
        let hasLabels = Set(references.compactMap(\.label)).count == references.count
        var lines: [String] = []
        for (index, reference) in sorted.enumerated() {
            let label = hasLabels ? reference.label ?? "" : "\(index + 1)"
            let entry = Self.entry(reference, style, isChinese: words.isChinese)
            let isDocument = reference.document != nil
            // The text above refers to documents by number, whatever the style.
            let mark = style == .numeric || isDocument ? "[\(label)] " : ""
            lines.append(mark + entry + words.uses(reference))
            parts.append(
                OutputPart(
                    kind: "reference",
                    text: entry,
                    source: reference.document ?? reference.identifiers.first.map(Self.address),
                    title: reference.fields.title.isEmpty ? nil : reference.fields.title,
                    values: Self.values(reference, label: label)
                )
            )
        }
        text = lines.joined(separator: "\n")
    }

    /// One reference, of what is known of it.
    static func entry(_ reference: Reference, _ style: Citations.Style, isChinese: Bool) -> String {
        if let document = reference.document {
            return reference.fields.title.isEmpty ? document : "\(reference.fields.title) — \(document)"
        }
        guard reference.fields.isEnough else {
            if !reference.written.isEmpty { return reference.written }
            return reference.identifiers.map(Self.address).joined(separator: " ")
        }
        var fields = reference.fields
        // It comes at the end, in one form.
        fields.container =
            fields.container.replacing(/(?i)[,.]?\s*(?:https?:\/\/(?:dx\.)?doi\.org\/|doi:?\s*)10\.\S+/, with: "")
            .trimmingMarks
        let authors = fields.authors.joined(separator: ", ")
        var entry: String
        switch style {
        case .numeric:
            entry = [authors, fields.title, fields.container].filter { !$0.isEmpty }.joined(separator: ". ")
            if !fields.container.contains(fields.year) {
                entry += (fields.container.isEmpty ? ". " : ", ") + fields.year
            }
        case .authorYear:
            var container = fields.container
            for written in [", \(fields.year)", "，\(fields.year)", " \(fields.year)", fields.year] {
                guard let range = container.firstRange(of: written) else { continue }
                container.removeSubrange(range)
                break
            }
            container = String(container.drop { ",，:：. ".contains($0) })
            entry = "\(authors) (\(fields.year)). \(fields.title)" + (container.isEmpty ? "" : ". \(container)")
        }
        // A stop behind an initial is one already.
        entry = entry.replacing(".. ", with: ". ") + "."
        // An ISBN may be written with hyphens.
        let plain = entry.lowercased().filter { $0 != "-" }
        for identifier in reference.identifiers
        where !plain.contains(bare(identifier).lowercased().filter { $0 != "-" }) {
            entry += " " + address(identifier)
        }
        return entry
    }

    private static func key(_ reference: Reference) -> String {
        let first = reference.fields.authors.first ?? reference.written
        return Normalizer.fold("\(first) \(reference.fields.year) \(reference.fields.title)")
    }

    private static func bare(_ identifier: Reference.Identifier) -> String {
        switch identifier {
        case .doi(let text), .arXiv(let text), .isbn(let text), .url(let text): text
        }
    }

    private static func address(_ identifier: Reference.Identifier) -> String {
        switch identifier {
        case .doi(let doi): "https://doi.org/\(doi)"
        case .arXiv(let id): "arXiv:\(id)"
        case .isbn(let digits): "ISBN \(digits)"
        case .url(let url): url
        }
    }

    private static func values(_ reference: Reference, label: String) -> [String: JSONValue] {
        var values: [String: JSONValue] = ["label": .string(label)]
        if !reference.uses.isEmpty {
            values[reference.usesArePassages ? "passages" : "paragraphs"] = .array(
                reference.uses.map { .integer(Int64($0)) }
            )
        }
        guard reference.fields.isEnough else { return values }
        values["authors"] = .array(reference.fields.authors.map { .string($0) })
        values["year"] = .string(reference.fields.year)
        if !reference.fields.container.isEmpty { values["container"] = .string(reference.fields.container) }
        return values
    }
}
