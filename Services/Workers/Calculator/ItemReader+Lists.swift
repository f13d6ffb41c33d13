/// Verbs before their operands, and functions of a list before or after it.
extension ItemReader {
    /// "divide 10 by 2", "subtract 3 from 10".
    mutating func resolveVerbs() {
        guard let place = items.firstIndex(where: { if case .verb = $0.meaning { true } else { false } }),
            case .verb(let operation)? = items[place].meaning
        else { return }
        let rest = items[(place + 1)...]
        let separator = rest.firstIndex { item in
            switch item.meaning {
            case .by, .from, .and: true
            default: false
            }
        }
        guard let separator else {
            items[place] = items[place].with(.binary(operation))
            return
        }
        var replaced = Array(items[..<place])
        let sign = items[separator].with(.binary(operation), operation.sign)
        if case .from? = items[separator].meaning, operation == .subtract {
            let taken = items[(place + 1)..<separator]
            let isPlain = taken.count == 1
            replaced += items[(separator + 1)...] + [sign] + (isPlain ? [] : [items[separator].with(.open, "(")])
            replaced += taken + (isPlain ? [] : [items[separator].with(.close, ")")])
        } else {
            replaced += items[(place + 1)..<separator] + [sign] + items[(separator + 1)...]
        }
        items = replaced
    }

    /// "average of 4, 8 and 15": the list goes to the end.
    mutating func resolveListsBefore() {
        guard
            let place = items.indices.first(where: { index in
                guard let function = items[index].function, function.arity.upperBound > 1 else { return false }
                let next = index + 1
                guard next < items.count, !items[next].isOpen else { return false }
                return function.takesList || items[next...].contains { $0.isAnd }
            })
        else { return }
        var end = items.count
        while end > place + 1, let meaning = items[end - 1].meaning, case .equals = meaning { end -= 1 }
        items =
            Array(items[...place]) + [items[place].with(.open, "(")] + Self.arguments(items[(place + 1)..<end])
            + [items[end - 1].with(.close, ")")] + items[end...]
    }

    /// 4、8、15的平均数, 三和四的积: the list goes back to the start.
    mutating func resolveListsAfter() {
        guard
            let place = items.firstIndex(where: { item in
                if case .combination? = item.meaning { return true }
                return item.functionAfter?.takesList == true
            }), place > 0
        else { return }
        let before = items[..<place]
        if case .combination(let operation)? = items[place].meaning {
            items =
                before.map { $0.isAnd || $0.isComma ? $0.with(.binary(operation), operation.sign) : $0 }
                + items[(place + 1)...]
        } else if let function = items[place].functionAfter {
            items =
                [items[place].with(.function(function), function.name), items[place].with(.open, "(")]
                + Self.arguments(before) + [items[place].with(.close, ")")] + items[(place + 1)...]
        }
    }

    /// Commas and "and" become one comma each.
    static func arguments(_ items: ArraySlice<Item>) -> [Item] {
        var result: [Item] = []
        var depth = 0
        for item in items {
            if item.isOpen { depth += 1 }
            if item.isClose { depth -= 1 }
            guard depth == 0, item.isAnd || item.isComma else {
                result.append(item)
                continue
            }
            if result.last?.isComma != true { result.append(item.with(.comma, ",")) }
        }
        return result
    }
}
