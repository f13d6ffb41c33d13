internal import Text

/// What is compared between a text and the manifests: stems and their pairs, Han characters and their pairs.
struct Features {
    /// A feature's key and its weight by kind; rarity comes on top.
    struct Feature {
        let key: UInt64
        let weight: Float
        /// Whether the feature alone says something of the subject.
        let isContent: Bool
    }

    private(set) var list: [Feature] = []

    /// The features of a text's active units, each once. Words of grammar are no content: 帮我, 这个.
    init(_ reading: Reading) {
        let units = reading.units
        var seen: Set<UInt64> = []
        seen.reserveCapacity(units.list.count * 2)
        func add(_ key: UInt64, _ weight: Float, isContent: Bool) -> Feature? {
            seen.insert(key).inserted ? Feature(key: key, weight: weight, isContent: isContent) : nil
        }
        list.reserveCapacity(units.list.count * 2)
        var previous: Units.Unit?
        var followsGrammar = false
        for (index, unit) in units.list.enumerated() {
            guard reading.isActive[index] else {
                previous = nil
                continue
            }
            switch unit.kind {
            case .word:
                let isStop = StopWords.containsEnglish(folded: Units.string(units.scalars[unit.start..<unit.end]))
                if let new = add(unit.key, isStop ? 0.25 : 1, isContent: !isStop) { list.append(new) }
            case .han:
                if let new = add(unit.key, 0.35, isContent: false) { list.append(new) }
            case .number:
                if let new = add(unit.key, 0.5, isContent: false) { list.append(new) }
            case .mark, .lineEnd:
                previous = nil
                continue
            }
            if let previous {
                let isHan = previous.kind == .han && unit.kind == .han
                let isContent = isHan && !followsGrammar && !reading.isGrammar[index]
                let key = Key.mix(previous.key, unit.key)
                if let new = add(key, isHan ? 1 : 0.6, isContent: isContent) { list.append(new) }
            }
            previous = unit
            followsGrammar = reading.isGrammar[index]
        }
    }
}
