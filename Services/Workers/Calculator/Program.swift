/// An expression in the order of its evaluation. Made and run with a stack of its own, so that any depth of parentheses
/// costs memory, never the thread's stack.
struct Program {
    enum Operation {
        case push(Rational)
        case constant(Constant)
        case variable
        case negate
        case binary(BinaryOperator)
        case postfix(PostfixOperator)
        case call(Function, Int)
    }

    struct Step {
        var operation: Operation
        var text: String
        var position: Int
    }

    private(set) var steps: [Step] = []

    private enum Waiting {
        case parenthesis(call: Function?, count: Int, Item)
        case prefix(Operation, Item)
        case binary(BinaryOperator, Item)

        /// How tight it binds, or nil for a parenthesis.
        var precedence: Int? {
            switch self {
            case .parenthesis: nil
            case .prefix: 3
            case .binary(let operation, _): operation.precedence
            }
        }
    }

    private var waiting: [Waiting] = []
    private var wantsOperand = true

    init(_ items: some Sequence<Item>) throws(ExpressionError) {
        let items = Array(items)
        guard !items.isEmpty else { throw ExpressionError(.noExpression) }
        var index = 0
        while index < items.count {
            let item = items[index]
            if let function = item.function, index + 1 < items.count, items[index + 1].isOpen {
                try operand(item)
                waiting.append(.parenthesis(call: function, count: 1, item))
                wantsOperand = true
                index += 2
                continue
            }
            try take(item)
            index += 1
        }
        if wantsOperand, let last = items.last {
            throw ExpressionError(.missingOperand(after: last.text), at: last.position)
        }
        while let top = waiting.popLast() {
            if case .parenthesis(_, _, let item) = top {
                throw ExpressionError(.unclosedParenthesis, at: item.position)
            }
            emit(top)
        }
    }

    private mutating func take(_ item: Item) throws(ExpressionError) {
        switch item.content {
        case .number(let value):
            try operand(item)
            add(.push(value), item)
        case .meaning(.constant(let constant)):
            try operand(item)
            add(.constant(constant), item)
        case .meaning(.variable):
            try operand(item)
            add(.variable, item)
        case .meaning(.open):
            try operand(item)
            wantsOperand = true
            waiting.append(.parenthesis(call: nil, count: 1, item))
        case .meaning(.negative):
            try operand(item)
            wantsOperand = true
            waiting.append(.prefix(.negate, item))
        case .meaning(.function(let function)):
            try operand(item)
            wantsOperand = true
            guard function.arity.contains(1) else { throw wrongCount(function, 1, item) }
            waiting.append(.prefix(.call(function, 1), item))
        case .meaning(.binary(let operation)): try binary(operation, item)
        case .meaning(.postfix(let operation)):
            try needsOperandBefore(item)
            add(.postfix(operation), item)
        case .meaning(.functionAfter(let function)):
            try needsOperandBefore(item)
            add(.call(function, 1), item)
        case .meaning(.comma): try comma(item)
        case .meaning(.close): try close(item)
        default: throw ExpressionError(.unexpected(item.text), at: item.position)
        }
    }

    private mutating func operand(_ item: Item) throws(ExpressionError) {
        guard wantsOperand else { throw ExpressionError(.missingOperator(before: item.text), at: item.position) }
        wantsOperand = false
    }

    private func needsOperandBefore(_ item: Item) throws(ExpressionError) {
        guard !wantsOperand else { throw ExpressionError(.unexpected(item.text), at: item.position) }
    }

    private mutating func add(_ operation: Operation, _ item: Item) {
        steps.append(Step(operation: operation, text: item.text, position: item.position))
    }

    private mutating func emit(_ entry: Waiting) {
        switch entry {
        case .parenthesis: break
        case .prefix(let operation, let item): add(operation, item)
        case .binary(let operation, let item): add(.binary(operation), item)
        }
    }

    private mutating func binary(_ operation: BinaryOperator, _ item: Item) throws(ExpressionError) {
        if wantsOperand {
            switch operation {
            case .subtract: waiting.append(.prefix(.negate, item))
            case .add: break
            default: throw ExpressionError(.unexpected(item.text), at: item.position)
            }
            return
        }
        while let top = waiting.last, let precedence = top.precedence {
            guard
                precedence > operation.precedence
                    || (precedence == operation.precedence && !operation.isRightAssociative)
            else { break }
            emit(top)
            waiting.removeLast()
        }
        waiting.append(.binary(operation, item))
        wantsOperand = true
    }

    private mutating func comma(_ item: Item) throws(ExpressionError) {
        guard !wantsOperand else { throw ExpressionError(.unexpected(item.text), at: item.position) }
        unwind()
        guard case .parenthesis(let function?, let count, let opening)? = waiting.last else {
            throw ExpressionError(.unexpected(item.text), at: item.position)
        }
        waiting[waiting.count - 1] = .parenthesis(call: function, count: count + 1, opening)
        wantsOperand = true
    }

    private mutating func close(_ item: Item) throws(ExpressionError) {
        guard !waiting.isEmpty else { throw ExpressionError(.unopenedParenthesis, at: item.position) }
        guard !wantsOperand else { throw ExpressionError(.unexpected(item.text), at: item.position) }
        unwind()
        guard case .parenthesis(let function, let count, let opening)? = waiting.popLast() else {
            throw ExpressionError(.unopenedParenthesis, at: item.position)
        }
        guard let function else { return }
        guard function.arity.contains(count) else { throw wrongCount(function, count, opening) }
        add(.call(function, count), opening)
    }

    /// Emits everything back to the nearest parenthesis.
    private mutating func unwind() {
        while let top = waiting.last, top.precedence != nil {
            emit(top)
            waiting.removeLast()
        }
    }

    private func wrongCount(_ function: Function, _ found: Int, _ item: Item) -> ExpressionError {
        let arity = function.arity
        let expected = arity.count == 1 ? "\(arity.lowerBound)" : "\(arity.lowerBound)-\(arity.upperBound)"
        return ExpressionError(
            .wrongCount(function: function.name, expected: expected, found: found),
            at: item.position
        )
    }
}

extension Program {
    /// The items as a person would write them.
    static func spelled(_ items: [Item]) -> String {
        var text = ""
        var wantsOperand = true
        for (index, item) in items.enumerated() {
            switch item.content {
            case .number(let value):
                let plain = value.plain
                text += plain.contains("/") && items.count > 1 ? "(\(plain))" : plain
                wantsOperand = false
            case .meaning(.binary(let operation)):
                if wantsOperand {
                    text += operation == .subtract ? "−" : ""
                } else if operation == .power {
                    text += "^"
                    wantsOperand = true
                } else {
                    text += " \(operation.sign) "
                    wantsOperand = true
                }
            case .meaning(.negative): text += "−"
            case .meaning(.function(let function)):
                let isCall = index + 1 < items.count && items[index + 1].isOpen
                text += function == .sqrt ? "√" : function.name + (isCall ? "" : " ")
                wantsOperand = true
            case .meaning(.functionAfter(let function)): text += " → \(function.name)"
            case .meaning(.postfix(let operation)):
                text += operation.rawValue
                wantsOperand = false
            case .meaning(.constant(let constant)):
                text += constant == .pi ? "π" : constant.rawValue
                wantsOperand = false
            case .meaning(.variable):
                text += "x"
                wantsOperand = false
            case .meaning(.comma):
                text += ", "
                wantsOperand = true
            case .meaning(.open):
                text += "("
                wantsOperand = true
            case .meaning(.close):
                text += ")"
                wantsOperand = false
            case .meaning(.equals):
                text += " = "
                wantsOperand = true
            default: text += " \(item.text) "
            }
            if text.utf8.count > 4096 { return text }
        }
        return text
    }
}
