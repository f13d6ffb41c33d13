internal import SkillKit
internal import Text
internal import Wire

/// A text with its references: which there are, and where each is used.
struct CitedText {
    private(set) var references: [Reference] = []
    /// The text to hand on above the list; nil where the user has it.
    private(set) var body: String?
    /// Numbers that the text cites and its list does not have.
    private(set) var missing: [String] = []

    /// References are not looked for in a number beyond this.
    private static let most = 2000

    /// Reads a text.
    /// - Throws: `CancellationError`.
    init(_ request: CitationRequest) throws {
        if request.isResult {
            let documents = Self.documents(request.passages, isNumbered: request.isNumbered)
            let attribution = Attribution(request.passages, documents)
            references = documents
            if request.isNumbered {
                body = request.text.isEmpty ? nil : request.text
            } else {
                let marked = try attribution.marked(request.text)
                body = marked.text
                for index in references.indices {
                    references[index].uses = marked.uses[index]
                    references[index].usesArePassages = false
                }
            }
            return
        }
        let list = ReferenceListReader.read(request.text)
        var found = list.entries
        for (number, paragraph) in list.body.enumerated() {
            if number % 64 == 0 { try Task.checkCancellation() }
            for identifier in IdentifierScanner.identifiers(in: paragraph) where found.count < Self.most {
                if !found.contains(where: { $0.identifiers.contains(identifier) }) {
                    found.append(Reference(identifiers: [identifier]))
                }
            }
        }
        references = found
        try findUses(in: list.body)
    }

    /// The documents of the passages, each once.
    private static func documents(_ passages: [OutputPart], isNumbered: Bool) -> [Reference] {
        var found: [Reference] = []
        for (number, passage) in passages.enumerated() {
            let source = passage.source ?? passage.title ?? ""
            guard !source.isEmpty else { continue }
            let place =
                found.firstIndex { $0.document == source }
                ?? {
                    var reference = Reference(document: source)
                    reference.fields.title = passage.title.flatMap { $0 == source ? nil : $0 } ?? ""
                    reference.usesArePassages = true
                    found.append(reference)
                    return found.count - 1
                }()
            found[place].uses.append(number + 1)
            // The text above has the numbers of its passages: so has the list.
            if isNumbered {
                found[place].label = found[place].label.map { "\($0), \(number + 1)" } ?? "\(number + 1)"
            }
        }
        return found
    }

    private mutating func findUses(in body: [String]) throws {
        guard !body.isEmpty else { return }
        let labels = Dictionary(
            references.enumerated().compactMap { index, reference in reference.label.map { ($0, index) } }
        ) { first, _ in first }
        var unknown: [String] = []
        for (number, paragraph) in body.enumerated() {
            if number % 64 == 0 { try Task.checkCancellation() }
            var used: Set<Int> = []
            for label in Self.cited(in: paragraph) {
                if let index = labels[label] {
                    used.insert(index)
                } else if !labels.isEmpty, !unknown.contains(label) {
                    unknown.append(label)
                }
            }
            let identifiers = IdentifierScanner.identifiers(in: paragraph)
            for (index, reference) in references.enumerated() {
                if reference.identifiers.contains(where: identifiers.contains) {
                    used.insert(index)
                } else if let author = reference.fields.authors.first, !reference.fields.year.isEmpty,
                    paragraph.contains(reference.fields.year), let name = Self.surname(author), paragraph.contains(name)
                {
                    used.insert(index)
                }
            }
            for index in used { references[index].uses.append(number + 1) }
        }
        missing = unknown
    }

    /// The numbers in brackets of a paragraph: [3], [1, 4], [2-4].
    static func cited(in paragraph: String) -> [String] {
        guard paragraph.contains("[") || paragraph.contains("［") || paragraph.contains("〔") else { return [] }
        let text = Normalizer.halfWidth(paragraph)
        var labels: [String] = []
        for match in text.matches(of: /[\[〔]\s*([0-9]{1,3}(?:\s*[,;，、\-–]\s*[0-9]{1,3})*)\s*[\]〕](?!\()/) {
            for piece in match.1.split(whereSeparator: { ",;，、".contains($0) }) {
                let ends = piece.split(whereSeparator: { "-–".contains($0) })
                    .compactMap { Int($0.filter(\.isNumber)) }
                guard let first = ends.first, let last = ends.last, first <= last, last - first < 50 else { continue }
                labels += (first...last).map { "\($0)" }
            }
        }
        return labels
    }

    /// The part of a name that a text uses: Lamport of "Lamport, L." and "Leslie Lamport"; all of a Chinese one.
    static func surname(_ author: String) -> String? {
        let name: Substring
        if let comma = author.firstIndex(of: ",") {
            name = author[..<comma]
        } else {
            let words = author.split(separator: " ")
            // Initials stand on either side.
            name = words.last { $0.count > 2 && !$0.contains(".") && $0 != $0.uppercased()[...] } ?? words.first ?? ""
        }
        let isHan = name.unicodeScalars.contains { Script.isHan($0.value) }
        return name.count >= (isHan ? 2 : 3) ? String(name) : nil
    }
}
