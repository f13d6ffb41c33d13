internal import Text
internal import Wire

/// Finds arguments in an instruction by what a skill's schema says of them: a number beside the noun that the property
/// counts ("5 keywords", 三句话) or beside words of its name or description, or a value that the schema lists. It never
/// makes one up.
struct ArgumentFinder: Sendable {
    private struct Property: Sendable {
        let name: String
        /// Words of the name.
        let nameWords: [UInt64]
        /// Content words of the name and the description.
        let words: Set<UInt64>
        /// What it is the number of, as groups of nouns: those of the name, and those of the description.
        let named: Set<Int>
        let counted: Set<Int>
        /// What each of which has so many: the points of "how many characters a point may have".
        let scope: Set<Int>
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
    /// A summary of three sentences and one of three points are of a length.
    private let kin: Set<Int>

    private static let nouns: Set<Lexicon.Grammar> = [
        .countSentences, .countPoints, .countWords, .countCharacters, .countTerms,
    ]
    /// Where what is said of a number ends: 1 bullet and 2 keywords, one summary in bullet points.
    private static let ends: Set<Lexicon.Grammar> = [
        .and, .join, .sequence, .again, .contrast, .negation, .toLanguage,
    ]
    private static let each = keys("each per every 每 各")
    /// Before a number that names what is at hand, or which one: these 5 points, 这三条, 第三点, 每一点.
    private static let pointing = keys("these those this that 这 那 第 每 各")
    private static let of = keys("of")
    /// 成 为 用 出 以: 总结成一点 asks for one, 短一点 does not.
    private static let resulting = keys("成 为 用 出 以")

    private static func keys(_ words: String) -> Set<UInt64> { Set(Units(words).list.map(\.key)) }

    init(schema: JSONValue, lexicon: Lexicon) {
        self.lexicon = lexicon
        kin = Set(
            lexicon.groups.indices.filter {
                lexicon.groups[$0].grammar == .countPoints || lexicon.groups[$0].grammar == .countSentences
            }
        )
        for (name, property) in (schema["properties"]?.object ?? [:]).sorted(by: { $0.key < $1.key }).prefix(32) {
            let type = property["type"]?.string ?? property["type"]?.array?.first?.string
            if type == "integer" || type == "number" { numbers.append(self.property(name, property)) }
            for value in property["enum"]?.array?.prefix(64) ?? [] {
                guard let text = value.string, text.utf8.count >= 3 else { continue }
                choices.append(Choice(name: name, keys: Units(Self.spaced(text)).list.map(\.key), value: value))
            }
        }
    }

    private func property(_ name: String, _ schema: JSONValue) -> Property {
        let nameUnits = Units(Self.spaced(name))
        let description = String(schema["description"]?.string?.prefix(300) ?? "")
        let reading = Reading(Units(Self.spaced(name) + "\n" + description), lexicon: lexicon, forgiving: false)
        let named = Set(nouns(nameUnits).flatMap(\.groups))
        let (described, scope) = described(Units(description))
        return Property(
            name: name,
            nameWords: nameUnits.list.map(\.key),
            words: Set(Features(reading).list.filter(\.isContent).map(\.key)),
            named: named,
            counted: named.union(described),
            scope: named.isEmpty || !named.isDisjoint(with: described) ? scope.subtracting(named) : [],
            minimum: schema["minimum"]?.number ?? -.infinity,
            maximum: schema["maximum"]?.number ?? .infinity
        )
    }

    /// What a description says that its number is the number of: the noun near its start, with those that are joined to
    /// it ("points or sentences"). Another noun of the sentence is what each has so many of.
    private func described(_ units: Units) -> (counted: Set<Int>, scope: Set<Int>) {
        var counted: Set<Int> = []
        var scope: Set<Int> = []
        var last = 0
        for (groups, range) in nouns(units) {
            let between = units.list[min(last, range.lowerBound)..<range.lowerBound]
            // The number of points; 总结的句子有多少.
            if counted.isEmpty, between.count > (between.contains { $0.kind == .han } ? 8 : 3) { break }
            if between.contains(where: { $0.kind == .mark && [0x2E, 0x3B, 0x3002, 0xFF1B].contains($0.scalar) }) {
                break
            }
            if counted.isEmpty || between.count <= 2 && between.contains(where: joins) {
                counted.formUnion(groups)
            } else {
                scope.formUnion(groups)
            }
            last = range.upperBound
        }
        return (counted, scope.subtracting(counted))
    }

    private func joins(_ unit: Units.Unit) -> Bool { Self.joining.contains(unit.key) }
    private static let joining = keys("or and , 、 ， / 或 和")

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
        var open = numbers
        let all = Self.numbers(in: reading.units).filter { reading.isActive[$0.range.lowerBound] }
        guard !all.isEmpty else { return .object(found) }
        let distributed = distributed(reading)
        let ends = Set(
            reading.matches.filter { match in Self.ends.contains { reading.has($0, match) } }.map(\.range.lowerBound)
        )
        for (value, range) in all where !isBeside(range, reading.units) {
            let noun = noun(after: range, reading, ends)
            var best: (property: Property, score: Int)?
            for property in open where property.minimum <= Double(value) && Double(value) <= property.maximum {
                guard property.scope.isEmpty || !property.scope.isDisjoint(with: distributed) else { continue }
                let score =
                    if let noun { fit(property, noun.groups, noun.distance) } else {
                        fit(property, beside: range, reading, ends)
                    }
                if score > best?.score ?? 0 { best = (property, score) }
            }
            guard let best else { continue }
            found[best.property.name] = .integer(Int64(value))
            // Another name of the same is not for another number.
            open.removeAll {
                $0.name == best.property.name
                    || $0.scope == best.property.scope && !$0.counted.isDisjoint(with: best.property.counted)
            }
        }
        return .object(found)
    }

    /// Whether a number is no amount that is asked for.
    private func isBeside(_ number: Range<Int>, _ units: Units) -> Bool {
        let before = number.lowerBound > 0 ? units.list[number.lowerBound - 1].key : nil
        if let before, Self.pointing.contains(before) { return true }
        // 短一点, 有一点长
        let isLittle =
            number.count == 1 && units.list[number.lowerBound].scalar == 0x4E00 && number.upperBound < units.list.count
            && units.list[number.upperBound].scalar == 0x70B9
        return isLittle && !(before.map(Self.resulting.contains) ?? false)
    }

    /// The groups of which each is spoken of: 每点, "three points of 40 characters each".
    private func distributed(_ reading: Reading) -> Set<Int> {
        guard reading.units.list.contains(where: { Self.each.contains($0.key) }) else { return [] }
        let groups = Set(nouns(reading.units).flatMap(\.groups))
        return groups.isDisjoint(with: kin) ? groups : groups.union(kin)
    }

    /// The noun that a number counts, with up to three units between: 5 main keywords, 五个核心关键词.
    private func noun(after number: Range<Int>, _ reading: Reading, _ ends: Set<Int>) -> (
        groups: Set<Int>, distance: Int
    )? {
        for (distance, position) in said(of: number, reading, ends).enumerated() {
            let groups = groups(reading.units, at: position).groups
            if !groups.isEmpty { return (groups, distance) }
        }
        return nil
    }

    /// The positions after a number that may say what it counts.
    private func said(of number: Range<Int>, _ reading: Reading, _ ends: Set<Int>) -> Range<Int> {
        let units = reading.units.list
        var end = number.upperBound
        while end < min(units.count, number.upperBound + 5) {
            let unit = units[end]
            if unit.kind == .lineEnd || unit.kind == .number || Self.of.contains(unit.key) { break }
            // A hyphen is no end: "a two-sentence summary".
            if unit.kind == .mark, unit.scalar != 0x2D { break }
            if ends.contains(end), groups(reading.units, at: end).groups.isEmpty { break }
            end += 1
        }
        return number.upperBound..<end
    }

    /// How well a property fits the noun that is counted.
    private func fit(_ property: Property, _ noun: Set<Int>, _ distance: Int) -> Int {
        let others = property.nameWords.count - 1
        if !property.named.isDisjoint(with: noun) { return 60 - min(others, 9) - distance }
        if !property.counted.isDisjoint(with: noun) { return 40 - distance }
        if !noun.isDisjoint(with: kin), !property.counted.isDisjoint(with: kin) {
            return 20 - (property.named.isEmpty ? 5 : min(others, 4)) - distance
        }
        return 0
    }

    /// How well the words after a number that counts no known noun, or the one before it, name a property.
    private func fit(_ property: Property, beside number: Range<Int>, _ reading: Reading, _ ends: Set<Int>) -> Int {
        let units = reading.units.list
        var best = 0
        for (distance, position) in said(of: number, reading, ends).enumerated() {
            let key = units[position].key
            if property.nameWords.contains(key), property.words.contains(key) {
                best = max(best, 16 - distance)
            } else if property.words.contains(key)
                || position + 1 < units.count && property.words.contains(Key.mix(key, units[position + 1].key))
            {
                best = max(best, 10 - distance)
            }
        }
        if best > 0 { return best }
        // "precision 5", 精度 5
        let before = number.lowerBound - 1
        guard before >= 0 else { return 0 }
        if property.words.contains(units[before].key) { return 4 }
        if before >= 1, property.words.contains(Key.mix(units[before - 1].key, units[before].key)) { return 4 }
        return 0
    }

    /// The groups of nouns at a position, by its longest entry that has any.
    private func groups(_ units: Units, at position: Int) -> (groups: Set<Int>, length: Int) {
        for entry in lexicon.matches(units, at: position) {
            let found = lexicon.entries[Int(entry)].memberships.map(\.group).filter {
                lexicon.groups[$0].grammar.map(Self.nouns.contains) ?? false
            }
            if !found.isEmpty { return (Set(found), lexicon.entries[Int(entry)].keys.count) }
        }
        return ([], 0)
    }

    /// The nouns of a text that things are counted by, in order.
    private func nouns(_ units: Units) -> [(groups: Set<Int>, range: Range<Int>)] {
        var found: [(Set<Int>, Range<Int>)] = []
        var position = 0
        while position < units.list.count {
            let (groups, length) = groups(units, at: position)
            if !groups.isEmpty { found.append((groups, position..<position + length)) }
            position += max(1, length)
        }
        return found
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
