internal import CGMP

/// A number on the way to the answer.
enum Number {
    case exact(Rational)
    case real(Real)

    var sign: Int {
        switch self {
        case .exact(let value): value.sign
        case .real(let value): value.sign
        }
    }

    func real(bits: Int) -> Real {
        switch self {
        case .exact(let value): Real(value, bits: bits)
        case .real(let value): value
        }
    }

    var exact: Rational? { if case .exact(let value) = self { value } else { nil } }
    var bits: Int {
        switch self {
        case .exact(let value): value.bits
        case .real(let value): value.bits
        }
    }
}

/// What is worth telling about how an expression was understood.
enum Note: Hashable {
    case percentOfLeft
    case flooredModulo
    case radians
    case decimalLogarithm
    case percentAsRemainder
}

/// Runs a program once, with so many bits for what is not exact.
struct Evaluation {
    let bits: Int
    let end: ContinuousClock.Instant
    let variable: Rational?
    private(set) var notes: Set<Note> = []
    private var stack: [(value: Number, isPercent: Bool)] = []
    private var live = 0

    static func run(
        _ program: Program,
        bits: Int,
        until end: ContinuousClock.Instant,
        variable: Rational? = nil
    ) throws(ExpressionError) -> (Number, Set<Note>) {
        var evaluation = Evaluation(bits: bits, end: end, variable: variable)
        for step in program.steps { try evaluation.take(step) }
        guard let result = evaluation.stack.last, evaluation.stack.count == 1 else {
            throw ExpressionError(.noExpression)
        }
        return (result.value, evaluation.notes)
    }

    private init(bits: Int, end: ContinuousClock.Instant, variable: Rational?) {
        self.bits = bits
        self.end = end
        self.variable = variable
    }

    private mutating func push(_ value: Number, isPercent: Bool = false) {
        live += value.bits
        stack.append((value, isPercent))
    }

    private mutating func pop() throws(ExpressionError) -> (value: Number, isPercent: Bool) {
        guard let top = stack.popLast() else { throw ExpressionError(.noExpression) }
        live -= top.value.bits
        return top
    }

    private mutating func take(_ step: Program.Step) throws(ExpressionError) {
        guard ContinuousClock.now < end else { throw ExpressionError(.tooSlow) }
        guard live <= Bounds.liveBits else { throw ExpressionError(.tooLarge(Bounds.shown), at: step.position) }
        let arithmetic = Arithmetic(bits: bits, position: step.position, name: step.text)
        switch step.operation {
        case .push(let value): push(.exact(value))
        case .variable:
            guard let variable else { throw ExpressionError(.unknownWord("x"), at: step.position) }
            push(.exact(variable))
        case .constant(let constant): push(.real(arithmetic.constant(constant)))
        case .negate:
            let top = try pop()
            push(try arithmetic.negated(top.value), isPercent: top.isPercent)
        case .postfix(let operation):
            let top = try pop()
            if operation == .percent {
                push(try arithmetic.divide(top.value, .exact(Rational(100))), isPercent: true)
            } else {
                push(try arithmetic.postfix(operation, top.value))
            }
        case .binary(let operation):
            let right = try pop()
            let left = try pop()
            if right.isPercent, !left.isPercent, operation == .add || operation == .subtract {
                notes.insert(.percentOfLeft)
                let part = try arithmetic.multiply(left.value, right.value)
                push(try arithmetic.binary(operation, left.value, part))
            } else {
                if operation == .modulo {
                    if left.value.sign < 0 || right.value.sign < 0 { notes.insert(.flooredModulo) }
                    if step.text == "%" || step.text == "％" { notes.insert(.percentAsRemainder) }
                }
                push(
                    try arithmetic.binary(operation, left.value, right.value),
                    isPercent: left.isPercent && right.isPercent && (operation == .add || operation == .subtract)
                )
            }
        case .call(let function, let count):
            guard stack.count >= count else { throw ExpressionError(.noExpression) }
            var arguments: [Number] = []
            for _ in 0..<count { arguments.append(try pop().value) }
            arguments.reverse()
            if [.sin, .cos, .tan].contains(function), let angle = arguments.first?.exact, !angle.isZero {
                notes.insert(.radians)
            }
            if function == .log, count == 1 { notes.insert(.decimalLogarithm) }
            push(try arithmetic.call(function, arguments))
        }
    }
}
