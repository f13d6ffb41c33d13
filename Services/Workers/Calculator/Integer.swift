internal import CGMP

/// A whole number of any size.
///
/// The C struct lies at an address of its own, so that a number can be several operands of a call, and its address is
/// only handed out while the number is certain to live. Unchecked: a number is never changed once it is made, every
/// operation makes a new one, and GMP keeps no state of its own.
final class Integer: @unchecked Sendable {
    typealias Pointer = UnsafeMutablePointer<__mpz_struct>
    typealias Source = UnsafePointer<__mpz_struct>

    private let raw: Pointer

    init(_ value: Int = 0) {
        raw = .allocate(capacity: 1)
        cgmp_mpz_init(raw)
        if value != 0 { cgmp_mpz_set_si(raw, value) }
    }

    deinit {
        cgmp_mpz_clear(raw)
        raw.deallocate()
    }

    func read<Result>(_ body: (Source) -> Result) -> Result { withExtendedLifetime(self) { body(raw) } }

    /// Makes a number by writing it where it will lie.
    static func make(_ body: (Pointer) -> Void) -> Integer {
        let result = Integer()
        withExtendedLifetime(result) { body(result.raw) }
        return result
    }

    /// Makes a number from another by a C function.
    static func make(_ a: Integer, _ function: (Pointer?, Source?) -> Void) -> Integer {
        make { result in a.read { function(result, $0) } }
    }

    /// Makes a number from two others by a C function.
    static func make(_ a: Integer, _ b: Integer, _ function: (Pointer?, Source?, Source?) -> Void) -> Integer {
        make { result in a.read { a in b.read { b in function(result, a, b) } } }
    }

    static func powerOfTen(_ exponent: Int) -> Integer { make { cgmp_mpz_ui_pow_ui($0, 10, UInt(exponent)) } }
    static func factorial(_ n: Int) -> Integer { make { cgmp_mpz_fac_ui($0, UInt(n)) } }
    static func doubleFactorial(_ n: Int) -> Integer { make { cgmp_mpz_2fac_ui($0, UInt(n)) } }
    static func binomial(_ n: Int, _ k: Int) -> Integer { make { cgmp_mpz_bin_uiui($0, UInt(n), UInt(k)) } }
    static func greatestCommonDivisor(_ a: Integer, _ b: Integer) -> Integer { make(a, b, cgmp_mpz_gcd) }
    static func leastCommonMultiple(_ a: Integer, _ b: Integer) -> Integer { make(a, b, cgmp_mpz_lcm) }
    var magnitude: Integer { .make(self, cgmp_mpz_abs) }

    var sign: Int { read { Int(cgmp_mpz_sgn($0)) } }
    var isZero: Bool { sign == 0 }
    var isOne: Bool { sign > 0 && bits == 1 }
    var bits: Int { read { Int(cgmp_mpz_sizeinbase($0, 2)) } }

    /// The decimal digits of the absolute value.
    var digits: String {
        magnitude.read { raw in
            var buffer = [CChar](repeating: 0, count: Int(cgmp_mpz_sizeinbase(raw, 10)) + 2)
            cgmp_mpz_get_str(&buffer, raw)
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// How often the number can be divided by the factor, and what is left.
    func removing(_ factor: Int) -> (count: Int, rest: Integer) {
        var count: UInt = 0
        let rest = Integer.make(self, Integer(factor)) { count = cgmp_mpz_remove($0, $1, $2) }
        return (Int(count), rest)
    }
}
