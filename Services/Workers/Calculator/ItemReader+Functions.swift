/// Logarithms, powers, remainders and functions that are named in words around their operands.
extension ItemReader {
    /// "log base 2 of 8", 以2为底8的对数.
    mutating func resolveLogarithms() {
        while let place = items.firstIndex(where: { item in
            switch item.meaning {
            case .logBase, .baseStart: true
            default: false
            }
        }) {
            let base = place + 1
            guard base < items.count, items[base].number != nil || items[base].endsOperand else { return }
            var start = base + 1
            if start < items.count {
                switch items[start].meaning {
                case .of, .baseEnd: start += 1
                default: break
                }
            }
            let end = operandEnd(start)
            guard end > start else { return }
            var rest = Array(items[end...])
            if rest.first?.functionAfter == .log10 { rest.removeFirst() }
            items =
                Array(items[..<place])
                + [items[place].with(.function(.log), "log"), items[place].with(.open, "(")] + items[start..<end]
                + [items[base].with(.comma, ","), items[base], items[end - 1].with(.close, ")")] + rest
        }
    }

    /// The end of the operand that begins at the index.
    func operandEnd(_ start: Int) -> Int {
        var index = start
        while index < items.count, items[index].function != nil || items[index].binary == .subtract { index += 1 }
        guard index < items.count, items[index].startsOperand else { return start }
        if items[index].isOpen {
            var depth = 0
            while index < items.count {
                if items[index].isOpen { depth += 1 }
                if items[index].isClose { depth -= 1 }
                index += 1
                if depth == 0 { break }
            }
        } else {
            index += 1
        }
        while index < items.count, items[index].postfix != nil { index += 1 }
        return index
    }

    /// 2的10次方, "2 to the 10th power".
    mutating func resolvePowers() {
        for index in items.indices {
            guard case .possessive? = items[index].meaning else { continue }
            var end = index + 1
            while end < items.count, !items[end].isPowerEnd, end - index <= 3 { end += 1 }
            if end < items.count, items[end].isPowerEnd, items[(index + 1)..<end].contains(where: { $0.number != nil })
            {
                items[index] = items[index].with(.binary(.power), "^")
            }
        }
        var index = 0
        while index < items.count {
            if items[index].isPowerEnd {
                guard index + 1 < items.count, items[index + 1].isOpen, index == 0 || !items[index - 1].endsOperand
                else {
                    // 2三次方: a power with no sign between base and exponent.
                    if index >= 2, items[index - 1].number != nil, items[index - 2].endsOperand {
                        items.insert(items[index - 1].with(.binary(.power), "^"), at: index - 1)
                        index += 1
                    }
                    items.remove(at: index)
                    continue
                }
                items[index] = items[index].with(.function(.power))
            }
            index += 1
        }
    }

    /// 17除以5的余数, "remainder of 17 divided by 5".
    mutating func resolveRemainder() {
        let count = items.count
        items.removeAll { if case .remainder = $0.meaning { true } else { false } }
        guard items.count < count, let division = items.lastIndex(where: { $0.binary == .divide }) else { return }
        items[division] = items[division].with(.binary(.modulo), "mod")
    }

    /// 256开平方 becomes √256.
    mutating func resolveFunctionsAfter() {
        while let place = items.firstIndex(where: { $0.functionAfter != nil }),
            let function = items[place].functionAfter
        {
            var start = place
            while start > 0, items[start - 1].postfix != nil { start -= 1 }
            guard start > 0, items[start - 1].endsOperand else { return }
            start -= 1
            if items[start].isClose {
                var depth = 0
                while true {
                    if items[start].isClose { depth += 1 }
                    if items[start].isOpen { depth -= 1 }
                    if depth == 0 || start == 0 { break }
                    start -= 1
                }
                if start > 0, items[start - 1].function != nil { start -= 1 }
            }
            let operand = items[start..<place]
            let isGroup = operand.first?.isOpen == true && operand.last?.isClose == true
            let name = items[place].with(.function(function), function.name)
            let open = isGroup ? [] : [items[place].with(.open, "(")]
            let close = isGroup ? [] : [items[place].with(.close, ")")]
            items.replaceSubrange(start...place, with: [name] + open + operand + close)
        }
    }
}
