internal import CGMP

/// An exact number: a fraction of whole numbers of any size, always in lowest terms.
///
/// The C struct lies at an address of its own, so that a number can be both operands of a call.
final class Rational {
    fileprivate(set) var raw: UnsafeMutablePointer<__mpq_struct>

    init() {
        raw = .allocate(capacity: 1)
        cgmp_mpq_init(raw)
    }

    deinit {
        cgmp_mpq_clear(raw)
        raw.deallocate()
    }

    convenience init(_ numerator: Int, _ denominator: UInt = 1) {
        self.init()
        cgmp_mpq_set_si(raw, numerator, denominator)
        cgmp_mpq_canonicalize(raw)
    }

    /// Makes one from digits and a power of ten: `digits * 10^exponent`. The digits must be 0 to 9 only.
    convenience init(digits: String, exponent: Int = 0) {
        self.init()
        _ = cgmp_mpz_set_str(numerator, digits.isEmpty ? "0" : digits, 10)
        if exponent > 0 {
            let power = Integer()
            cgmp_mpz_ui_pow_ui(power.raw, 10, UInt(exponent))
            cgmp_mpz_mul(numerator, numerator, power.raw)
        } else if exponent < 0 {
            cgmp_mpz_ui_pow_ui(denominator, 10, UInt(-exponent))
            cgmp_mpq_canonicalize(raw)
        }
    }

    convenience init(_ integer: Integer) {
        self.init()
        cgmp_mpq_set_z(raw, integer.raw)
    }

    /// The quotient of two whole numbers, of which the second is not zero.
    convenience init(_ dividend: Integer, over divisor: Integer) {
        self.init()
        cgmp_mpz_set(numerator, dividend.raw)
        cgmp_mpz_set(denominator, divisor.raw)
        cgmp_mpq_canonicalize(raw)
    }

    var numerator: UnsafeMutablePointer<__mpz_struct> { cgmp_mpq_numref(raw) }
    var denominator: UnsafeMutablePointer<__mpz_struct> { cgmp_mpq_denref(raw) }

    /// -1, 0 or 1.
    var sign: Int { Int(cgmp_mpq_sgn(raw)) }
    var isZero: Bool { sign == 0 }
    var isWhole: Bool { cgmp_mpz_sizeinbase(denominator, 2) == 1 }
    /// Bits of both parts.
    var bits: Int { numeratorBits + denominatorBits }
    var numeratorBits: Int { Int(cgmp_mpz_sizeinbase(numerator, 2)) }
    var denominatorBits: Int { Int(cgmp_mpz_sizeinbase(denominator, 2)) }

    /// The value, if it is whole and fits.
    var int: Int? { isWhole && cgmp_mpz_fits_slong(numerator) != 0 ? cgmp_mpz_get_si(numerator) : nil }

    /// The whole number, if it is one.
    var integer: Integer? {
        guard isWhole else { return nil }
        let result = Integer()
        cgmp_mpz_set(result.raw, numerator)
        return result
    }

    /// The logarithm to base 2 of the absolute value, good to about 12 digits; of zero, minus infinity.
    var log2: Double {
        func log2(_ z: UnsafeMutablePointer<__mpz_struct>) -> Double {
            var exponent = 0
            let fraction = cgmp_mpz_get_d_2exp(&exponent, z)
            return logarithm2(fraction.magnitude) + Double(exponent)
        }
        return isZero ? -.infinity : log2(numerator) - log2(denominator)
    }

    func isLess(than other: Rational) -> Bool { cgmp_mpq_cmp(raw, other.raw) < 0 }
    func isEqual(to other: Rational) -> Bool { cgmp_mpq_cmp(raw, other.raw) == 0 }

    private static func make(_ body: (UnsafeMutablePointer<__mpq_struct>) -> Void) -> Rational {
        let result = Rational()
        body(result.raw)
        return result
    }

    static func + (a: Rational, b: Rational) -> Rational { make { cgmp_mpq_add($0, a.raw, b.raw) } }
    static func - (a: Rational, b: Rational) -> Rational { make { cgmp_mpq_sub($0, a.raw, b.raw) } }
    static func * (a: Rational, b: Rational) -> Rational { make { cgmp_mpq_mul($0, a.raw, b.raw) } }
    static prefix func - (a: Rational) -> Rational { make { cgmp_mpq_neg($0, a.raw) } }
    /// The divisor must not be zero.
    static func / (a: Rational, b: Rational) -> Rational { make { cgmp_mpq_div($0, a.raw, b.raw) } }

    var magnitude: Rational { Self.make { cgmp_mpq_abs($0, raw) } }

    /// The greatest whole number that is not above.
    var floor: Integer { Integer.make { cgmp_mpz_fdiv_q($0, numerator, denominator) } }
    /// The least whole number that is not below.
    var ceiling: Integer { Integer.make { cgmp_mpz_cdiv_q($0, numerator, denominator) } }
    /// The nearest whole number; a half goes away from zero, as taught in school.
    var rounded: Integer {
        let half = Rational(1, 2)
        return sign < 0 ? (self - half).ceiling : (self + half).floor
    }

    /// The power; zero must not be raised to a negative one.
    func power(_ exponent: Int) -> Rational {
        Self.make { result in
            cgmp_mpz_pow_ui(cgmp_mpq_numref(result), numerator, exponent.magnitude)
            cgmp_mpz_pow_ui(cgmp_mpq_denref(result), denominator, exponent.magnitude)
            guard exponent < 0 else { return }
            let one = Rational(1)
            cgmp_mpq_div(result, one.raw, result)
        }
    }

    /// The exact root, if there is one.
    func root(_ degree: Int) -> Rational? {
        guard degree > 0, sign >= 0 || degree % 2 == 1 else { return nil }
        let top = Integer()
        let bottom = Integer()
        guard
            cgmp_mpz_root(top.raw, numerator, UInt(degree)) != 0,
            cgmp_mpz_root(bottom.raw, denominator, UInt(degree)) != 0
        else { return nil }
        return Rational(top, over: bottom)
    }
}

/// A whole number of any size.
final class Integer {
    fileprivate(set) var raw: UnsafeMutablePointer<__mpz_struct>

    init(_ value: Int = 0) {
        raw = .allocate(capacity: 1)
        cgmp_mpz_init(raw)
        if value != 0 { cgmp_mpz_set_si(raw, value) }
    }

    deinit {
        cgmp_mpz_clear(raw)
        raw.deallocate()
    }

    static func make(_ body: (UnsafeMutablePointer<__mpz_struct>) -> Void) -> Integer {
        let result = Integer()
        body(result.raw)
        return result
    }

    static func powerOfTen(_ exponent: Int) -> Integer { make { cgmp_mpz_ui_pow_ui($0, 10, UInt(exponent)) } }
    static func factorial(_ n: Int) -> Integer { make { cgmp_mpz_fac_ui($0, UInt(n)) } }
    static func doubleFactorial(_ n: Int) -> Integer { make { cgmp_mpz_2fac_ui($0, UInt(n)) } }
    static func binomial(_ n: Int, _ k: Int) -> Integer { make { cgmp_mpz_bin_uiui($0, UInt(n), UInt(k)) } }
    static func greatestCommonDivisor(_ a: Integer, _ b: Integer) -> Integer { make { cgmp_mpz_gcd($0, a.raw, b.raw) } }
    static func leastCommonMultiple(_ a: Integer, _ b: Integer) -> Integer { make { cgmp_mpz_lcm($0, a.raw, b.raw) } }

    var sign: Int { Int(cgmp_mpz_sgn(raw)) }
    var isZero: Bool { sign == 0 }
    var bits: Int { Int(cgmp_mpz_sizeinbase(raw, 2)) }

    /// The decimal digits of the absolute value.
    var digits: String {
        let positive = Integer.make { cgmp_mpz_abs($0, raw) }
        var buffer = [CChar](repeating: 0, count: Int(cgmp_mpz_sizeinbase(raw, 10)) + 2)
        cgmp_mpz_get_str(&buffer, positive.raw)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// How often the number can be divided by the factor, and what is left.
    func removing(_ factor: Int) -> (count: Int, rest: Integer) {
        let rest = Integer()
        let count = cgmp_mpz_remove(rest.raw, raw, Integer(factor).raw)
        return (Int(count), rest)
    }

    var isOne: Bool { sign > 0 && bits == 1 }
}

/// Copies a whole number.
func copy(_ source: UnsafeMutablePointer<__mpz_struct>, to target: UnsafeMutablePointer<__mpz_struct>) {
    cgmp_mpz_set(target, source)
}
