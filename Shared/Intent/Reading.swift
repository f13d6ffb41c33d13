/// What a text says, by the lexicon: its clauses, the cues in them, and which of these are denied.
///
/// Read in four passes: entries of the lexicon (leftmost, longest), clauses, denials, shapes. All are linear in the text.
struct Reading {
    /// What stands between a clause and the one before it.
    struct Boundary: OptionSet {
        let rawValue: UInt8
        /// A mark of punctuation.
        static let mark = Boundary(rawValue: 1)
        /// "and", 并, 同时
        static let and = Boundary(rawValue: 2)
        /// "then", 然后
        static let sequence = Boundary(rawValue: 4)
        /// 再, "finally": an order, but often no more than a list.
        static let again = Boundary(rawValue: 8)
        /// 和, "with": joins nouns as well as wishes.
        static let join = Boundary(rawValue: 16)
    }

    struct Clause {
        var range: Range<Int>
        var boundary: Boundary
    }

    /// A cue.
    struct Mention {
        let group: Int
        var weight: Double
        let range: Range<Int>
        var clause: Int
        var isDenied = false
        let isHan: Bool
        /// What was found, where it is no words of the text.
        var shape: Lexicon.Shape?
    }

    struct Match {
        let entry: Int
        let range: Range<Int>
        let isInitial: Bool
    }

    let units: Units
    private(set) var matches: [Match] = []
    private(set) var clauses: [Clause] = []
    private(set) var mentions: [Mention] = []
    /// Units that are not denied.
    private(set) var isActive: [Bool]
    /// Units that only hold the text together.
    private(set) var isGrammar: [Bool]
    /// Grammar that occurs anywhere.
    private(set) var grammar: Set<Lexicon.Grammar> = []

    private let lexicon: Lexicon

    init(_ units: Units, lexicon: Lexicon, forgiving: Bool) {
        self.units = units
        self.lexicon = lexicon
        isActive = Array(repeating: true, count: units.list.count)
        isGrammar = Array(repeating: false, count: units.list.count)
        match(forgiving: forgiving)
        cutClauses()
        collectMentions()
        deny()
        for found in Shapes.find(in: self, lexicon: lexicon) {
            guard let membership = lexicon.shapes[found.shape] else { continue }
            mentions.append(
                Mention(
                    group: membership.group,
                    weight: found.weight,
                    range: found.range,
                    clause: clause(of: found.range.lowerBound),
                    isDenied: !(isActive.indices.contains(found.range.lowerBound) && isActive[found.range.lowerBound]),
                    isHan: false,
                    shape: found.shape
                )
            )
        }
    }

    /// The clause that holds a unit.
    func clause(of unit: Int) -> Int {
        max(0, clauses.firstInOrder { $0.range.lowerBound > unit } - 1)
    }

    func has(_ grammar: Lexicon.Grammar, _ match: Match) -> Bool {
        lexicon.entries[match.entry].memberships.contains { lexicon.groups[$0.group].grammar == grammar }
    }

    /// Whether a clause has a word of grammar.
    func clause(_ clause: Int, has grammar: Lexicon.Grammar) -> Bool {
        matches(in: clauses[clause].range).contains { has(grammar, $0) }
    }

    /// The match that begins at a unit, and the one before it.
    func match(at unit: Int) -> (match: Match?, before: Match?) {
        let next = matches.firstInOrder { $0.range.lowerBound >= unit }
        let match = next < matches.count && matches[next].range.lowerBound == unit ? matches[next] : nil
        return (match, next > 0 ? matches[next - 1] : nil)
    }

    /// The matches that begin in a range.
    func matches(in range: Range<Int>) -> ArraySlice<Match> {
        let first = matches.firstInOrder { $0.range.lowerBound >= range.lowerBound }
        return matches[first...].prefix { $0.range.lowerBound < range.upperBound }
    }

    // MARK: Passes

    private mutating func match(forgiving: Bool) {
        var position = 0
        var isInitial = true
        while position < units.list.count {
            let unit = units.list[position]
            var found = lexicon.match(units, at: position) { entry in
                isInitial || entry.memberships.contains { !$0.initial }
            }
            if found == nil, forgiving, unit.kind == .han, let near = lexicon.nearMatch(units, at: position),
                !holdsAnother(position..<position + lexicon.entries[Int(near)].keys.count)
            {
                found = near
            }
            guard let found else {
                isInitial = unit.kind == .mark || unit.kind == .lineEnd
                position += 1
                continue
            }
            let entry = lexicon.entries[Int(found)]
            let range = position..<position + entry.keys.count
            matches.append(Match(entry: Int(found), range: range, isInitial: isInitial))
            position = range.upperBound
            var opens = false
            if entry.memberships.allSatisfy({ lexicon.groups[$0.group].isGrammar }) {
                for unit in range { isGrammar[unit] = true }
            }
            for membership in entry.memberships {
                guard let found = lexicon.groups[membership.group].grammar else { continue }
                grammar.insert(found)
                switch found {
                case .filler, .and, .sequence, .again, .contrast: opens = true
                default: break
                }
            }
            isInitial = opens
        }
    }

    /// Whether words within a range are known as they are: then the whole is no slip. 内容不要 is not meant as 内容提要.
    private func holdsAnother(_ range: Range<Int>) -> Bool {
        range.dropFirst().contains { position in
            let found = lexicon.match(units, at: position) { entry in
                entry.keys.count > 1 && entry.memberships.contains { !$0.initial }
            }
            guard let found else { return false }
            return lexicon.entries[Int(found)].memberships.contains { lexicon.groups[$0.group].grammar != .filler }
        }
    }

    private mutating func cutClauses() {
        var start = 0
        var boundary: Boundary = []
        func close(at end: Int) {
            if end > start { clauses.append(Clause(range: start..<end, boundary: boundary)) }
        }
        var next = 0
        var position = 0
        while position < units.list.count {
            while next < matches.count, matches[next].range.lowerBound < position { next += 1 }
            var found: Boundary = []
            var end = position + 1
            if next < matches.count, matches[next].range.lowerBound == position {
                let match = matches[next]
                end = match.range.upperBound
                if has(.sequence, match) { found.insert(.sequence) }
                if has(.and, match) { found.insert(.and) }
                if has(.again, match) { found.insert(.again) }
                if has(.join, match) { found.insert(.join) }
            } else {
                found = markBoundary(at: position)
            }
            if !found.isEmpty {
                if position > start {
                    close(at: position)
                    boundary = found
                } else {
                    boundary.formUnion(found)
                }
                start = end
            }
            position = end
        }
        close(at: units.list.count)
        if clauses.isEmpty { clauses = [Clause(range: 0..<units.list.count, boundary: [])] }
    }

    private func markBoundary(at position: Int) -> Boundary {
        let unit = units.list[position]
        if unit.kind == .lineEnd { return .mark }
        guard unit.kind == .mark else { return [] }
        switch unit.scalar {
        // Not in 9:30.
        case 0x3A
        where position > 0 && units.list[position - 1].kind == .number
            && position + 1 < units.list.count && units.list[position + 1].kind == .number:
            return []
        // , . ; ! ? : 。 、 ； — –
        case 0x2C, 0x2E, 0x3B, 0x21, 0x3F, 0x3A, 0x3002, 0x2014, 0x2013, 0xFF0C, 0x061F, 0x060C: return .mark
        case 0x3001: return .join
        // + and & between words; between numbers they are operators.
        case 0x2B, 0x26:
            let before = position > 0 ? units.list[position - 1].kind : .mark
            let after = position + 1 < units.list.count ? units.list[position + 1].kind : .mark
            return [before, after].allSatisfy { $0 == .word || $0 == .han } ? .join : []
        default: return []
        }
    }

    private mutating func collectMentions() {
        for match in matches {
            let entry = lexicon.entries[match.entry]
            for membership in entry.memberships where !membership.initial || match.isInitial {
                guard !lexicon.groups[membership.group].isGrammar else { continue }
                mentions.append(
                    Mention(
                        group: membership.group,
                        weight: membership.weight,
                        range: match.range,
                        clause: clause(of: match.range.lowerBound),
                        isHan: entry.isHan
                    )
                )
            }
        }
    }

    /// 就免了, 只是不要: what was before is denied, not set against something.
    private func isDenialNext(after number: Int) -> Bool {
        guard number + 1 < matches.count, has(.negation, matches[number + 1]) else { return false }
        return lexicon.entries[matches[number].entry].isHan
            && matches[number + 1].range.lowerBound == matches[number].range.upperBound
    }

    /// A denial holds up to the next mark or contrast ("but", 就). One with nothing after it denies what is before it:
    /// 关键词不要了.
    private mutating func deny() {
        guard grammar.contains(.negation) else { return }
        var segmentStart = 0
        var denialStart: Int?
        var denialTail: Match?
        func close(at end: Int) {
            defer {
                denialStart = nil
                denialTail = nil
            }
            guard let start = denialStart, let word = denialTail else { return }
            var range = start..<end
            let hasObject = mentions.contains { range.contains($0.range.lowerBound) && $0.weight >= 0.5 }
            let text = units.text(word.range)
            if !hasObject, lexicon.entries[word.entry].isHan || text.hasSuffix("needed") || text.hasSuffix("necessary")
            {
                range = segmentStart..<end
            }
            for index in mentions.indices where range.contains(mentions[index].range.lowerBound) {
                mentions[index].isDenied = true
            }
            for unit in range { isActive[unit] = false }
        }
        var next = 0
        for position in units.list.indices {
            while next < matches.count, matches[next].range.lowerBound < position { next += 1 }
            if next < matches.count, matches[next].range.lowerBound == position {
                let match = matches[next]
                if has(.contrast, match), !isDenialNext(after: next) {
                    close(at: position)
                    segmentStart = position
                } else if has(.negation, match), denialStart == nil {
                    denialStart = position
                    denialTail = match
                }
            } else if markBoundary(at: position) == .mark, !(next > 0 && matches[next - 1].range.contains(position)) {
                close(at: position)
                segmentStart = position + 1
            }
        }
        close(at: units.list.count)
    }
}
