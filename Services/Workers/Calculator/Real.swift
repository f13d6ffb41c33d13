internal import CGMP
internal import Glibc

/// A number known to so many bits. Its address is only handed out while it is certain to live.
final class Real {
    typealias Pointer = UnsafeMutablePointer<__mpfr_struct>
    typealias Source = UnsafePointer<__mpfr_struct>
    typealias Unary = (Pointer?, Source?, mpfr_rnd_t) -> Int32
    typealias Binary = (Pointer?, Source?, Source?, mpfr_rnd_t) -> Int32

    private let raw: Pointer

    private init(bits: Int) {
        raw = .allocate(capacity: 1)
        mpfr_init2(raw, bits)
    }

    deinit {
        mpfr_clear(raw)
        raw.deallocate()
    }

    convenience init(_ value: Rational, bits: Int) {
        self.init(bits: bits)
        _ = value.read { mpfr_set_q(raw, $0, MPFR_RNDN) }
    }

    func read<Result>(_ body: (Source) -> Result) -> Result { withExtendedLifetime(self) { body(raw) } }

    /// Makes a number by writing it where it will lie.
    static func make(bits: Int, _ body: (Pointer) -> Void) -> Real {
        let result = Real(bits: bits)
        withExtendedLifetime(result) { body(result.raw) }
        return result
    }

    var bits: Int { read { cgmp_mpfr_precision($0) } }
    var sign: Int { read { Int(cgmp_mpfr_sgn($0)) } }
    var isZero: Bool { read { cgmp_mpfr_is_zero($0) != 0 } }
    var isInfinite: Bool { read { cgmp_mpfr_is_infinite($0) != 0 } }
    var isFinite: Bool { !isInfinite && read { cgmp_mpfr_is_nan($0) == 0 } }
    /// The binary exponent of a number that is not zero.
    var exponent: Int { isZero ? 0 : read { cgmp_mpfr_exponent($0) } }
    func isLess(than other: Real) -> Bool { read { a in other.read { b in mpfr_less_p(a, b) != 0 } } }
    /// Against one: negative, zero or positive.
    var comparedToOne: Int { read { Int(cgmp_mpfr_compare_one($0)) } }

    /// The same number as a fraction; its exponent must be within `Bounds.bits`.
    var rational: Rational { read { raw in Rational.make { mpfr_get_q($0, raw) } } }

    /// Rounded to so many decimal digits: the digits and the exponent of `0.digits * 10^exponent`.
    func decimal(digits count: Int) -> (digits: String, exponent: Int) {
        var exponent = 0
        var buffer = [CChar](repeating: 0, count: max(count, 5) + 3)
        read { _ = mpfr_get_str(&buffer, &exponent, 10, max(count, 1), $0, MPFR_RNDN) }
        let text = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return (
            String(decoding: text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...], as: UTF8.self), exponent
        )
    }

    func applying(_ function: Unary) -> Real {
        Real.make(bits: bits) { result in read { _ = function(result, $0, MPFR_RNDN) } }
    }

    func applying(_ function: Binary, _ other: Real) -> Real {
        Real.make(bits: bits) { result in
            read { a in other.read { b in _ = function(result, a, b, MPFR_RNDN) } }
        }
    }
}

/// log2 of the C library.
func logarithm2(_ value: Double) -> Double { log2(value) }

/// Digits of n! from the logarithm of the gamma function, without computing it.
func factorialDigits(_ n: Double) -> Double { lgamma(n + 1) / 2.302_585_092_994_046 }
