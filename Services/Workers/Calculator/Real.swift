internal import CGMP
internal import Glibc

/// A number known to so many bits.
final class Real {
    let raw: UnsafeMutablePointer<__mpfr_struct>

    init(bits: Int) {
        raw = .allocate(capacity: 1)
        mpfr_init2(raw, bits)
    }

    deinit {
        mpfr_clear(raw)
        raw.deallocate()
    }

    convenience init(_ value: Rational, bits: Int) {
        self.init(bits: bits)
        mpfr_set_q(raw, value.raw, MPFR_RNDN)
    }

    var bits: Int { cgmp_mpfr_precision(raw) }
    var sign: Int { Int(cgmp_mpfr_sgn(raw)) }
    var isZero: Bool { cgmp_mpfr_is_zero(raw) != 0 }
    var isFinite: Bool { cgmp_mpfr_is_nan(raw) == 0 && cgmp_mpfr_is_infinite(raw) == 0 }
    var isInfinite: Bool { cgmp_mpfr_is_infinite(raw) != 0 }
    /// The binary exponent of a number that is not zero.
    var exponent: Int { isZero ? 0 : cgmp_mpfr_exponent(raw) }

    /// The same number as a fraction; its exponent must be within `Bounds.bits`.
    var rational: Rational {
        let result = Rational()
        mpfr_get_q(result.raw, raw)
        return result
    }

    /// Rounded to so many decimal digits: the digits and the exponent of `0.digits * 10^exponent`.
    func decimal(digits count: Int) -> (digits: String, exponent: Int) {
        var exponent = 0
        var buffer = [CChar](repeating: 0, count: max(count, 5) + 3)
        _ = mpfr_get_str(&buffer, &exponent, 10, max(count, 1), raw, MPFR_RNDN)
        let text = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return (String(decoding: text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...], as: UTF8.self), exponent)
    }

    typealias Unary =
        @convention(c) (UnsafeMutablePointer<__mpfr_struct>?, UnsafePointer<__mpfr_struct>?, mpfr_rnd_t) -> Int32
    typealias Binary =
        @convention(c) (
            UnsafeMutablePointer<__mpfr_struct>?, UnsafePointer<__mpfr_struct>?, UnsafePointer<__mpfr_struct>?,
            mpfr_rnd_t
        ) -> Int32

    func applying(_ function: Unary) -> Real {
        let result = Real(bits: bits)
        _ = function(result.raw, raw, MPFR_RNDN)
        return result
    }

    func applying(_ function: Binary, _ other: Real) -> Real {
        let result = Real(bits: bits)
        _ = function(result.raw, raw, other.raw, MPFR_RNDN)
        return result
    }
}

/// log2 of the C library.
func logarithm2(_ value: Double) -> Double { log2(value) }

/// Digits of n! from Stirling's series, without computing it.
func factorialDigits(_ n: Double) -> Double { lgamma(n + 1) / 2.302_585_092_994_046 }
