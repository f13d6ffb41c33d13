/// A question worked out: the one way from a text to an answer.
struct Calculation {
    /// The number, or the numbers that solve an equation.
    var number: DecimalText
    /// As a fraction, where that is exact and short while the decimal is neither.
    var fraction: String?
    /// The unit, of a conversion.
    var unit: String?
    /// The expression as it was understood, where that differs from what was written.
    var understood: String?
    var rounding: Rounding
    var notes: [Note] = []
    var isSolution = false

    private struct Question {
        var items: [Item]
        var conversion: Conversion?
        var source: String
    }

    /// Works out a text. `rounding` is what was asked for beside the text, whose own words go before; `previous` is the
    /// answer before, for "and times two".
    static func answer(
        _ text: String,
        rounding: Rounding? = nil,
        previous: Rational? = nil,
        start: ContinuousClock.Instant = .now
    ) throws(ExpressionError) -> Calculation {
        let end = start + Bounds.time
        var tokens = try NumberWords.joined(try Tokenizer.tokens(of: text))
        guard !tokens.isEmpty else { throw ExpressionError(.empty) }
        let asked = try Precision.take(from: &tokens) ?? rounding ?? .usual
        guard asked.digits <= Bounds.precision else { throw ExpressionError(.tooManyPlaces(limit: Bounds.precision)) }
        do {
            return try work(tokens, asked, previous, end)
        } catch {
            // "Area of a circle = pi*2^2", "no explanation, just 36 × 25": words before the calculation.
            guard error.isOfWording, let part = expressionAmongWords(tokens) else { throw error }
            do {
                return try work(part, asked, previous, end)
            } catch let second {
                throw second.isOfWording ? error : second
            }
        }
    }

    private static func work(
        _ tokens: [Token],
        _ rounding: Rounding,
        _ previous: Rational?,
        _ end: ContinuousClock.Instant
    ) throws(ExpressionError) -> Calculation {
        let conversion = try Conversion.read(tokens)
        let items = try ItemReader(conversion?.amount ?? tokens, previous: conversion == nil ? previous : nil).items
        if conversion == nil, items.contains(where: \.isEquals) {
            return try Equation(items, end: end).solution(rounding)
        }
        let program = try Program(items)
        var (number, notes) = try Rounder(program, conversion, end).text(rounding)
        let spelled = Program.spelled(items)
        var result = Calculation(number: number.decimal, unit: conversion?.to.symbol, rounding: rounding)
        if let conversion {
            result.understood = "\(spelled) \(conversion.from.symbol)"
        } else if items.count > 1, spelled.utf8.count <= 200,
            !isSame(spelled, tokens.map { $0.number?.plain ?? $0.text }.joined())
        {
            result.understood = spelled
        }
        if case .exact(let value) = number.value, !number.decimal.isExact, value.bits < 128 {
            result.fraction = value.plain
        }
        if result.fraction?.contains("/") == false { result.fraction = nil }
        notes = notes.filter { $0 != .radians || conversion == nil }
        result.notes = Note.order.filter(notes.contains)
        return result
    }

    private static func isSame(_ a: String, _ b: String) -> Bool {
        func bare(_ text: String) -> String {
            String(
                text.compactMap { character -> Character? in
                    switch character {
                    case "×": "*"
                    case "÷": "/"
                    case "−": "-"
                    case "π": "p"
                    case " ", "=", "?": nil
                    default: character
                    }
                }
            ).replacing("pi", with: "p").replacing("sqrt", with: "√")
        }
        return bare(a) == bare(b)
    }

    /// The last part between punctuation that holds an operation, if nothing of the rest does.
    private static func expressionAmongWords(_ tokens: [Token]) -> [Token]? {
        func separates(_ token: Token) -> Bool { [",", ";", ":", "="].contains { token.isSign($0) } }
        func calculates(_ part: ArraySlice<Token>) -> Bool {
            part.contains { token in
                ["+", "-", "*", "/", "^", "!", "%", "√", "("].contains { token.isSign($0) }
            }
        }
        let parts = tokens.split(whereSeparator: separates)
        let calculating = parts.filter(calculates)
        guard parts.count > 1, calculating.count == 1, let part = calculating.first else { return nil }
        return Array(part)
    }
}

extension ExpressionError {
    /// Whether the words around the calculation may be to blame.
    var isOfWording: Bool {
        switch reason {
        case .unknownWord, .unexpected, .missingOperator, .missingOperand: true
        default: false
        }
    }
}

extension Note {
    static let order: [Note] = [.percentOfLeft, .percentAsRemainder, .flooredModulo, .radians, .decimalLogarithm]
}

/// Computes with more and more bits until the digits asked for no longer change.
struct Rounder {
    let program: Program
    let conversion: Conversion?
    let end: ContinuousClock.Instant

    init(_ program: Program, _ conversion: Conversion?, _ end: ContinuousClock.Instant) {
        self.program = program
        self.conversion = conversion
        self.end = end
    }

    private func run(_ bits: Int) throws(ExpressionError) -> (Number, Set<Note>) {
        let (value, notes) = try Evaluation.run(program, bits: bits, until: end)
        guard let conversion else { return (value, notes) }
        return (try conversion.convert(value, Arithmetic(bits: bits, position: 1, name: conversion.from.symbol)), notes)
    }

    func text(_ rounding: Rounding) throws(ExpressionError) -> ((value: Number, decimal: DecimalText), Set<Note>) {
        var bits = Int(Double(rounding.digits) * 3.33) + 96
        var before: DecimalText?
        var value = Number.exact(Rational(0))
        var notes: Set<Note> = []
        for attempt in 0..<6 {
            (value, notes) = try run(bits)
            switch value {
            case .exact(let exact): return ((value, exact.text(rounding)), notes)
            case .real(let real):
                // A difference of equal numbers: what is left shrinks as fast as bits are added.
                if attempt >= 2, real.isZero || real.exponent < -bits / 2 {
                    return ((value, DecimalText(text: "0", isExact: false)), notes)
                }
                let text = real.text(rounding)
                if let before, before == text { return ((value, text), notes) }
                before = text
                if case .places(let places) = rounding, real.exponent > 0, real.exponent < 4 * Bounds.precision {
                    bits = max(bits, Int(Double(places) * 3.33) + real.exponent + 96)
                }
                bits += attempt == 0 ? 64 : bits
                if bits > 200_000 { bits = 200_000 }
            }
        }
        return ((value, before ?? DecimalText(text: "0", isExact: false)), notes)
    }
}

/// A linear equation with one unknown.
struct Equation {
    private let left: Program
    private let right: Program
    private let items: [Item]
    private let end: ContinuousClock.Instant

    init(_ items: [Item], end: ContinuousClock.Instant) throws(ExpressionError) {
        guard let sign = items.firstIndex(where: \.isEquals) else { throw ExpressionError(.noExpression) }
        if let second = items.lastIndex(where: \.isEquals), second != sign {
            throw ExpressionError(.unexpected("="), at: items[second].position)
        }
        guard items.contains(where: \.isVariable) else {
            throw ExpressionError(.unexpected("="), at: items[sign].position)
        }
        left = try Program(items[..<sign])
        right = try Program(items[(sign + 1)...])
        self.items = items
        self.end = end
    }

    /// Left side minus right side, where the unknown is the value.
    private func difference(_ value: Rational) throws(ExpressionError) -> Rational {
        let arithmetic = Arithmetic(bits: 128, position: 1, name: "=")
        let (left, _) = try Evaluation.run(left, bits: 128, until: end, variable: value)
        let (right, _) = try Evaluation.run(right, bits: 128, until: end, variable: value)
        guard let result = try arithmetic.subtract(left, right).exact else { throw ExpressionError(.notLinear) }
        return result
    }

    func solution(_ rounding: Rounding) throws(ExpressionError) -> Calculation {
        let atZero = try difference(Rational(0))
        let slope = try difference(Rational(1)) - atZero
        // A line through two points is the function only if other points lie on it too.
        for probe in [Rational(7, 3), Rational(-5), Rational(1009)] {
            guard try difference(probe).isEqual(to: slope * probe + atZero) else { throw ExpressionError(.notLinear) }
        }
        guard !slope.isZero else { throw ExpressionError(atZero.isZero ? .everyNumberSolves : .noSolution) }
        let value = -(atZero / slope)
        let number = value.text(rounding)
        var result = Calculation(
            number: number,
            understood: Program.spelled(items),
            rounding: rounding,
            isSolution: true
        )
        if !number.isExact, value.bits < 128 { result.fraction = value.plain }
        return result
    }
}
