/// Why a text could not be calculated: what was wrong, and where.
struct ExpressionError: Error, Hashable {
    enum Reason: Hashable {
        case empty
        case noExpression
        case unknownWord(String)
        case unexpected(String)
        case missingOperand(after: String)
        case missingOperator(before: String)
        case unclosedParenthesis
        case unopenedParenthesis
        case badNumber(String, NumberFault)
        case wrongCount(function: String, expected: String, found: Int)
        case divisionByZero
        case undefined(operation: String, Domain)
        case tooLarge(String)
        case tooManyPlaces(limit: Int)
        case tooLong(limit: Int)
        case tooSlow
        case unknownUnit(String)
        case unitsDiffer(String, String)
        case notLinear
        case everyNumberSolves
        case noSolution
    }

    enum NumberFault: Hashable {
        case twoPoints
        case comma
        case exponent
        case groups
    }

    /// Where an operation has a value.
    enum Domain: Hashable {
        case positive
        case notNegative
        case wholeNotNegative
        case whole
        case minusOneToOne
        case evenRootOfNegative
        case noAnswer
    }

    let reason: Reason
    /// Place in the text, in characters from 1; nil where the whole is meant.
    let position: Int?

    init(_ reason: Reason, at position: Int? = nil) {
        self.reason = reason
        self.position = position
    }

    /// Stable name of the reason.
    var code: String {
        switch reason {
        case .empty, .noExpression: "no_expression"
        case .unknownWord: "unknown_word"
        case .unexpected, .missingOperand, .missingOperator, .wrongCount: "invalid_expression"
        case .unclosedParenthesis, .unopenedParenthesis: "unbalanced_parenthesis"
        case .badNumber: "invalid_number"
        case .divisionByZero: "division_by_zero"
        case .undefined: "undefined"
        case .tooLarge, .tooLong, .tooManyPlaces: "too_large"
        case .tooSlow: "too_slow"
        case .unknownUnit: "unknown_unit"
        case .unitsDiffer: "units_differ"
        case .notLinear, .everyNumberSolves, .noSolution: "unsolvable"
        }
    }
}

extension ExpressionError {
    /// One sentence in the language of the question.
    func message(chinese: Bool) -> String {
        let place = position.map { chinese ? "（第 \($0) 个字符）" : " (character \($0))" } ?? ""
        return (chinese ? chineseSentence : englishSentence) + place
    }

    /// What can be done about it.
    func hint(chinese: Bool) -> String? {
        switch reason {
        case .empty, .noExpression, .unknownWord, .unexpected:
            chinese
                ? "请写成算式，例如 (3+5)*2、300的15%、10英里是多少公里。"
                : "Write it as a calculation, such as (3 + 5) * 2, 15% of 300 or 10 miles to km."
        case .badNumber(_, .comma): chinese ? "小数点请用“.”。" : "Write a decimal with a point: 3.5."
        default: nil
        }
    }

    private var englishSentence: String {
        switch reason {
        case .empty: "there is nothing to calculate: the text is empty"
        case .noExpression: "there is no calculation in the text"
        case .unknownWord(let word): "unknown word \"\(word)\": it is no number, operator, function or unit known here"
        case .unexpected(let token): "\"\(token)\" cannot stand here"
        case .missingOperand(let operation): "a number is missing after \"\(operation)\""
        case .missingOperator(let token): "an operator is missing before \"\(token)\""
        case .unclosedParenthesis: "a parenthesis is opened but never closed: \")\" is missing"
        case .unopenedParenthesis: "a parenthesis is closed but was never opened: \"(\" is missing"
        case .badNumber(let text, let fault): "\"\(text)\" is no number: \(fault.english)"
        case .wrongCount(let name, let expected, let found): "\(name) takes \(expected) numbers, not \(found)"
        case .divisionByZero: "division by zero has no value"
        case .undefined(let operation, let domain): "\(operation) has no real value here: \(domain.english)"
        case .tooLarge(let limit): "the result is too large: the limit is \(limit)"
        case .tooManyPlaces(let limit): "too many digits were asked for: the limit is \(limit)"
        case .tooLong(let limit): "the text is too long: the limit is \(limit) characters"
        case .tooSlow: "the calculation is too large to finish in the time limit"
        case .unknownUnit(let unit): "unknown unit \"\(unit)\""
        case .unitsDiffer(let from, let to): "\(from) cannot be converted to \(to): they measure different things"
        case .notLinear: "only linear equations with the one unknown x can be solved here"
        case .everyNumberSolves: "every number solves this equation"
        case .noSolution: "no number solves this equation"
        }
    }

    private var chineseSentence: String {
        switch reason {
        case .empty: "文本是空的，没有可以计算的内容"
        case .noExpression: "文本里没有算式"
        case .unknownWord(let word): "不认识“\(word)”：它不是这里已知的数字、运算、函数或单位"
        case .unexpected(let token): "“\(token)”不能出现在这里"
        case .missingOperand(let operation): "“\(operation)”后面缺少数字"
        case .missingOperator(let token): "“\(token)”前面缺少运算符"
        case .unclosedParenthesis: "括号没有闭合：缺少“)”"
        case .unopenedParenthesis: "多了右括号：缺少“(”"
        case .badNumber(let text, let fault): "“\(text)”不是数字：\(fault.chinese)"
        case .wrongCount(let name, let expected, let found): "\(name) 需要 \(expected) 个数，而不是 \(found) 个"
        case .divisionByZero: "除数为零，没有意义"
        case .undefined(let operation, let domain): "\(operation) 在这里没有实数值：\(domain.chinese)"
        case .tooLarge(let limit): "结果太大：上限是 \(limit)"
        case .tooManyPlaces(let limit): "要求的位数太多：上限是 \(limit)"
        case .tooLong(let limit): "文本太长：上限是 \(limit) 个字符"
        case .tooSlow: "计算量太大，无法在时限内完成"
        case .unknownUnit(let unit): "不认识单位“\(unit)”"
        case .unitsDiffer(let from, let to): "\(from) 不能换算成 \(to)：两者量的不是同一种东西"
        case .notLinear: "这里只能解含一个未知数 x 的一次方程"
        case .everyNumberSolves: "任何数都是这个方程的解"
        case .noSolution: "这个方程无解"
        }
    }
}

extension ExpressionError.NumberFault {
    var english: String {
        switch self {
        case .twoPoints: "it has more than one decimal point"
        case .comma: "a comma between digits separates groups of three"
        case .exponent: "the exponent is too large, the limit is \(Bounds.digits)"
        case .groups: "the number words do not fit together"
        }
    }

    var chinese: String {
        switch self {
        case .twoPoints: "小数点多于一个"
        case .comma: "数字间的逗号只用来分隔千位"
        case .exponent: "指数太大，上限是 \(Bounds.digits)"
        case .groups: "数字写法不成立"
        }
    }
}

extension ExpressionError.Domain {
    var english: String {
        switch self {
        case .positive: "the number must be above zero"
        case .notNegative: "the number must not be negative"
        case .wholeNotNegative: "the number must be whole and not negative"
        case .whole: "the numbers must be whole"
        case .minusOneToOne: "the number must be between -1 and 1"
        case .evenRootOfNegative: "a negative number has no such root"
        case .noAnswer: "the function is not defined there"
        }
    }

    var chinese: String {
        switch self {
        case .positive: "这个数必须大于零"
        case .notNegative: "这个数不能是负数"
        case .wholeNotNegative: "这个数必须是非负整数"
        case .whole: "必须是整数"
        case .minusOneToOne: "这个数必须在 -1 和 1 之间"
        case .evenRootOfNegative: "负数没有这样的根"
        case .noAnswer: "函数在这一点没有定义"
        }
    }
}

/// What keeps every calculation within a second or two and some tens of megabytes. GMP ends the process when memory
/// runs out, so sizes are estimated before anything is computed.
enum Bounds {
    /// Decimal digits of a number, also in between.
    static let digits = 1_000_000
    /// The same in bits, with a little room.
    static let bits = 3_400_000
    /// Bits of all numbers that are alive at once: 32 MB.
    static let liveBits = 256 << 20
    /// Digits that can be asked for.
    static let precision = 10_000
    /// Characters of the text.
    static let text = 100_000
    /// Time for everything.
    static let time = Duration.milliseconds(1300)
    /// As shown in errors.
    static let shown = "1,000,000 digits"
}
