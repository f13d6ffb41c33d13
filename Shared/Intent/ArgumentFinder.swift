internal import Text
internal import Wire

/// Finds arguments in an instruction by what a skill's schema says of them: a number beside words of the property's
/// name or description ("5 keywords", 三句话), or a value that the schema lists. It never makes one up.
struct ArgumentFinder: Sendable {
    private struct Property: Sendable {
        let name: String
        let words: Set<UInt64>
        /// Groups of things counted that the name or description speaks of.
        let groups: Set<Int>
        let minimum: Double
        let maximum: Double
    }

    private struct Choice: Sendable {
        let name: String
        let keys: [UInt64]
        let value: JSONValue
    }

    private var numbers: [Property] = []
    private var choices: [Choice] = []
    private let lexicon: Lexicon

    private static let counted: Set<Lexicon.Grammar> = [.countSentences, .countPoints, .countWords, .countTerms]

    init(schema: JSONValue, lexicon: Lexicon) {
        self.lexicon = lexicon
        for (name, property) in (schema["properties"]?.object ?? [:]).sorted(by: { $0.key < $1.key }).prefix(32) {
            let type = property["type"]?.string ?? property["type"]?.array?.first?.string
            let text = Self.spaced(name) + "\n" + (property["description"]?.string?.prefix(300) ?? "")
            let units = Units(text)
            if type == "integer" || type == "number" {
                let reading = Reading(units, lexicon: lexicon, forgiving: false)
                numbers.append(
                    Property(
                        name: name,
                        words: Set(Features(reading).list.filter(\.isContent).map(\.key)),
                        groups: Self.countedGroups(reading, lexicon),
                        minimum: property["minimum"]?.number ?? -.infinity,
                        maximum: property["maximum"]?.number ?? .infinity
                    )
                )
            }
            for value in property["enum"]?.array?.prefix(64) ?? [] {
                guard let text = value.string, text.utf8.count >= 3 else { continue }
                choices.append(Choice(name: name, keys: Units(Self.spaced(text)).list.map(\.key), value: value))
            }
        }
    }

    var isEmpty: Bool { numbers.isEmpty && choices.isEmpty }

    /// The arguments that the instruction gives.
    func arguments(in reading: Reading) -> JSONValue {
        var found: [String: JSONValue] = [:]
        let units = reading.units.list
        for choice in choices where found[choice.name] == nil && !choice.keys.isEmpty {
            for start in units.indices where reading.isActive[start] && start + choice.keys.count <= units.count {
                if choice.keys.indices.allSatisfy({ units[start + $0].key == choice.keys[$0] }) {
                    found[choice.name] = choice.value
                }
            }
        }
        guard !numbers.isEmpty else { return .object(found) }
        for (value, range) in Self.numbers(in: reading.units) where reading.isActive[range.lowerBound] {
            var best: (property: Property, score: Int)?
            for property in numbers where found[property.name] == nil {
                guard property.minimum...property.maximum ~= Double(value) else { continue }
                let score = fit(property, beside: range, reading)
                if score > best?.score ?? 0 { best = (property, score) }
            }
            if let best { found[best.property.name] = .integer(Int64(value)) }
        }
        return .object(found)
    }

    /// How well the words after a number (or the one before it) name a property.
    private func fit(_ property: Property, beside number: Range<Int>, _ reading: Reading) -> Int {
        let units = reading.units.list
        var position = number.upperBound
        // Up to three units between: 5 main keywords, 五个核心关键词.
        for distance in 0..<5 {
            guard position < units.count, units[position].kind != .lineEnd, units[position].kind != .number else {
                break
            }
            // A hyphen is no end: "a two-sentence summary".
            if units[position].kind == .mark, units[position].scalar != 0x2D { break }
            for entry in lexicon.matches(reading.units, at: position) {
                for membership in lexicon.entries[Int(entry)].memberships
                where property.groups.contains(membership.group) {
                    return 20 - distance
                }
            }
            if property.words.contains(units[position].key) { return 10 - distance }
            if position + 1 < units.count,
                property.words.contains(Key.mix(units[position].key, units[position + 1].key))
            {
                return 10 - distance
            }
            position += 1
        }
        // "precision 5", 精度 5
        let before = number.lowerBound - 1
        guard before >= 0 else { return 0 }
        if property.words.contains(units[before].key) { return 4 }
        if before >= 1, property.words.contains(Key.mix(units[before - 1].key, units[before].key)) { return 4 }
        return 0
    }

    private static func countedGroups(_ reading: Reading, _ lexicon: Lexicon) -> Set<Int> {
        var groups: Set<Int> = []
        for position in reading.units.list.indices {
            for entry in lexicon.matches(reading.units, at: position) {
                for membership in lexicon.entries[Int(entry)].memberships {
                    if let grammar = lexicon.groups[membership.group].grammar, counted.contains(grammar) {
                        groups.insert(membership.group)
                    }
                }
            }
        }
        return groups
    }

    /// Whole numbers in digits, Han characters or English words.
    private static func numbers(in units: Units) -> [(value: Int, range: Range<Int>)] {
        var found: [(Int, Range<Int>)] = []
        var position = 0
        while position < units.list.count {
            let unit = units.list[position]
            switch unit.kind {
            case .number:
                if let value = Int(units.text(position..<position + 1)) {
                    found.append((value, position..<position + 1))
                }
                position += 1
            case .word:
                let word = Units.string(units.scalars[unit.start..<unit.end])
                if let value = Numerals.value(word: word) { found.append((value, position..<position + 1)) }
                position += 1
            case .han where Numerals.isHanDigit(unit.scalar):
                var end = position
                while end < units.list.count, units.list[end].kind == .han, Numerals.isHanDigit(units.list[end].scalar)
                {
                    end += 1
                }
                if let value = Numerals.value(han: units.list[position..<end].map(\.scalar)) {
                    found.append((value, position..<end))
                }
                position = end
            default: position += 1
            }
        }
        return found
    }

    /// maxSentences as "max sentences".
    private static func spaced(_ name: String) -> String {
        var spaced = ""
        for character in name {
            if character.isUppercase || character == "_" || character == "-" { spaced += " " }
            if character != "_", character != "-" { spaced.append(character) }
        }
        return spaced
    }
}
