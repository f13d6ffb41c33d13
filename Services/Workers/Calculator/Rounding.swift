/// How many digits an answer has.
enum Rounding: Hashable {
    /// So many digits from the first that is not zero. Whole numbers are shown whole unless `strict`.
    case significant(Int, strict: Bool)
    /// So many digits after the point.
    case places(Int)

    /// Enough to be sure of any practical use, few enough to read.
    static let usual = Rounding.significant(20, strict: false)

    var digits: Int {
        switch self {
        case .significant(let count, _), .places(let count): count
        }
    }
}

/// A number as text.
struct DecimalText: Equatable {
    var text: String
    /// Whether nothing was rounded off.
    var isExact: Bool
}

extension Rational {
    /// The places after the point of the decimal, or nil if it never ends.
    var decimals: Int? {
        let (twos, rest) = bottom.removing(2)
        let (fives, last) = rest.removing(5)
        return last.isOne ? max(twos, fives) : nil
    }

    /// `1234.5`, or `1/3` where the decimal never ends.
    var plain: String {
        if let decimals, decimals <= 100 { return fixed(decimals) }
        guard bits < 4096 else { return "…" }
        return (sign < 0 ? "-" : "") + top.digits + "/" + bottom.digits
    }

    /// As text, rounded as asked; halves go away from zero.
    func text(_ rounding: Rounding) -> DecimalText {
        let decimals = decimals
        switch rounding {
        case .places(let count):
            if let decimals, decimals <= count { return DecimalText(text: fixed(decimals), isExact: true) }
            return DecimalText(text: Self.trimmed(fixed(count)), isExact: false)
        case .significant(let count, let strict):
            if isZero { return DecimalText(text: "0", isExact: true) }
            if isWhole, !strict { return DecimalText(text: fixed(0), isExact: true) }
            let exponent = decimalExponent
            let room = rounding == .usual ? 100 : max(count - exponent, 0)
            if let decimals, decimals <= (strict ? max(count - exponent, 0) : room), !(strict && exponent > count) {
                return DecimalText(text: fixed(decimals), isExact: true)
            }
            if !strict, exponent >= count { return DecimalText(text: fixed(0), isExact: false) }
            return significant(count)
        }
    }

    /// The exponent of `0.digits * 10^exponent`.
    private var decimalExponent: Int {
        var exponent = Int((log2 * 0.301_029_995_663_981_2).rounded(.down)) + 1
        let value = magnitude
        let power =
            exponent >= 0 ? Rational(Integer.powerOfTen(exponent)) : Rational(Integer(1), over: .powerOfTen(-exponent))
        if !value.isLess(than: power) { exponent += 1 }
        let below = exponent - 1
        let least = below >= 0 ? Rational(Integer.powerOfTen(below)) : Rational(Integer(1), over: .powerOfTen(-below))
        if value.isLess(than: least) { exponent -= 1 }
        return exponent
    }

    private func significant(_ count: Int) -> DecimalText {
        var exponent = decimalExponent
        let shift = count - exponent
        let scale = Rational(Integer.powerOfTen(Int(shift.magnitude)))
        let scaled = (shift >= 0 ? magnitude * scale : magnitude / scale).rounded
        var digits = scaled.digits
        if digits.utf8.count > count {
            exponent += 1
            digits.removeLast()
        }
        return DecimalText(text: Self.layout(digits, exponent: exponent, isNegative: sign < 0), isExact: false)
    }

    /// With so many places after the point.
    func fixed(_ places: Int) -> String {
        let scaled = (self * Rational(Integer.powerOfTen(places))).rounded
        var digits = scaled.digits
        if places > 0 {
            if digits.utf8.count <= places {
                digits = String(repeating: "0", count: places - digits.utf8.count + 1) + digits
            }
            let point = digits.index(digits.endIndex, offsetBy: -places)
            digits = "\(digits[..<point]).\(digits[point...])"
        }
        return scaled.sign < 0 ? "-" + digits : digits
    }

    /// Without zeros at the end of the decimals.
    static func trimmed(_ text: String) -> String {
        guard text.contains(".") else { return text }
        var result = text
        while result.last == "0" { result.removeLast() }
        if result.last == "." { result.removeLast() }
        return result == "-0" ? "0" : result
    }

    /// Lays out `0.digits * 10^exponent`: plainly where that is readable, else with an exponent.
    static func layout(_ digits: String, exponent: Int, isNegative: Bool) -> String {
        var digits = digits
        while digits.utf8.count > 1, digits.last == "0" { digits.removeLast() }
        let minus = isNegative ? "-" : ""
        let count = digits.utf8.count
        if exponent > max(40, count) || exponent < -8 {
            let rest = digits.dropFirst()
            return "\(minus)\(digits.prefix(1))\(rest.isEmpty ? "" : ".")\(rest)e\(exponent - 1)"
        }
        if exponent <= 0 { return "\(minus)0.\(String(repeating: "0", count: -exponent))\(digits)" }
        if exponent >= count { return "\(minus)\(digits)\(String(repeating: "0", count: exponent - count))" }
        return "\(minus)\(digits.prefix(exponent)).\(digits.dropFirst(exponent))"
    }
}

extension Real {
    /// As text, rounded as asked.
    func text(_ rounding: Rounding) -> DecimalText {
        if isZero { return DecimalText(text: "0", isExact: false) }
        let (_, magnitude) = decimal(digits: 5)
        switch rounding {
        case .places(let places) where magnitude <= Bounds.precision:
            let (digits, exponent) = decimal(digits: max(places + magnitude, 1))
            if places + exponent < 1 {
                return DecimalText(text: Rational.trimmed(rational.fixed(places)), isExact: false)
            }
            let plain = Rational(digits: digits, exponent: exponent - digits.utf8.count).fixed(places)
            return DecimalText(text: Rational.trimmed(sign < 0 && plain != "0" ? "-" + plain : plain), isExact: false)
        default:
            let count = if case .significant(let count, _) = rounding { count } else { Rounding.usual.digits }
            let (digits, exponent) = decimal(digits: count)
            return DecimalText(text: Rational.layout(digits, exponent: exponent, isNegative: sign < 0), isExact: false)
        }
    }
}
