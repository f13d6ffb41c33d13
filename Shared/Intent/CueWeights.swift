/// Which of the cues of a clause is its wish, and which only name what it is about: in "translate the summary" and
/// 把摘要翻译成英文 the summary is not asked for.
enum CueWeights {
    /// A cue from this weight on may be a clause's wish.
    static let strong = 0.65
    private static let aside = 0.45
    private static let courtesy = 0.3
    /// Words beside a greeting or thanks in their clause: "thanks a lot, mate".
    private static let mostBesideCourtesy = 2

    /// The mentions that are not denied, with the weights of those lowered that are no wish of their clause.
    static func settled(_ reading: Reading, lexicon: Lexicon) -> [Reading.Mention] {
        var mentions = reading.mentions.filter { !$0.isDenied }
        guard mentions.count > 1 || reading.grammar.contains(.deictic) else { return mentions }
        mentions.sort { ($0.clause, $0.range.lowerBound) < ($1.clause, $1.range.lowerBound) }
        var start = 0
        while start < mentions.count {
            var end = start + 1
            while end < mentions.count, mentions[end].clause == mentions[start].clause { end += 1 }
            settle(&mentions[start..<end], reading, lexicon)
            start = end
        }
        lowerCourtesies(&mentions, reading, lexicon)
        lowerObjects(&mentions, reading, lexicon)
        return mentions
    }

    /// Talk that is all of its clause is no wish beside one, as a greeting before it or thanks after it.
    private static func lowerCourtesies(
        _ mentions: inout [Reading.Mention],
        _ reading: Reading,
        _ lexicon: Lexicon
    ) {
        let hasWish = mentions.contains { $0.weight >= 0.5 && lexicon.groups[$0.group].role != .talk }
        guard hasWish else { return }
        for index in mentions.indices where lexicon.groups[mentions[index].group].role == .talk {
            let clause = reading.clauses[mentions[index].clause].range
            if clause.count <= mentions[index].range.count + mostBesideCourtesy { mentions[index].weight *= courtesy }
        }
    }

    /// 这段摘要, 从摘要里: what is pointed at, or where something is, is worked on where anything else is asked for.
    private static func lowerObjects(
        _ mentions: inout [Reading.Mention],
        _ reading: Reading,
        _ lexicon: Lexicon
    ) {
        func mayBeWish(_ mention: Reading.Mention) -> Bool {
            mention.weight >= strong && lexicon.groups[mention.group].role != .talk
        }
        var wishes: [Int: Int] = [:]
        for mention in mentions where mayBeWish(mention) { wishes[mention.group, default: 0] += 1 }
        for index in mentions.indices where mentions[index].isHan && mentions[index].shape == nil {
            guard isObject(mentions[index].range, reading) else { continue }
            let group = mentions[index].group
            guard wishes.contains(where: { $0.key != group }) else { continue }
            if mayBeWish(mentions[index]), let count = wishes[group] { wishes[group] = count > 1 ? count - 1 : nil }
            mentions[index].weight *= aside
        }
    }

    private static func isObject(_ range: Range<Int>, _ reading: Reading) -> Bool {
        // Only a noun can be one: 总结 is no place in 总结中小企业的难题.
        let (match, before) = reading.match(at: range.lowerBound)
        guard let match, match.range == range, reading.has(.object, match) else { return false }
        let units = reading.units.list
        if isInside(units[range.upperBound - 1].scalar) { return true }
        if units.indices.contains(range.upperBound), isInside(units[range.upperBound].scalar) { return true }
        guard let before, before.range.upperBound == range.lowerBound else { return false }
        return before.range.count > 1 && reading.has(.deictic, before)
    }

    /// 里 中
    private static func isInside(_ scalar: UInt32) -> Bool { scalar == 0x91CC || scalar == 0x4E2D }

    private static func settle(
        _ mentions: inout ArraySlice<Reading.Mention>,
        _ reading: Reading,
        _ lexicon: Lexicon
    ) {
        guard let clause = mentions.first?.clause else { return }
        // "What is this about?": what is asked is in the text at hand, so no look-up.
        let pointsAtText =
            reading.clause(clause, has: .result)
            || reading.grammar.contains(.deictic) && reading.clause(clause, has: .deictic)
        let hasSum = mentions.contains { $0.shape != nil && $0.weight >= 0.7 }
        for index in mentions.indices where lexicon.groups[mentions[index].group].role == .source {
            if hasSum {
                mentions[index].weight *= 0.5
            } else if pointsAtText || reading.clause(clause, has: .language) {
                mentions[index].weight *= 0.6
            }
        }
        // "This poem" is one to work on.
        for index in mentions.indices
        where pointsAtText && lexicon.groups[mentions[index].group].role == .talk && mentions[index].weight > 0.4 {
            mentions[index].weight *= 0.6
        }
        let wishes = mentions.indices.filter { mentions[$0].weight >= strong && mentions[$0].shape == nil }
        guard let wish = wish(of: wishes.map { mentions[$0] }, clause, reading) else { return }
        for index in mentions.indices where mentions[index].shape == nil && mentions[index].group != wish.group {
            mentions[index].weight *= aside
        }
    }

    /// The governing mention among several of different groups.
    private static func wish(
        of mentions: [Reading.Mention],
        _ clause: Int,
        _ reading: Reading
    ) -> Reading.Mention? {
        guard let first = mentions.first, let last = mentions.last else { return nil }
        guard mentions.contains(where: { $0.group != first.group }) else { return nil }
        let units = reading.units.list
        func scalar(after mention: Reading.Mention) -> UInt32? {
            units.indices.contains(mention.range.upperBound) ? units[mention.range.upperBound].scalar : nil
        }
        // 译成, 翻译为: a verb with its result.
        if let verb = mentions.first(where: { mention in
            let end = units[mention.range.upperBound - 1].scalar
            // 译做; but 做 behind a noun has the verb after it: 对摘要做翻译.
            return mention.isHan && (isResult(end) || end == 0x505A || scalar(after: mention).map(isResult) ?? false)
        }) {
            return verb
        }
        // 把…, 从…, 将…, 为…, 对…: what follows the preposition is worked on; the verb comes last.
        let clauseStart = reading.clauses[clause].range.lowerBound
        let head = units[clauseStart..<first.range.lowerBound]
        if first.isHan || last.isHan, head.contains(where: { isPreposition($0.scalar) }) { return last }
        // 摘要里的关键词, 译文的概要: the head of a Chinese noun phrase comes last.
        if let after = scalar(after: first), after == 0x7684 || after == 0x91CC || after == 0x4E2D {
            return mentions.first { $0.group != first.group }
        }
        return first
    }

    /// 成 为 作 到
    private static func isResult(_ scalar: UInt32) -> Bool {
        scalar == 0x6210 || scalar == 0x4E3A || scalar == 0x4F5C || scalar == 0x5230
    }

    /// 把 将 从 对 为 给 按 在
    private static func isPreposition(_ scalar: UInt32) -> Bool {
        [0x628A, 0x5C06, 0x4ECE, 0x5BF9, 0x4E3A, 0x7ED9, 0x6309, 0x5728].contains(scalar)
    }
}
