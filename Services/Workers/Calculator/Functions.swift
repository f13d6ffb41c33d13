internal import CGMP

extension Arithmetic {
    /// Arguments of sine and its kin: beyond, the reduction by pi would need more digits of pi than the answer is worth.
    private static let angleBits = 100_000

    func call(_ function: Function, _ arguments: [Number]) throws(ExpressionError) -> Number {
        guard let first = arguments.first else { throw failure(.noExpression) }
        let second = arguments.count > 1 ? arguments[1] : first
        switch function {
        case .sqrt:
            guard first.sign >= 0 else { throw undefined(.evenRootOfNegative) }
            return try power(first, .exact(Rational(1, 2)))
        case .cbrt:
            if let exact = first.exact { return try power(.exact(exact), .exact(Rational(1, 3))) }
            return try real(mpfr_cbrt, first)
        case .root: return try root(first, second)
        case .power: return try power(first, second)
        case .modulo: return try modulo(first, second)
        case .difference: return try subtract(first, second)
        case .quotient: return try divide(first, second)
        case .double: return try multiply(first, .exact(Rational(2)))
        case .triple: return try multiply(first, .exact(Rational(3)))
        case .half: return try divide(first, .exact(Rational(2)))
        case .reciprocal: return try divide(.exact(Rational(1)), first)
        case .square: return try multiply(first, first)
        case .cube: return try multiply(try multiply(first, first), first)
        case .factorial: return try factorial(first, double: false)
        case .binomial: return try binomial(first, second)
        case .permutations: return try permutations(first, second)
        case .exp: return first.exact?.isZero == true ? .exact(Rational(1)) : try real(mpfr_exp, first)
        case .ln, .log10, .log2, .log: return try logarithm(function, arguments)
        case .sin, .cos, .tan, .asin, .acos, .atan, .atan2, .sinh, .cosh, .tanh, .asinh, .acosh, .atanh:
            return try trigonometric(function, first, second)
        case .gamma:
            guard first.real(bits: bits).exponent <= 13 else { throw tooLarge() }
            if let exact = first.exact, exact.isWhole, exact.sign <= 0 { throw undefined(.noAnswer) }
            return try real(mpfr_gamma, first)
        case .abs: return first.sign < 0 ? try negated(first) : first
        case .sign: return .exact(Rational(first.sign))
        case .floor: return try floor(first)
        case .ceil: return try whole(first) { $0.ceiling }
        case .truncate: return try whole(first) { $0.sign < 0 ? $0.ceiling : $0.floor }
        case .round: return try round(first, places: arguments.count > 1 ? second : .exact(Rational(0)))
        case .min, .max, .sum, .product, .average, .median, .gcd, .lcm: return try list(function, arguments)
        }
    }

    private func round(_ value: Number, places: Number) throws(ExpressionError) -> Number {
        guard let places = places.exact?.int else { throw undefined(.whole) }
        guard places.magnitude <= UInt(Bounds.precision) else { throw failure(.tooManyPlaces(limit: Bounds.precision)) }
        let scale = Number.exact(Rational(10).power(places))
        return try divide(try whole(try multiply(value, scale)) { $0.rounded }, scale)
    }

    private func logarithm(_ function: Function, _ arguments: [Number]) throws(ExpressionError) -> Number {
        guard arguments.allSatisfy({ $0.sign > 0 }), let first = arguments.first, let last = arguments.last else {
            throw undefined(.positive)
        }
        switch function {
        case .ln: return try real(mpfr_log, first)
        case .log2: return try real(mpfr_log2, first)
        case .log10: return try real(mpfr_log10, first)
        case .log where arguments.count == 1: return try real(mpfr_log10, first)
        default:
            // log(x, base)
            let divisor = try real(mpfr_log2, last)
            guard divisor.sign != 0 else { throw failure(.divisionByZero) }
            return try divide(try real(mpfr_log2, first), divisor)
        }
    }

    private func trigonometric(_ function: Function, _ first: Number, _ second: Number) throws(ExpressionError)
        -> Number
    {
        if first.exact?.isZero == true {
            switch function {
            case .sin, .tan, .asin, .atan, .sinh, .tanh, .asinh, .atanh: return first
            case .cos, .cosh: return .exact(Rational(1))
            default: break
            }
        }
        guard first.real(bits: bits).exponent <= Self.angleBits else { throw tooLarge() }
        switch function {
        case .sin: return try real(mpfr_sin, first)
        case .cos: return try real(mpfr_cos, first)
        case .tan: return try tangent(first)
        case .asin, .acos, .atanh:
            let size = first.real(bits: bits).applying(cgmp_mpfr_abs)
            guard size.comparedToOne <= 0 else { throw undefined(.minusOneToOne) }
            return try real(function == .asin ? mpfr_asin : function == .acos ? mpfr_acos : mpfr_atanh, first)
        case .atan: return try real(mpfr_atan, first)
        case .atan2: return try real(mpfr_atan2, first, second)
        case .sinh: return try real(mpfr_sinh, first)
        case .cosh: return try real(mpfr_cosh, first)
        case .tanh: return try real(mpfr_tanh, first)
        case .asinh: return try real(mpfr_asinh, first)
        default:
            guard first.real(bits: bits).comparedToOne >= 0 else { throw undefined(.noAnswer) }
            return try real(mpfr_acosh, first)
        }
    }

    /// Where the cosine is zero there is no tangent. No such angle is exact, in radians: what comes from pi misses it by
    /// its last bits, and the quotient then has about as many before the point.
    private func tangent(_ angle: Number) throws(ExpressionError) -> Number {
        let result = try real(mpfr_tan, angle)
        let known = bits - max(0, angle.real(bits: bits).exponent)
        if angle.exact == nil, case .real(let value) = result, value.exponent > known - 16 {
            throw undefined(.noAnswer)
        }
        return result
    }

    private func isLess(_ a: Number, _ b: Number) -> Bool {
        if let a = a.exact, let b = b.exact { return a.isLess(than: b) }
        return a.real(bits: bits).isLess(than: b.real(bits: bits))
    }

    private func list(_ function: Function, _ arguments: [Number]) throws(ExpressionError) -> Number {
        guard var result = arguments.first else { throw failure(.noExpression) }
        switch function {
        case .min: for next in arguments.dropFirst() where isLess(next, result) { result = next }
        case .max: for next in arguments.dropFirst() where isLess(result, next) { result = next }
        case .sum, .average:
            for next in arguments.dropFirst() { result = try add(result, next) }
            if function == .average { result = try divide(result, .exact(Rational(arguments.count))) }
        case .product: for next in arguments.dropFirst() { result = try multiply(result, next) }
        case .median:
            let sorted = arguments.sorted(by: isLess)
            let middle = sorted.count / 2
            result = sorted[middle]
            if sorted.count % 2 == 0 { result = try divide(try add(sorted[middle - 1], result), .exact(Rational(2))) }
        default:
            var total = Integer(0)
            for (index, next) in arguments.enumerated() {
                guard let whole = next.exact?.integer else { throw undefined(.whole) }
                if index == 0 {
                    total = whole.magnitude
                } else if function == .gcd {
                    total = .greatestCommonDivisor(total, whole)
                } else {
                    guard total.bits + whole.bits <= Bounds.bits else { throw tooLarge() }
                    total = .leastCommonMultiple(total, whole)
                }
            }
            result = .exact(Rational(total))
        }
        return result
    }
}
