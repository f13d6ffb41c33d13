internal import CGMP

/// One operation. Exact where the operands and the result can be, else to so many bits; the size of every exact result
/// is estimated before it is computed.
struct Arithmetic {
    let bits: Int
    let position: Int
    let name: String

    /// Bits of a fraction above which it is worked with as a rounded number: nobody reads such fractions.
    private static let fractionBits = 200_000

    func failure(_ reason: ExpressionError.Reason) -> ExpressionError { ExpressionError(reason, at: position) }
    func tooLarge() -> ExpressionError { failure(.tooLarge(Bounds.shown)) }
    func undefined(_ domain: ExpressionError.Domain) -> ExpressionError {
        failure(.undefined(operation: name, domain))
    }

    func constant(_ constant: Constant) -> Real {
        Real.make(bits: bits) { result in
            switch constant {
            case .pi: mpfr_const_pi(result, MPFR_RNDN)
            case .tau:
                mpfr_const_pi(result, MPFR_RNDN)
                mpfr_mul_ui(result, result, 2, MPFR_RNDN)
            case .e:
                cgmp_mpfr_set_ui(result, 1)
                mpfr_exp(result, result, MPFR_RNDN)
            case .goldenRatio:
                mpfr_sqrt_ui(result, 5, MPFR_RNDN)
                mpfr_add_ui(result, result, 1, MPFR_RNDN)
                mpfr_div_ui(result, result, 2, MPFR_RNDN)
            }
        }
    }

    /// A rounded result, if it is a number of a sensible size.
    func checked(_ value: Real) throws(ExpressionError) -> Number {
        if value.isInfinite { throw tooLarge() }
        guard value.isFinite else { throw undefined(.noAnswer) }
        if !value.isZero, value.exponent.magnitude > 1 << 32 { throw tooLarge() }
        return .real(value)
    }

    func real(_ function: Real.Unary, _ value: Number) throws(ExpressionError) -> Number {
        try checked(value.real(bits: bits).applying(function))
    }

    func real(_ function: Real.Binary, _ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        try checked(a.real(bits: bits).applying(function, b.real(bits: bits)))
    }

    func negated(_ value: Number) throws(ExpressionError) -> Number {
        if let exact = value.exact { return .exact(-exact) }
        return try real(mpfr_neg, value)
    }

    /// Both exact, and the result within bounds? Nil says to work with rounded numbers.
    private func exactPair(
        _ a: Number,
        _ b: Number,
        _ size: (Rational, Rational) -> (top: Int, bottom: Int)
    ) throws(ExpressionError) -> (Rational, Rational)? {
        guard let a = a.exact, let b = b.exact else { return nil }
        let (top, bottom) = size(a, b)
        if a.isWhole && b.isWhole && bottom <= 2 {
            guard top <= Bounds.bits else { throw tooLarge() }
            return (a, b)
        }
        if bottom > Self.fractionBits, top + bottom > 2 * Self.fractionBits { return nil }
        guard top <= Bounds.bits else { throw tooLarge() }
        return (a, b)
    }

    private static func sumSize(_ a: Rational, _ b: Rational) -> (Int, Int) {
        let top = max(a.numeratorBits + b.denominatorBits, b.numeratorBits + a.denominatorBits) + 1
        return (top, a.denominatorBits + b.denominatorBits)
    }

    func add(_ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        if let (a, b) = try exactPair(a, b, Self.sumSize) { return .exact(a + b) }
        return try real(mpfr_add, a, b)
    }

    func subtract(_ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        if let (a, b) = try exactPair(a, b, Self.sumSize) { return .exact(a - b) }
        return try real(mpfr_sub, a, b)
    }

    func multiply(_ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        if let (a, b) = try exactPair(
            a,
            b,
            { ($0.numeratorBits + $1.numeratorBits, $0.denominatorBits + $1.denominatorBits) }
        ) {
            return .exact(a * b)
        }
        return try real(mpfr_mul, a, b)
    }

    func divide(_ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        guard b.sign != 0 else { throw failure(.divisionByZero) }
        if let (a, b) = try exactPair(
            a,
            b,
            { ($0.numeratorBits + $1.denominatorBits, $0.denominatorBits + $1.numeratorBits) }
        ) {
            return .exact(a / b)
        }
        return try real(mpfr_div, a, b)
    }

    /// The remainder with the sign of the divisor: a - b * floor(a / b).
    func modulo(_ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        let quotient = try floor(try divide(a, b))
        return try subtract(a, try multiply(b, quotient))
    }

    func floor(_ value: Number) throws(ExpressionError) -> Number { try whole(value) { $0.floor } }

    /// A whole number made from any; numbers that are rounded must be small enough to have their last digit.
    func whole(_ value: Number, _ body: (Rational) -> Integer) throws(ExpressionError) -> Number {
        if let exact = value.exact { return .exact(Rational(body(exact))) }
        let real = value.real(bits: bits)
        guard real.exponent < bits else { throw tooLarge() }
        guard real.exponent > -Bounds.bits else { return .exact(Rational(body(Rational(real.sign, 1_000_000)))) }
        return .exact(Rational(body(real.rational)))
    }

    func binary(_ operation: BinaryOperator, _ a: Number, _ b: Number) throws(ExpressionError) -> Number {
        switch operation {
        case .add: return try add(a, b)
        case .subtract: return try subtract(a, b)
        case .multiply: return try multiply(a, b)
        case .divide: return try divide(a, b)
        case .modulo: return try modulo(a, b)
        case .power: return try power(a, b)
        case .choose: return try binomial(a, b)
        case .off: return try multiply(b, try subtract(.exact(Rational(1)), a))
        case .sumTo:
            guard let first = a.exact, let last = b.exact, first.isWhole, last.isWhole else { throw undefined(.whole) }
            guard !last.isLess(than: first) else { return .exact(Rational(0)) }
            let count = last - first + Rational(1)
            return try divide(try multiply(.exact(first + last), .exact(count)), .exact(Rational(2)))
        }
    }

    func postfix(_ operation: PostfixOperator, _ value: Number) throws(ExpressionError) -> Number {
        switch operation {
        case .percent: return try divide(value, .exact(Rational(100)))
        case .permille: return try divide(value, .exact(Rational(1000)))
        case .squared: return try multiply(value, value)
        case .cubed: return try multiply(try multiply(value, value), value)
        case .degrees: return try divide(try multiply(value, .real(constant(.pi))), .exact(Rational(180)))
        case .factorial: return try factorial(value, double: false)
        case .doubleFactorial: return try factorial(value, double: true)
        }
    }

    // MARK: Powers

    func power(_ base: Number, _ exponent: Number) throws(ExpressionError) -> Number {
        if let power = exponent.exact {
            if power.isZero { return .exact(Rational(1)) }
            if let base = base.exact { return try exactPower(base, power) }
            if let whole = power.int {
                return try checked(raise(base.real(bits: bits), to: whole))
            }
        }
        if base.sign == 0 {
            guard exponent.sign > 0 else { throw failure(.divisionByZero) }
            return .exact(Rational(0))
        }
        guard base.sign > 0 else { throw undefined(.evenRootOfNegative) }
        return try real(mpfr_pow, base, exponent)
    }

    private func raise(_ base: Real, to power: Int) -> Real {
        Real.make(bits: bits) { result in base.read { _ = mpfr_pow_si(result, $0, power, MPFR_RNDN) } }
    }

    private func exactPower(_ base: Rational, _ exponent: Rational) throws(ExpressionError) -> Number {
        if base.isZero {
            guard exponent.sign > 0 else { throw failure(.divisionByZero) }
            return .exact(base)
        }
        if base.isWhole, base.numeratorBits == 1 {
            guard exponent.isWhole else {
                return base.sign > 0 ? .exact(base) : try rootPower(base, exponent)
            }
            let isOdd = (exponent.integer?.removing(2).count ?? 0) == 0
            return .exact(isOdd ? base : base.magnitude)
        }
        guard exponent.isWhole else { return try rootPower(base, exponent) }
        // Size before work: digits of the power of each part.
        let top = Rational(base.top).log2
        let bottom = Rational(base.bottom).log2
        let times = exponent.magnitude.log2
        let isWholeResult = base.isWhole && exponent.sign > 0
        let limit = Double(isWholeResult ? Bounds.bits : Self.fractionBits)
        if times < 40, let power = exponent.int, max(top, bottom) * Double(power.magnitude) <= limit {
            return .exact(base.power(power))
        }
        guard !isWholeResult else { throw tooLarge() }
        guard times < 60, let power = exponent.int else { throw tooLarge() }
        return try checked(raise(Real(base, bits: bits + 64), to: power))
    }

    /// A power with a fraction as exponent: a root. Odd roots of negative numbers are real.
    private func rootPower(_ base: Rational, _ exponent: Rational) throws(ExpressionError) -> Number {
        let degree = Rational(exponent.bottom).int ?? 0
        let isOdd = degree % 2 == 1
        if base.sign < 0 && !isOdd { throw undefined(.evenRootOfNegative) }
        if 1...1000 ~= degree, base.bits < Self.fractionBits, let root = base.root(degree) {
            return try exactPower(root, exponent * Rational(degree))
        }
        let result = try real(mpfr_pow, .exact(base.magnitude), .exact(exponent))
        guard base.sign < 0, let top = (exponent * Rational(degree)).integer, top.removing(2).count == 0 else {
            return result
        }
        return try negated(result)
    }

    func root(_ degree: Number, _ value: Number) throws(ExpressionError) -> Number {
        try power(value, try divide(.exact(Rational(1)), degree))
    }

    // MARK: Counting

    func factorial(_ value: Number, double: Bool) throws(ExpressionError) -> Number {
        guard let exact = value.exact, exact.sign >= 0, exact.isWhole else { throw undefined(.wholeNotNegative) }
        guard let n = exact.int, n < 1 << 40 else { throw tooLarge() }
        let digits = factorialDigits(Double(n)) / (double ? 2 : 1)
        guard digits <= Double(Bounds.digits) else { throw tooLarge() }
        return .exact(Rational(double ? Integer.doubleFactorial(n) : Integer.factorial(n)))
    }

    private func pair(_ n: Number, _ k: Number) throws(ExpressionError) -> (Int, Int) {
        guard let n = n.exact, let k = k.exact, n.isWhole, k.isWhole, n.sign >= 0, k.sign >= 0 else {
            throw undefined(.wholeNotNegative)
        }
        guard let n = n.int, let k = k.int, n < 1 << 40 else { throw tooLarge() }
        return (n, k)
    }

    func binomial(_ n: Number, _ k: Number) throws(ExpressionError) -> Number {
        let (n, k) = try pair(n, k)
        guard k <= n else { return .exact(Rational(0)) }
        let least = min(k, n - k)
        let digits = factorialDigits(Double(n)) - factorialDigits(Double(least)) - factorialDigits(Double(n - least))
        guard digits <= Double(Bounds.digits), least <= 4_000_000 else { throw tooLarge() }
        return .exact(Rational(Integer.binomial(n, least)))
    }

    func permutations(_ n: Number, _ k: Number) throws(ExpressionError) -> Number {
        let (whole, part) = try pair(n, k)
        guard part <= whole else { return .exact(Rational(0)) }
        guard factorialDigits(Double(whole)) - factorialDigits(Double(whole - part)) <= Double(Bounds.digits) else {
            throw tooLarge()
        }
        guard part <= 300_000 else { throw tooLarge() }
        return try multiply(try binomial(n, k), try factorial(k, double: false))
    }
}
