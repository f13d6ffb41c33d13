internal import Lifecycle
internal import SkillKit
internal import Wire

/// Calculates: exactly where that is possible, else to as many digits as asked for.
struct Calculator: Skill {
    struct Arguments: SkillArguments {
        /// Significant digits of results that are not exact.
        var precision: Int?
        /// Digits after the point.
        var places: Int?

        static let descriptions = [
            "precision": "Significant digits of a result that has no exact decimal form, 1 to 10000; 20 if absent.",
            "places": "Digits after the decimal point that the result is rounded to, 0 to 10000.",
        ]
        static let ranges = ["precision": 1...10_000, "places": 0...10_000]
    }

    static let manifest = SkillManifest(
        id: "calculator",
        displayName: "Calculator",
        description: """
            Work out numbers: sums, products, fractions, percentages, powers, roots, logarithms, trigonometry, factorials, \
            averages, linear equations with x, and conversion between units such as miles and kilometres, pounds and \
            kilograms, Celsius and Fahrenheit. Exact arithmetic of any size. \
            算数：加减乘除、分数、百分比、乘方、开方、对数、三角函数、阶乘、平均数、一元一次方程，以及单位换算（英里、公里、磅、公斤、摄氏度、华氏度等）。
            """,
        examples: [
            "what is 12 times 14", "3.5% of 8900", "convert 72 fahrenheit to celsius",
            "the square root of 2 to 30 places",
            "(8 + 2) * 3 / 5", "how many seconds are in 3.5 hours", "average of 4, 8 and 15", "2 to the power of 100",
            "solve 5x - 3 = 22", "计算 128*46", "三加四乘以二等于多少", "2400的15%是多少", "把100英里换算成公里", "256的平方根", "2的10次方是多少",
            "解方程 2x+7=19",
        ],
        timeout: 10,
        cacheTTL: 3600
    )

    func execute(_ input: SkillInput, _ arguments: Arguments, _ context: SkillContext) async throws -> SkillOutput {
        let rounding: Rounding? =
            if let places = arguments.places {
                .places(try Self.checked("places", places, from: 0))
            } else if let precision = arguments.precision {
                .significant(try Self.checked("precision", precision, from: 1), strict: false)
            } else {
                nil
            }
        let text = input.text
        let material = input.separatedMaterial
        let previous = Self.previousAnswer(input)
        // Arithmetic may keep a core busy for a second: on a thread of its own it holds up no other job.
        let result: Result<SkillOutput, SkillError> = await withCheckedContinuation { continuation in
            startThread(named: "calculation") {
                continuation.resume(returning: Self.outcome(text, material, rounding, previous))
            }
        }
        return try result.get()
    }

    private static func checked(_ name: String, _ value: Int, from least: Int) throws(SkillError) -> Int {
        guard value >= least, value <= Bounds.precision else {
            throw SkillError(
                JobError.Code.invalidArguments,
                "invalid arguments: \"\(name)\" must be from \(least) to \(Bounds.precision), not \(value)"
            )
        }
        return value
    }

    /// The number that the calculator answered last in the session.
    private static func previousAnswer(_ input: SkillInput) -> String? {
        if let text = input.previous.last(where: { $0.skill == manifest.id })?.output.text { return text }
        guard let asked = input.history.lastIndex(where: { $0.skills?.contains(manifest.id) == true }) else {
            return nil
        }
        return input.history[(asked + 1)...].first { $0.role == "assistant" }?.text
    }

    private static func outcome(
        _ text: String,
        _ material: String?,
        _ rounding: Rounding?,
        _ previousText: String?
    ) -> Result<SkillOutput, SkillError> {
        let start = ContinuousClock.now
        let previous = previousText?.split(whereSeparator: \.isNewline).first.flatMap { line -> Rational? in
            let first = (try? Tokenizer.tokens(of: String(line))) ?? []
            guard let number = first.first(where: { $0.number != nil })?.number else { return nil }
            return first.first?.isSign("-") == true ? -number : number
        }
        let isChinese = text.unicodeScalars.contains(where: Tokenizer.isHan)
        do {
            return .success(
                try Calculation.answer(text, rounding: rounding, previous: previous, start: start).output(isChinese)
            )
        } catch {
            if let material, error.isOfWording,
                let calculation = try? Calculation.answer(
                    material,
                    rounding: rounding,
                    previous: previous,
                    start: start
                )
            {
                return .success(calculation.output(isChinese))
            }
            return .failure(
                SkillError(error.code, error.message(chinese: isChinese), hint: error.hint(chinese: isChinese))
            )
        }
    }
}

extension Calculation {
    /// Whether the last digits asked for are there: sin(30°) is 0.5, which nobody needs to be told is rounded.
    private var isRoundedOff: Bool {
        guard case .significant(let count, _) = rounding else { return true }
        return number.text.filter(\.isNumber).drop { $0 == "0" }.count + 4 > count
    }

    /// The answer for people and programs: the number comes first, then what there is to say about it.
    func output(_ isChinese: Bool) -> SkillOutput {
        let amount = unit.map { "\(number.text) \($0)" } ?? number.text
        var lines = [isSolution ? "x = \(amount)" : amount]
        if let understood {
            let sign = number.isExact ? "=" : "≈"
            if isSolution {
                lines.append(isChinese ? "方程：\(understood)" : "Equation: \(understood)")
            } else {
                lines.append(number.text.utf8.count <= 80 ? "\(understood) \(sign) \(amount)" : understood)
            }
        }
        if !number.isExact, isRoundedOff {
            let digits = rounding.digits
            let fraction = fraction.map { isChinese ? "，精确值为 \($0)" : "; exactly \($0)" } ?? ""
            switch rounding {
            case .significant:
                lines.append(
                    isChinese
                        ? "四舍五入到 \(digits) 位有效数字\(fraction)" : "Rounded to \(digits) significant digits\(fraction)"
                )
            case .places:
                lines.append(
                    isChinese ? "四舍五入到 \(digits) 位小数\(fraction)" : "Rounded to \(digits) decimal places\(fraction)"
                )
            }
        }
        lines += notes.map { $0.sentence(isChinese) }
        var values: [String: JSONValue] = ["exact": .bool(number.isExact)]
        if let unit { values["unit"] = .string(unit) }
        if let fraction { values["fraction"] = .string(fraction) }
        if let understood { values["expression"] = .string(understood) }
        return SkillOutput(
            text: lines.joined(separator: "\n"),
            parts: [OutputPart(kind: "number", text: number.text, values: values)]
        )
    }
}

extension Note {
    func sentence(_ isChinese: Bool) -> String {
        switch self {
        case .percentOfLeft:
            isChinese ? "加减号后的百分数按它前面的数计算" : "A percentage after + or − is taken of the value before it"
        case .percentAsRemainder:
            isChinese ? "两个数之间的 % 按取余计算" : "% between two numbers is the remainder"
        case .flooredModulo:
            isChinese ? "余数与除数同号（向下取整除法）" : "The remainder has the sign of the divisor (floored division)"
        case .radians:
            isChinese ? "角度按弧度计算；按度请写 sin(30°)" : "Angles are in radians; for degrees write sin(30°)"
        case .decimalLogarithm:
            isChinese ? "log 以 10 为底；自然对数请写 ln" : "log is to base 10; write ln for the natural logarithm"
        }
    }
}
