/// A number or a meaning, with the place that it came from: what an expression is made of before it is ordered.
struct Item {
    enum Content {
        case number(Rational)
        case meaning(Meaning)
    }

    var content: Content
    var text: String
    var position: Int
    /// Whether it was written as a sign, not as a word: `-` before a number is a sign of that number, "minus" at the
    /// start goes on from the answer before.
    var isSign = false

    init(_ content: Content, _ text: String, at position: Int, isSign: Bool = false) {
        self.content = content
        self.text = text
        self.position = position
        self.isSign = isSign
    }

    /// Another meaning in the same place.
    func with(_ meaning: Meaning, _ text: String? = nil) -> Item {
        Item(.meaning(meaning), text ?? self.text, at: position)
    }

    var meaning: Meaning? { if case .meaning(let meaning) = content { meaning } else { nil } }
    var number: Rational? { if case .number(let value) = content { value } else { nil } }
    var binary: BinaryOperator? { if case .binary(let operation)? = meaning { operation } else { nil } }
    var postfix: PostfixOperator? { if case .postfix(let operation)? = meaning { operation } else { nil } }
    var function: Function? { if case .function(let function)? = meaning { function } else { nil } }
    var functionAfter: Function? { if case .functionAfter(let function)? = meaning { function } else { nil } }
    var isOpen: Bool { if case .open? = meaning { true } else { false } }
    var isClose: Bool { if case .close? = meaning { true } else { false } }
    var isComma: Bool { if case .comma? = meaning { true } else { false } }
    var isAnd: Bool { if case .and? = meaning { true } else { false } }
    var isEquals: Bool { if case .equals? = meaning { true } else { false } }
    var isVariable: Bool { if case .variable? = meaning { true } else { false } }
    var isPowerEnd: Bool { if case .powerEnd? = meaning { true } else { false } }
    var isNegative: Bool { if case .negative? = meaning { true } else { false } }
    var isOf: Bool { if case .of? = meaning { true } else { false } }

    /// Whether an operand can begin here.
    var startsOperand: Bool {
        switch content {
        case .number: true
        case .meaning(.constant), .meaning(.open), .meaning(.function), .meaning(.variable), .meaning(.negative): true
        default: false
        }
    }

    /// Whether an operand can end here.
    var endsOperand: Bool {
        switch content {
        case .number: true
        case .meaning(.constant), .meaning(.close), .meaning(.variable), .meaning(.postfix), .meaning(.functionAfter):
            true
        default: false
        }
    }
}

/// Turns tokens into items. Words that mean nothing for the calculation are left out; words that are not known are an
/// error, never a guess.
struct ItemReader {
    private(set) var items: [Item] = []

    init(_ tokens: [Token], previous: Rational?) throws(ExpressionError) {
        var tokens = tokens
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            if let value = token.number {
                items.append(Item(.number(value), token.original, at: token.position))
                index += 1
            } else if let (meaning, length) = Vocabulary.meaning(tokens, at: index) {
                let isSign = !token.isWord
                if case .filler = meaning {
                } else {
                    let text = tokens[index..<(index + length)].map(\.original).joined(
                        separator: token.isHan ? "" : " "
                    )
                    items.append(Item(.meaning(meaning), text, at: token.position, isSign: isSign))
                }
                index += length
            } else if token.isWord, !token.isHan, let corrected = Vocabulary.corrected(token.text) {
                tokens[index].text = corrected
            } else if token.isWord {
                var word = token.original
                while token.isHan, index + 1 < tokens.count, tokens[index + 1].isHan,
                    Vocabulary.meaning(tokens, at: index + 1) == nil
                {
                    index += 1
                    word += tokens[index].original
                }
                throw ExpressionError(.unknownWord(word), at: token.position)
            } else {
                throw ExpressionError(.unexpected(token.original), at: token.position)
            }
        }
        trim()
        if let previous, let first = items.first, continues(first) {
            items.insert(Item(.number(previous), previous.plain, at: first.position), at: 0)
        }
        try rewrite()
    }

    private func continues(_ item: Item) -> Bool {
        guard item.binary != nil || item.functionAfter != nil || item.postfix != nil else { return false }
        return !item.isSign || item.binary == .multiply || item.binary == .divide || item.binary == .power
    }

    /// Takes away what only separates, at both ends.
    private mutating func trim() {
        func separates(_ item: Item) -> Bool {
            switch item.meaning {
            case .comma, .clause, .and, .equals, .of, .possessive, .by: true
            default: false
            }
        }
        while let first = items.first {
            // 求 x：…
            let names = first.isVariable && items.count > 2 && separates(items[1]) && !items[1].isEquals
            guard separates(first) || names else { break }
            items.removeFirst()
        }
        while let last = items.last, separates(last) { items.removeLast() }
    }

    private mutating func rewrite() throws(ExpressionError) {
        resolveMultiplicationSign()
        resolveModuloCall()
        resolvePercentAndFactorial()
        resolveVerbs()
        resolveListsBefore()
        resolveListsAfter()
        resolveLogarithms()
        resolvePowers()
        resolveRemainder()
        resolveSmallWords()
        resolveFunctionsAfter()
        insertMultiplications()
    }

    // MARK: Rewriting, one kind of wording at a time

    /// `3 x 4` is a product, unless there is an equation.
    private mutating func resolveMultiplicationSign() {
        let isEquation = items.contains { $0.isEquals }
        for index in items.indices where items[index].isVariable && !isEquation {
            guard index > 0, index + 1 < items.count else { continue }
            if items[index - 1].endsOperand, items[index + 1].startsOperand || items[index + 1].binary == .subtract {
                items[index] = items[index].with(.binary(.multiply), "×")
            }
        }
    }

    /// `mod(17, 5)`
    private mutating func resolveModuloCall() {
        for index in items.indices where items[index].binary == .modulo && !items[index].isSign {
            let isCall =
                index + 1 < items.count && items[index + 1].isOpen && (index == 0 || !items[index - 1].endsOperand)
            if isCall { items[index] = items[index].with(.function(.modulo)) }
        }
    }

    /// `17 % 5` is a remainder, `15% of` a percentage; two exclamation marks are a double factorial.
    private mutating func resolvePercentAndFactorial() {
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

    /// "divide 10 by 2", "subtract 3 from 10".
    private mutating func resolveVerbs() {
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
    private mutating func resolveListsBefore() {
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
    private mutating func resolveListsAfter() {
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
    private static func arguments(_ items: ArraySlice<Item>) -> [Item] {
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

    /// "log base 2 of 8", 以2为底8的对数.
    private mutating func resolveLogarithms() {
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
    private func operandEnd(_ start: Int) -> Int {
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
    private mutating func resolvePowers() {
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
    private mutating func resolveRemainder() {
        let count = items.count
        items.removeAll { if case .remainder = $0.meaning { true } else { false } }
        guard items.count < count, let division = items.lastIndex(where: { $0.binary == .divide }) else { return }
        items[division] = items[division].with(.binary(.modulo), "mod")
    }

    /// "of" and 的 between two operands multiply; elsewhere they, and words like them, only join.
    private mutating func resolveSmallWords() {
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

    /// 256开平方 becomes √256.
    private mutating func resolveFunctionsAfter() {
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

    /// `2(3+4)`, `2pi`, `(1+2)(3+4)`.
    private mutating func insertMultiplications() {
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
