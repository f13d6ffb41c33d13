/// Which words people say when they mean a subject, by a table of everyday subjects in two languages: what a manifest
/// names by one of them is also asked for by the others.
struct Associations: Sendable {
    /// The table of ``AssociationText``.
    static let shared = Associations(parsing: AssociationText.all)

    /// A word, by its key among ``Grams``.
    struct Term: Hashable {
        let key: UInt64
        /// Whether it stands among the pieces of texts, not among the words.
        let isHan: Bool
    }

    private struct Subject {
        var names: [Term] = []
        var company: [Term] = []
    }

    /// How much a name of a subject says of another, of what goes with the subject, and the other way round.
    private static let toName: Float = 0.9
    private static let toCompany: Float = 0.7
    private static let fromCompany: Float = 0.4

    private var subjects: [Subject] = []
    private var places: [Term: [(subject: Int, isName: Bool)]] = [:]

    init(parsing text: String) {
        for line in text.split(whereSeparator: \.isNewline) where line.first != "#" {
            let sides = line.split(separator: "|", maxSplits: 1).map { side in
                side.split(separator: " ").compactMap { Self.term(String($0)) }
            }
            guard let names = sides.first, !names.isEmpty else { continue }
            let subject = Subject(names: names, company: sides.count > 1 ? sides[1] : [])
            for term in subject.names { places[term, default: []].append((subjects.count, true)) }
            for term in subject.company { places[term, default: []].append((subjects.count, false)) }
            subjects.append(subject)
        }
    }

    private static func term(_ word: String) -> Term? {
        let units = Units(word).list
        guard let first = units.first else { return nil }
        if first.kind == .word { return units.count == 1 ? Term(key: first.key, isHan: false) : nil }
        guard units.allSatisfy({ $0.kind == .han }), units.count <= Grams.longestRun else { return nil }
        return Term(key: Grams.run(units.map(\.scalar)[...]), isHan: true)
    }

    /// What goes with some words, and how strongly, 0 to 1. The words themselves are not among it.
    func related(to terms: some Sequence<Term>) -> [Term: Float] {
        var found: [Term: Float] = [:]
        let given = Set(terms)
        for place in given.flatMap({ places[$0] ?? [] }) {
            let subject = subjects[place.subject]
            for term in subject.names where !given.contains(term) {
                found[term] = max(found[term] ?? 0, place.isName ? Self.toName : Self.fromCompany)
            }
            guard place.isName else { continue }
            for term in subject.company where !given.contains(term) {
                found[term] = max(found[term] ?? 0, Self.toCompany)
            }
        }
        return found
    }
}
