internal import CGMP

/// An exact number: a fraction of whole numbers of any size, always in lowest terms.
///
/// The C struct lies at an address of its own, so that a number can be several operands of a call, and its address is
/// only handed out while the number is certain to live. Unchecked: a number is never changed once it is made, every
/// operation makes a new one, and GMP keeps no state of its own.
final class Rational: @unchecked Sendable {
    typealias Pointer = UnsafeMutablePointer<__mpq_struct>
    typealias Source = UnsafePointer<__mpq_struct>

    private let raw: Pointer

    init() {
        raw = .allocate(capacity: 1)
        cgmp_mpq_init(raw)
    }

    deinit {
        cgmp_mpq_clear(raw)
        raw.deallocate()
    }

    func read<Result>(_ body: (Source) -> Result) -> Result { withExtendedLifetime(self) { body(raw) } }

    /// Makes a number by writing it where it will lie.
    static func make(_ body: (Pointer) -> Void) -> Rational {
        let result = Rational()
        withExtendedLifetime(result) { body(result.raw) }
        return result
    }

    private static func make(_ a: Rational, _ function: (Pointer?, Source?) -> Void) -> Rational {
        make { result in a.read { function(result, $0) } }
    }

    private static func make(_ a: Rational, _ b: Rational, _ function: (Pointer?, Source?, Source?) -> Void) -> Rational
    {
        make { result in a.read { a in b.read { b in function(result, a, b) } } }
    }

    convenience init(_ numerator: Int, _ denominator: UInt = 1) {
        self.init()
        cgmp_mpq_set_si(raw, numerator, denominator)
        cgmp_mpq_canonicalize(raw)
    }

    /// Makes one from digits and a power of ten: `digits * 10^exponent`. The digits must be 0 to 9 only.
    convenience init(digits: String, exponent: Int = 0) {
        self.init()
        let top = cgmp_mpq_numref(raw)
        _ = cgmp_mpz_set_str(top, digits.isEmpty ? "0" : digits, 10)
        if exponent > 0 {
            Integer.powerOfTen(exponent).read { cgmp_mpz_mul(top, top, $0) }
        } else if exponent < 0 {
            cgmp_mpz_ui_pow_ui(cgmp_mpq_denref(raw), 10, UInt(-exponent))
            cgmp_mpq_canonicalize(raw)
        }
    }

    convenience init(_ integer: Integer) {
        self.init()
        integer.read { cgmp_mpq_set_z(raw, $0) }
    }

    /// The quotient of two whole numbers, of which the second is not zero.
    convenience init(_ dividend: Integer, over divisor: Integer) {
        self.init()
        dividend.read { cgmp_mpz_set(cgmp_mpq_numref(raw), $0) }
        divisor.read { cgmp_mpz_set(cgmp_mpq_denref(raw), $0) }
        cgmp_mpq_canonicalize(raw)
    }

    private func numerator<Result>(_ body: (Integer.Pointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(cgmp_mpq_numref(raw)) }
    }
    private func denominator<Result>(_ body: (Integer.Pointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(cgmp_mpq_denref(raw)) }
    }

    /// The parts as whole numbers, without the sign.
    var top: Integer { numerator { top in Integer.make { cgmp_mpz_abs($0, top) } } }
    var bottom: Integer { denominator { bottom in Integer.make { cgmp_mpz_set($0, bottom) } } }

    /// -1, 0 or 1.
    var sign: Int { read { Int(cgmp_mpq_sgn($0)) } }
    var isZero: Bool { sign == 0 }
    var isWhole: Bool { denominatorBits == 1 }
    /// Bits of both parts.
    var bits: Int { numeratorBits + denominatorBits }
    var numeratorBits: Int { numerator { Int(cgmp_mpz_sizeinbase($0, 2)) } }
    var denominatorBits: Int { denominator { Int(cgmp_mpz_sizeinbase($0, 2)) } }

    /// The value, if it is whole and fits.
    var int: Int? {
        guard isWhole else { return nil }
        return numerator { cgmp_mpz_fits_slong($0) != 0 ? cgmp_mpz_get_si($0) : nil }
    }

    /// The whole number, if it is one.
    var integer: Integer? {
        guard isWhole else { return nil }
        return numerator { top in Integer.make { cgmp_mpz_set($0, top) } }
    }

    /// The logarithm to base 2 of the absolute value, good to about 12 digits; of zero, minus infinity.
    var log2: Double {
        func log2(_ z: Integer.Pointer) -> Double {
            var exponent = 0
            let fraction = cgmp_mpz_get_d_2exp(&exponent, z)
            return logarithm2(fraction.magnitude) + Double(exponent)
        }
        return isZero ? -.infinity : numerator(log2) - denominator(log2)
    }

    private func compare(_ other: Rational) -> Int32 { read { a in other.read { b in cgmp_mpq_cmp(a, b) } } }
    func isLess(than other: Rational) -> Bool { compare(other) < 0 }
    func isEqual(to other: Rational) -> Bool { compare(other) == 0 }

    static func + (a: Rational, b: Rational) -> Rational { make(a, b, cgmp_mpq_add) }
    static func - (a: Rational, b: Rational) -> Rational { make(a, b, cgmp_mpq_sub) }
    static func * (a: Rational, b: Rational) -> Rational { make(a, b, cgmp_mpq_mul) }
    /// The divisor must not be zero.
    static func / (a: Rational, b: Rational) -> Rational { make(a, b, cgmp_mpq_div) }
    static prefix func - (a: Rational) -> Rational { make(a, cgmp_mpq_neg) }
    var magnitude: Rational { .make(self, cgmp_mpq_abs) }

    private func divided(_ function: (Integer.Pointer?, Integer.Source?, Integer.Source?) -> Void) -> Integer {
        Integer.make { result in numerator { top in denominator { bottom in function(result, top, bottom) } } }
    }

    /// The greatest whole number that is not above.
    var floor: Integer { divided(cgmp_mpz_fdiv_q) }
    /// The least whole number that is not below.
    var ceiling: Integer { divided(cgmp_mpz_cdiv_q) }
    /// The nearest whole number; a half goes away from zero, as taught in school.
    var rounded: Integer {
        let half = Rational(1, 2)
        return sign < 0 ? (self - half).ceiling : (self + half).floor
    }

    /// The power; zero must not be raised to a negative one.
    func power(_ exponent: Int) -> Rational {
        let power = Rational.make { result in
            numerator { cgmp_mpz_pow_ui(cgmp_mpq_numref(result), $0, exponent.magnitude) }
            denominator { cgmp_mpz_pow_ui(cgmp_mpq_denref(result), $0, exponent.magnitude) }
        }
        return exponent < 0 ? Rational(1) / power : power
    }

    /// The exact root, if there is one.
    func root(_ degree: Int) -> Rational? {
        guard degree > 0, sign >= 0 || degree % 2 == 1 else { return nil }
        var isExact = true
        func root(_ part: Integer.Pointer) -> Integer {
            Integer.make { if cgmp_mpz_root($0, part, UInt(degree)) == 0 { isExact = false } }
        }
        let top = numerator(root)
        let bottom = denominator(root)
        return isExact ? Rational(top, over: bottom) : nil
    }
}
