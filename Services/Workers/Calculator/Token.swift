/// The smallest piece of a text that means something: a number, a word (of Han text, one character), or a sign.
struct Token: Sendable {
    enum Kind: Sendable {
        case number(Rational)
        case word
        case sign
    }

    var kind: Kind
    /// Folded: half-width, lower case, one spelling for each operator.
    var text: String
    /// As the user wrote it.
    var original: String
    /// Place in the text, in characters from 1.
    var position: Int
    var spaceBefore: Bool

    var isWord: Bool { if case .word = kind { true } else { false } }
    var number: Rational? { if case .number(let value) = kind { value } else { nil } }
    func isSign(_ sign: String) -> Bool { if case .sign = kind { text == sign } else { false } }
    var isHan: Bool { isWord && text.unicodeScalars.first.map(Tokenizer.isHan) == true }
}

/// Cuts a text into tokens. Everything that a keyboard, a phone or a word processor makes of a digit or an operator is
/// folded to one spelling first; what is unknown stays as it is and is refused later, by name.
struct Tokenizer {
    private let original: [Unicode.Scalar]
    private let folded: [Unicode.Scalar]
    private var index = 0
    private var tokens: [Token] = []
    /// For each open parenthesis, whether a comma in it separates arguments.
    private var separates: [Bool] = []
    private let isList: Bool

    static func tokens(of text: String) throws(ExpressionError) -> [Token] {
        var tokenizer = Tokenizer(text)
        guard tokenizer.original.count <= Bounds.text else { throw ExpressionError(.tooLong(limit: Bounds.text)) }
        return try tokenizer.run()
    }

    private init(_ text: String) {
        original = Array(text.unicodeScalars)
        folded = original.map(Self.fold)
        isList = Vocabulary.mentionsList(text)
    }

    static func isHan(_ scalar: Unicode.Scalar) -> Bool {
        (0x3400...0x9FFF).contains(scalar.value) || (0x20000...0x3FFFF).contains(scalar.value) || scalar.value == 0x3007
    }

    private static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0xFF01...0xFF5E: return fold(Unicode.Scalar(UInt8(scalar.value - 0xFEE0)))
        case 0x41...0x5A: return Unicode.Scalar(UInt8(scalar.value + 32))
        case 0x3000, 0xA0, 0x202F, 0x2009, 0x2007, 0x09, 0x0A, 0x0D: return " "
        default: break
        }
        return switch scalar {
        case "×", "✕", "✖", "⨯", "·", "⋅", "∙", "•", "∗": "*"
        case "÷", "∕", "⁄", "➗": "/"
        case "−", "–", "—", "﹣", "➖", "‐", "‑": "-"
        case "➕", "﹢": "+"
        case "[", "{", "【", "〔", "［": "("
        case "]", "}", "】", "〕", "］": ")"
        case "、": "&"
        case "。", "；", ";": ";"
        case "？": "?"
        case "’", "‘": "'"
        case "μ": "µ"
        case "º", "˚": "°"
        default: scalar
        }
    }

    private static let superscripts: [Unicode.Scalar: Int] = [
        "⁰": 0, "¹": 1, "²": 2, "³": 3, "⁴": 4, "⁵": 5, "⁶": 6, "⁷": 7, "⁸": 8, "⁹": 9,
    ]
    private static let fractions: [Unicode.Scalar: (Int, UInt)] = [
        "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
        "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8), "⅒": (1, 10),
    ]
    private static let ignored: Set<Unicode.Scalar> = [
        "\"", "“", "”", "「", "」", "『", "』", "`", "\u{200B}", "\u{FEFF}", "\u{200E}", "\u{2060}", "\u{FE0F}", "$", "¥",
        "€",
        "£", "￥", "~", "…",
    ]

    private func scalar(_ offset: Int = 0) -> Unicode.Scalar? {
        let place = index + offset
        return place < folded.count ? folded[place] : nil
    }

    private func isDigit(_ offset: Int) -> Bool { scalar(offset).map { "0"..."9" ~= $0 } ?? false }
    private func isLetter(_ offset: Int) -> Bool { scalar(offset).map(Self.isLetter) ?? false }
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        "a"..."z" ~= scalar || scalar == "µ"
            || (scalar.properties.isAlphabetic && !isHan(scalar) && scalar.value > 0x7F)
    }

    private mutating func run() throws(ExpressionError) -> [Token] {
        var spaceBefore = true
        while let next = scalar() {
            if next == " " {
                index += 1
                spaceBefore = true
                continue
            }
            if Self.ignored.contains(next) {
                index += 1
                continue
            }
            let count = tokens.count
            try step(next)
            if tokens.count > count { tokens[count].spaceBefore = spaceBefore }
            spaceBefore = false
        }
        return tokens
    }

    private mutating func step(_ next: Unicode.Scalar) throws(ExpressionError) {
        let start = index
        if isDigit(0) || (next == "." && isDigit(1) && tokens.last?.number == nil) { return try number() }
        if let (top, bottom) = Self.fractions[next] {
            index += 1
            return add(.number(Rational(top, bottom)), from: start)
        }
        if Self.superscripts[next] != nil { return power() }
        if Self.isHan(next) {
            index += 1
            return add(.word, from: start)
        }
        if next == "°" || next == "℃" || next == "℉" { return degrees(next) }
        if next == "π" {
            index += 1
            return add(.word, "pi", from: start)
        }
        if Self.isLetter(next) { return word() }
        if next == "*" && scalar(1) == "*" {
            index += 2
            return add(.sign, "^", from: start)
        }
        if next == "(" {
            let name = tokens.last.map { $0.isWord ? $0.text : "" } ?? ""
            separates.append(Vocabulary.severalArguments.contains(name))
        } else if next == ")" {
            _ = separates.popLast()
        }
        index += 1
        add(.sign, from: start)
    }

    private mutating func add(_ kind: Token.Kind, _ text: String? = nil, from start: Int) {
        func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            return String(view)
        }
        let token = Token(
            kind: kind,
            text: text ?? string(folded[start..<index]),
            original: string(original[start..<index]),
            position: start + 1,
            spaceBefore: false
        )
        tokens.append(token)
    }

    /// `²` is `^2`.
    private mutating func power() {
        let start = index
        var digits = ""
        while let next = scalar(), let digit = Self.superscripts[next] {
            digits += String(digit)
            index += 1
        }
        add(.sign, "^", from: start)
        add(.number(Rational(digits: digits)), digits, from: start)
    }

    /// A degree sign belongs to a following C or F.
    private mutating func degrees(_ sign: Unicode.Scalar) {
        let start = index
        index += 1
        if sign == "℃" { return add(.word, "°c", from: start) }
        if sign == "℉" { return add(.word, "°f", from: start) }
        let letter = scalar()
        if let letter, letter == "c" || letter == "f" || letter == "k", !isLetter(1) {
            index += 1
            return add(.word, from: start)
        }
        add(.sign, from: start)
    }

    private mutating func word() {
        let start = index
        while isLetter(0) || (scalar() == "'" && isLetter(1)) { index += 1 }
        // Digits belong to a few names only: log10, m2. Elsewhere a letter and a digit are two things.
        var end = index
        if end < folded.count, folded[end] == "_" { end += 1 }
        while end < folded.count, "0"..."9" ~= folded[end] { end += 1 }
        if end > index {
            var name = String.UnicodeScalarView()
            name.append(contentsOf: folded[start..<end])
            if Vocabulary.namesWithDigits.contains(String(name)) { index = end }
        }
        add(.word, from: start)
    }

    // MARK: Numbers

    private mutating func number() throws(ExpressionError) {
        let start = index
        if scalar() == "0", let base = scalar(1), base == "x" || base == "b", let value = radix(base) {
            return add(.number(value), from: start)
        }
        var whole = digits()
        whole += try groups(after: whole, from: start)
        var fraction = ""
        if scalar() == ".", isDigit(1) {
            index += 1
            fraction = digits()
            if scalar() == ".", isDigit(1) { throw bad(.twoPoints, from: start) }
        }
        var exponent = 0
        if scalar() == "e", isDigit(1) || ((scalar(1) == "+" || scalar(1) == "-") && isDigit(2)) {
            index += 1
            let isNegative = scalar() == "-"
            if !isDigit(0) { index += 1 }
            let text = digits()
            guard let value = Int(text), value <= Bounds.digits else { throw bad(.exponent, from: start) }
            exponent = isNegative ? -value : value
        }
        let shift = exponent - fraction.utf8.count
        guard shift.magnitude <= UInt(Bounds.digits) else { throw bad(.exponent, from: start) }
        add(.number(Rational(digits: whole + fraction, exponent: shift)), from: start)
        for ending in ["th", "st", "nd", "rd"]
        where folded[index...].starts(with: ending.unicodeScalars) && !isLetter(2) {
            index += 2
        }
    }

    private mutating func digits() -> String {
        var text = String.UnicodeScalarView()
        while isDigit(0) {
            text.append(folded[index])
            index += 1
        }
        return String(text)
    }

    private func isGroup(_ offset: Int) -> Bool {
        isDigit(offset) && isDigit(offset + 1) && isDigit(offset + 2) && !isDigit(offset + 3)
    }

    /// Further groups of three digits: `1,234,567` and `1 234 567`. Between arguments a comma is no part of a number.
    private mutating func groups(after whole: String, from start: Int) throws(ExpressionError) -> String {
        guard !isList, separates.last != true else { return "" }
        var result = ""
        let comma: Unicode.Scalar = ","
        if scalar() == comma, isDigit(1) {
            guard whole.utf8.count <= 3, isGroup(1) else {
                index += 1
                _ = digits()
                throw bad(.comma, from: start)
            }
            while scalar() == comma, isGroup(1) {
                index += 1
                result += digits()
            }
            return result
        }
        guard whole.utf8.count <= 4, !whole.hasPrefix("0") else { return "" }
        while scalar() == " ", isGroup(1) {
            index += 1
            result += digits()
        }
        return result
    }

    /// `0x1f` and `0b101`.
    private mutating func radix(_ letter: Unicode.Scalar) -> Rational? {
        let isHexadecimal = letter == "x"
        var end = index + 2
        var value = Rational(0)
        let base = Rational(isHexadecimal ? 16 : 2)
        while end < folded.count,
            let digit = folded[end].properties.numericType == nil
                ? Int(String(folded[end]), radix: 16) : Int(String(folded[end])), digit < (isHexadecimal ? 16 : 2)
        {
            value = value * base + Rational(digit)
            end += 1
            if end - index > 4096 { return nil }
        }
        guard end > index + 2, end == folded.count || !Self.isLetter(folded[end]) else { return nil }
        index = end
        return value
    }

    private func bad(_ fault: ExpressionError.NumberFault, from start: Int) -> ExpressionError {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: original[start..<min(index + 8, original.count)].prefix { $0 != " " })
        return ExpressionError(.badNumber(String(view), fault), at: start + 1)
    }
}
