/// What stands between two numbers.
enum BinaryOperator: String {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case modulo = "mod"
    case power = "^"
    /// `20% off 80`
    case off
    /// 从1加到100
    case sumTo
    /// `10 choose 3`
    case choose

    /// Higher binds tighter. Unary minus lies between multiplication and power: -2^2 is -4, -7 mod 3 is 2.
    var precedence: Int {
        switch self {
        case .sumTo: 0
        case .add, .subtract: 1
        case .multiply, .divide, .modulo, .off: 2
        case .power: 4
        case .choose: 5
        }
    }

    var isRightAssociative: Bool { self == .power }

    /// As shown to people.
    var sign: String {
        switch self {
        case .multiply: "×"
        case .divide: "÷"
        case .subtract: "−"
        case .sumTo: "+ … +"
        default: rawValue
        }
    }
}

/// What stands after a number.
enum PostfixOperator: String {
    case factorial = "!"
    case doubleFactorial = "!!"
    case percent = "%"
    case permille = "‰"
    case degrees = "°"
    case squared = "^2"
    case cubed = "^3"
}

/// A function of one or more numbers.
enum Function: Hashable {
    case sqrt, cbrt, exp, ln, log10, log2, log
    case sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, asinh, acosh, atanh
    case abs, floor, ceil, round, truncate, sign
    case min, max, sum, product, average, median, gcd, lcm
    case factorial, gamma, binomial, permutations, root, power, modulo, difference, quotient
    case double, triple, reciprocal, square, cube, half

    /// How many numbers it takes.
    var arity: ClosedRange<Int> {
        switch self {
        case .min, .max, .sum, .product, .average, .median, .gcd, .lcm: 1...Int.max
        case .log, .round: 1...2
        case .atan2, .binomial, .permutations, .root, .power, .modulo, .difference, .quotient: 2...2
        default: 1...1
        }
    }

    /// Whether a list in words is its argument: "average of 4, 8 and 15".
    var takesList: Bool { arity.upperBound == .max }

    /// As shown to people.
    var name: String {
        switch self {
        case .log10: "log10"
        case .average: "average"
        case .truncate: "trunc"
        default: "\(self)"
        }
    }
}

/// Numbers that have names.
enum Constant: String {
    case pi
    case e
    case tau
    case goldenRatio = "phi"
}
