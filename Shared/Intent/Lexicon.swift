/// Cues of natural language, in groups of synonyms. Read once from `Data/LexiconText.swift`, whose head explains the format.
///
/// It knows languages, not skills: which skill a group stands for follows from the words of the manifests.
struct Lexicon: Sendable {
    /// What kind of group it is.
    enum Kind: String, Sendable {
        /// Something that a skill may do.
        case topic
        /// A topic that needs a device, an account or live data.
        case deed
        /// A wish that takes several topics one after another.
        case plan
        /// Words that hold sentences together.
        case grammar
    }

    /// How the output of a topic relates to the other steps of a plan.
    enum Role: String, Sendable {
        /// Makes a new text out of a text; another transformation may follow.
        case transform
        /// Takes something out of a text.
        case extract
        /// Finds text that later steps work on: it comes first.
        case source
        /// Adds to what was made: it comes after a source.
        case annotate
        /// Computes.
        case compute
        /// Talks.
        case talk
    }

    /// Groups of grammar that the code refers to.
    enum Grammar: String, CaseIterable, Sendable {
        case negation, contrast, sequence, again, and, join, filler, deictic, followup, result, object
        case language, toLanguage, languageWord
        case `operator`, function, unit, quantity, numberword
        case countSentences, countPoints, countWords, countCharacters, countTerms
    }

    /// What is found by looking at numbers and languages.
    enum Shape: String, CaseIterable, Sendable {
        case arithmetic, units, wordproblem, language, you
    }

    struct Group: Sendable {
        let name: String
        let kind: Kind
        let role: Role?
        /// Of a plan: the groups of its steps.
        var steps: [Int] = []
        let grammar: Grammar?
    }

    /// What a term means in one group.
    struct Membership: Sendable {
        let group: Int
        let weight: Double
        /// Only where a clause begins.
        let initial: Bool
    }

    struct Entry: Sendable {
        let keys: [UInt64]
        let isHan: Bool
        var memberships: [Membership]
    }

    let groups: [Group]
    let entries: [Entry]
    /// Groups that a shape speaks for.
    let shapes: [Shape: Membership]
    /// Entries by their first key, the longest first.
    private let byFirst: [UInt64: [Int32]]
    /// Entries of three or more Han characters, by their keys with one left out.
    private let nearHan: [UInt64: Int32]
    /// Single words for the correction of slips.
    let words: [String]

    /// The product's lexicon.
    static let shared = Lexicon(parsing: LexiconText.all)

    /// The longest entry that stands at a position and fits.
    func match(_ units: Units, at position: Int, where fits: (Entry) -> Bool) -> Int32? {
        guard let candidates = byFirst[units.list[position].key] else { return nil }
        return candidates.first { stands($0, units, at: position) && fits(entries[Int($0)]) }
    }

    /// Every entry that stands at a position, the longest first.
    func matches(_ units: Units, at position: Int) -> [Int32] {
        guard let candidates = byFirst[units.list[position].key] else { return [] }
        return candidates.filter { stands($0, units, at: position) }
    }

    private func stands(_ index: Int32, _ units: Units, at position: Int) -> Bool {
        let keys = entries[Int(index)].keys
        guard position + keys.count <= units.list.count else { return false }
        for offset in 1..<max(1, keys.count) where keys[offset] != units.list[position + offset].key { return false }
        return true
    }

    /// An entry that differs from the Han characters at a position in one character, which is not the first and last at
    /// once: a slip of an input method.
    func nearMatch(_ units: Units, at position: Int) -> Int32? {
        for length in [5, 4, 3] where position + length <= units.list.count {
            let window = units.list[position..<position + length]
            guard window.allSatisfy({ $0.kind == .han }) else { continue }
            for hole in Self.holes(length) {
                if let entry = nearHan[Self.holed(window.map(\.key), hole)] { return entry }
            }
        }
        return nil
    }

    /// The places at which an entry may differ. In three characters only the middle one: 关键 begins many a word.
    private static func holes(_ length: Int) -> Range<Int> { length == 3 ? 1..<2 : 1..<length }

    private static func holed(_ keys: [UInt64], _ hole: Int) -> UInt64 {
        var hash = UInt64(keys.count &* 31 &+ hole)
        for (index, key) in keys.enumerated() where index != hole { hash = Key.mix(hash, key) }
        return hash
    }

    // MARK: Reading the table

    init(parsing text: String) {
        var groups: [Group] = []
        var pendingSteps: [(group: Int, names: [String])] = []
        var entries: [Entry] = []
        var index: [[UInt64]: Int] = [:]
        var shapes: [Shape: Membership] = [:]
        var words: [String] = []
        for line in text.split(whereSeparator: \.isNewline) {
            guard line.first != "#" else { continue }
            if line.first == "[" {
                let fields = line.dropFirst().prefix { $0 != "]" }.split(separator: " ")
                guard let name = fields.first, fields.count >= 2, let kind = Kind(rawValue: String(fields[1])) else {
                    continue
                }
                var role: Role?
                for field in fields.dropFirst(2) {
                    let parts = field.split(separator: "=", maxSplits: 1)
                    guard parts.count == 2 else { continue }
                    if parts[0] == "role" { role = Role(rawValue: String(parts[1])) }
                    if parts[0] == "steps" {
                        pendingSteps.append((groups.count, parts[1].split(separator: ",").map(String.init)))
                    }
                }
                let grammar = kind == .grammar ? Grammar(rawValue: String(name)) : nil
                groups.append(Group(name: String(name), kind: kind, role: role, grammar: grammar))
                continue
            }
            guard !groups.isEmpty else { continue }
            for field in line.split(separator: ",") {
                guard let (term, membership) = Self.term(field, group: groups.count - 1) else { continue }
                if term.first == "@" {
                    if let shape = Shape(rawValue: String(term.dropFirst())) { shapes[shape] = membership }
                    continue
                }
                let units = Units(term)
                let keys = units.list.map(\.key)
                guard !keys.isEmpty else { continue }
                if let known = index[keys] {
                    // Spellings of one stem count once.
                    let same = entries[known].memberships.firstIndex {
                        $0.group == membership.group && $0.initial == membership.initial
                    }
                    if let same {
                        if entries[known].memberships[same].weight < membership.weight {
                            entries[known].memberships[same] = membership
                        }
                    } else {
                        entries[known].memberships.append(membership)
                    }
                } else {
                    index[keys] = entries.count
                    let isHan = units.list.contains { $0.kind == .han }
                    entries.append(Entry(keys: keys, isHan: isHan, memberships: [membership]))
                }
                if !groups[membership.group].isGrammar {
                    for word in term.split(separator: " ") where word.utf8.count >= 4 { words.append(String(word)) }
                }
            }
        }
        for (group, names) in pendingSteps {
            groups[group].steps = names.compactMap { name in groups.firstIndex { $0.name == name } }
        }
        var byFirst: [UInt64: [Int32]] = [:]
        var nearHan: [UInt64: Int32] = [:]
        for (number, entry) in entries.enumerated() {
            guard let first = entry.keys.first else { continue }
            byFirst[first, default: []].append(Int32(number))
            // What is only near to talk, or to a deed, is rather neither.
            let isTopic = entry.memberships.contains { membership in
                let group = groups[membership.group]
                let isWork = group.kind == .topic && group.role != .talk || group.kind == .plan
                return isWork && membership.weight >= 0.7
            }
            if entry.isHan, isTopic, 3...5 ~= entry.keys.count {
                for hole in Self.holes(entry.keys.count) { nearHan[Self.holed(entry.keys, hole)] = Int32(number) }
            }
        }
        self.groups = groups
        self.entries = entries
        self.shapes = shapes
        self.words = words
        self.nearHan = nearHan
        self.byFirst = byFirst.mapValues { list in
            list.sorted { entries[Int($0)].keys.count > entries[Int($1)].keys.count }
        }
    }

    private static func term(_ field: Substring, group: Int) -> (String, Membership)? {
        var term = field.drop { $0 == " " }
        while term.last == " " { term.removeLast() }
        var weight = 0.85
        if let mark = term.lastIndex(of: "="), let value = Double(term[term.index(after: mark)...]) {
            weight = value
            term = term[..<mark]
        } else if term.last == "~" {
            weight = 0.4
            term.removeLast()
        }
        let initial = term.first == "^"
        if initial { term.removeFirst() }
        return term.isEmpty ? nil : (String(term), Membership(group: group, weight: weight, initial: initial))
    }
}

extension Lexicon.Group {
    var isGrammar: Bool { kind == .grammar }
}
