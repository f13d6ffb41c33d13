/// Signs that mean different things in different places, and those that are left out.
extension ItemReader {
    /// `3 x 4` is a product, unless there is an equation.
    mutating func resolveMultiplicationSign() {
        let isEquation = items.contains { $0.isEquals }
        for index in items.indices where items[index].isVariable && !isEquation {
            guard index > 0, index + 1 < items.count else { continue }
            if items[index - 1].endsOperand, items[index + 1].startsOperand || items[index + 1].binary == .subtract {
                items[index] = items[index].with(.binary(.multiply), "×")
            }
        }
    }

    /// `mod(17, 5)`
    mutating func resolveModuloCall() {
        for index in items.indices where items[index].binary == .modulo && !items[index].isSign {
            let isCall =
                index + 1 < items.count && items[index + 1].isOpen && (index == 0 || !items[index - 1].endsOperand)
            if isCall { items[index] = items[index].with(.function(.modulo)) }
        }
    }

    /// `17 % 5` is a remainder, `15% of` a percentage; two exclamation marks are a double factorial.
    mutating func resolvePercentAndFactorial() {
        var result: [Item] = []
        var skipsNext = false
        for (item, next) in zip(items, items.dropFirst().map(Optional.some) + [nil]) {
            if skipsNext {
                skipsNext = false
                continue
            }
            if item.postfix == .percent, item.isSign, let next, next.startsOperand, !next.isNegative {
                result.append(item.with(.binary(.modulo)))
            } else if item.postfix == .factorial, let next, next.postfix == .factorial,
                next.position == item.position + 1
            {
                result.append(item.with(.postfix(.doubleFactorial), "!!"))
                skipsNext = true
            } else {
                result.append(item)
            }
        }
        items = result
    }

    /// "of" and 的 between two operands multiply; elsewhere they, and words like them, only join.
    mutating func resolveSmallWords() {
        var result: [Item] = []
        var depth = 0
        for (index, item) in items.enumerated() {
            if item.isOpen { depth += 1 }
            if item.isClose { depth -= 1 }
            let next = index + 1 < items.count ? items[index + 1] : nil
            let joins = result.last?.endsOperand == true && next?.startsOperand == true
            switch item.meaning {
            case .of, .possessive:
                if joins { result.append(item.with(.binary(.multiply), "×")) }
            case .by, .from:
                if joins { result.append(item) }
            case .and:
                if depth > 0, joins { result.append(item.with(.comma, ",")) } else if joins { result.append(item) }
            case .function(.factorial):
                if result.last?.endsOperand == true, next?.startsOperand != true {
                    result.append(item.with(.postfix(.factorial), "!"))
                } else {
                    result.append(item)
                }
            case .discount:
                // 399打八五折: the price times 0.85.
                guard let last = result.popLast(), let tenths = last.number else { break }
                if result.last?.endsOperand == true { result.append(item.with(.binary(.multiply), "×")) }
                let share = tenths / Rational(tenths.isLess(than: Rational(10)) ? 10 : 100)
                result.append(Item(.number(share), last.text, at: last.position))
            default: result.append(item)
            }
        }
        items = result
        trim()
    }

    /// `2(3+4)`, `2pi`, `(1+2)(3+4)`.
    mutating func insertMultiplications() {
        var result: [Item] = []
        for item in items {
            if let last = result.last, last.endsOperand, item.startsOperand, item.number == nil {
                result.append(item.with(.binary(.multiply), "×"))
            }
            result.append(item)
        }
        items = result
    }
}
