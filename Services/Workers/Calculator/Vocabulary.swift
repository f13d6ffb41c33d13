internal import Text

/// What a word or a row of words means.
enum Meaning {
    case binary(BinaryOperator)
    case postfix(PostfixOperator)
    case function(Function)
    /// A function whose name follows its argument: 256开平方, 5 factorial.
    case functionAfter(Function)
    case constant(Constant)
    case negative
    case open
    case close
    case of
    /// 的
    case possessive
    /// and, 和
    case and
    case comma
    case clause
    case equals
    case variable
    /// 次方, "power": ends an exponent in words.
    case powerEnd
    /// 的余数: the division before it is to give the remainder.
    case remainder
    /// 的和, 的积: how the two numbers before it are combined.
    case combination(BinaryOperator)
    /// "add 3 to 4", "divide 10 by 2"
    case verb(BinaryOperator)
    /// by, to
    case by
    /// from, 从
    case from
    /// "log base"
    case logBase
    /// 以 2 为底
    case baseStart
    case baseEnd
    case filler
    /// 打八五折: the number before it is the price in tenths or hundredths.
    case discount
}

/// Every word that is understood, English and Chinese. There is no other way to a function than this table.
enum Vocabulary {
    private static let entries: [(Meaning, String)] = [
        (.binary(.add), "+|plus|added to|加上|再加上|再加|加"),
        (.binary(.subtract), "-|minus|take away|减去|再减去|再减|减掉|减"),
        (.binary(.multiply), "*|times|multiplied by|multiply by|乘以|再乘以|乘上|乘|再乘"),
        (.binary(.divide), "/|divided by|divide by|over|除以|再除以|除"),
        (.binary(.modulo), "mod|modulo|modulus|取模|取余|模"),
        (.binary(.power), "^|to the power of|to the power|to the|raised to the power of|raised to the|raised to"),
        (.binary(.off), "off|off of"),
        (.binary(.sumTo), "加到|一直加到"),
        (.postfix(.factorial), "!"),
        (.postfix(.percent), "%|percent|per cent|pct"),
        (.postfix(.permille), "‰"),
        (.postfix(.degrees), "°|degrees|degree|deg|度"),
        (.postfix(.squared), "squared|的平方|平方"),
        (.postfix(.cubed), "cubed|的立方|立方"),
        (.discount, "折"),
        (.function(.sqrt), "sqrt|square root of|square root|√|根号下|根号"),
        (.function(.cbrt), "cbrt|cube root of|cube root|∛"),
        (.function(.exp), "exp"),
        (.function(.ln), "ln|natural log of|natural logarithm of"),
        (.function(.log10), "log10|lg|log_10"),
        (.function(.log2), "log2|lb|log_2"),
        (.function(.log), "log|log of|logarithm of"),
        (.function(.sin), "sin|sine|sine of|sin of|正弦"),
        (.function(.cos), "cos|cosine|cosine of|cos of|余弦"),
        (.function(.tan), "tan|tangent|tangent of|tan of|tg|正切"),
        (.function(.asin), "asin|arcsin|arc sine of"),
        (.function(.acos), "acos|arccos|arc cosine of"),
        (.function(.atan), "atan|arctan|arc tangent of"),
        (.function(.atan2), "atan2"),
        (.function(.sinh), "sinh"), (.function(.cosh), "cosh"), (.function(.tanh), "tanh"),
        (.function(.asinh), "asinh|arsinh"), (.function(.acosh), "acosh|arcosh"), (.function(.atanh), "atanh|artanh"),
        (.function(.abs), "abs|absolute value of|magnitude of"),
        (.function(.floor), "floor|floor of|向下取整"),
        (.function(.ceil), "ceil|ceiling|ceiling of|向上取整"),
        (.function(.round), "round|round of"),
        (.function(.truncate), "trunc|truncate|int"),
        (.function(.sign), "sign|sgn"),
        (.function(.min), "min|minimum|minimum of|smallest of|least of|lowest of"),
        (.function(.max), "max|maximum|maximum of|largest of|greatest of|highest of"),
        (.function(.sum), "sum|sum of|total of|add up|add together"),
        (.function(.product), "product|product of"),
        (.function(.average), "average|average of|avg|mean|mean of|arithmetic mean of"),
        (.function(.median), "median|median of"),
        (
            .function(.gcd),
            "gcd|hcf|greatest common divisor of|greatest common factor of|highest common factor of|gcd of"
        ),
        (.function(.lcm), "lcm|least common multiple of|lowest common multiple of|lcm of"),
        (.function(.factorial), "factorial|factorial of"),
        (.function(.gamma), "gamma"),
        (.function(.binomial), "binomial|comb"), (.binary(.choose), "choose|ncr"),
        (.function(.permutations), "npr|perm"),
        (.function(.root), "root"),
        (.function(.power), "pow"),
        (.function(.difference), "difference between|difference of|difference"),
        (.function(.quotient), "quotient of|quotient"),
        (.function(.double), "double|twice"), (.function(.triple), "triple|thrice"),
        (.function(.reciprocal), "reciprocal of|inverse of"),
        (.function(.square), "square of|square"), (.function(.cube), "cube of|cube"),
        (.functionAfter(.sqrt), "开平方|开方|的平方根|的算术平方根|平方根|开根号|开平方根|的根号"),
        (.functionAfter(.cbrt), "开立方|的立方根|立方根|开三次方"),
        (.functionAfter(.factorial), "的阶乘|阶乘"),
        (.functionAfter(.abs), "的绝对值"),
        (.functionAfter(.reciprocal), "的倒数"),
        (.functionAfter(.ln), "的自然对数"),
        (.functionAfter(.log10), "的常用对数|的对数"),
        (.functionAfter(.sin), "的正弦|的正弦值"), (.functionAfter(.cos), "的余弦|的余弦值"),
        (.functionAfter(.tan), "的正切|的正切值"),
        (.functionAfter(.half), "的一半"),
        (.functionAfter(.double), "的两倍|的二倍|翻倍"),
        (.functionAfter(.average), "的平均数|的平均值|的均值|平均数|平均值"),
        (.functionAfter(.median), "的中位数"),
        (.functionAfter(.max), "的最大值|中最大的|里最大的|最大值"),
        (.functionAfter(.min), "的最小值|中最小的|里最小的|最小值"),
        (.functionAfter(.sum), "的总和|之和|的和|总和"),
        (.functionAfter(.product), "的乘积|之积|的积"),
        (.functionAfter(.gcd), "的最大公约数|的最大公因数|最大公约数|最大公因数"),
        (.functionAfter(.lcm), "的最小公倍数|最小公倍数"),
        (.combination(.subtract), "的差|之差"), (.combination(.divide), "的商|之商"),
        (.constant(.pi), "pi|圆周率"), (.constant(.e), "e|自然常数"), (.constant(.tau), "tau"),
        (.constant(.goldenRatio), "phi|golden ratio|黄金分割比"),
        (.negative, "negative|负"),
        (.verb(.add), "add"), (.verb(.subtract), "subtract"), (.verb(.multiply), "multiply"),
        (.verb(.divide), "divide"),
        (.by, "by|to"),
        (.from, "from|从"),
        (.open, "("), (.close, ")"),
        (.of, "of|tip on|tax on|interest on"),
        (.possessive, "的"),
        (.and, "and|和|与|跟|同|&"),
        (.comma, ","),
        (.clause, ";|:"),
        (.equals, "="),
        (.variable, "x"),
        (.powerEnd, "次方|次幂|power|th power"),
        (.remainder, "的余数|余几|余多少|余数是多少|余数|remainder of|remainder when|remainder"),
        (.logBase, "log base|logarithm base|log to base|log to the base"),
        (.baseStart, "以"), (.baseEnd, "为底的|为底"),
        // Wording around a calculation, in pieces, so that every row of them is understood.
        (
            .filler,
            "convert|change|transform|what|what's|whats|is|are|the|a|an|calculate|compute|evaluate|work out|figure out|find|find out|solve|"
                + "tell me|tell|me|can|could|would|will|you|please|pls|hey|hi|hello|ok|so|value|value of|result|result of|answer|"
                + "answer to|how much|how many|do|does|make|makes|equal|equals|equal to|give|give me|show|show me|"
                + "i|want|need|to know|know|just|now|then|and then|for me|for|number|exactly|exact|quickly|help|help me|"
                + "s|?|'|!?|that|it|be|when|if|i have|have|let's|lets|get|get me|my|we|in total|total|altogether"
        ),
        (
            .filler,
            "请|请问|请你|请帮我|帮我|帮忙|帮|我|你|您|麻烦|能|能不能|可以|可否|算|算算|算一下|算一算|计算|计算一下|计算下|求|求出|"
                + "求解|解|解方程|换算|转换|换成|方程|一下|等于|等于多少|等于几|等与|等于什么|是多少|是几|是什么|为多少|得多少|得几|多少|几|结果|"
                + "结果是|答案|答案是|的结果|的值|的答案|值|是|等|得|有|吗|呢|吧|啊|呀|了|那|那么|如果|然后|给我|告诉我|直接|直接给我|"
                + "下|数|口算|再|把|将|倍|打|元|块|块钱|美元|一共|总共|共|加起来|个|这|几个|个数|以上|它|帮我算|的话|出|看看|想知道|知道|所得"
        ),
    ]

    private struct Phrase {
        let words: [String]
        let meaning: Meaning
    }

    /// Phrases by their first word, longest first.
    private static let phrases: [String: [Phrase]] = {
        var table: [String: [Phrase]] = [:]
        for (meaning, list) in entries {
            for spelling in list.split(separator: "|") {
                let words = pieces(String(spelling))
                if let first = words.first { table[first, default: []].append(Phrase(words: words, meaning: meaning)) }
            }
        }
        return table.mapValues { $0.sorted { $0.words.count > $1.words.count } }
    }()

    /// Words of Latin text, characters of Han text.
    static func pieces(_ spelling: String) -> [String] {
        var result: [String] = []
        for word in spelling.split(separator: " ") {
            if word.unicodeScalars.contains(where: Tokenizer.isHan) {
                result += word.map { String($0) }
            } else {
                result.append(String(word))
            }
        }
        return result
    }

    /// The longest phrase that begins at the token.
    static func meaning(_ tokens: [Token], at index: Int) -> (Meaning, Int)? {
        guard index < tokens.count, tokens[index].number == nil, let candidates = phrases[tokens[index].text] else {
            return nil
        }
        for phrase in candidates {
            guard index + phrase.words.count <= tokens.count else { continue }
            let fits = phrase.words.indices.allSatisfy { offset in
                tokens[index + offset].number == nil && tokens[index + offset].text == phrase.words[offset]
            }
            if fits { return (phrase.meaning, phrase.words.count) }
        }
        return nil
    }

    /// Length of a phrase of two or more Han characters at the token, so that 一下 is not read as a number.
    static func longPhrase(_ tokens: [Token], at index: Int) -> Int? {
        guard let (_, length) = meaning(tokens, at: index), length > 1 else { return nil }
        return length
    }

    /// Names whose parentheses hold several arguments.
    static let severalArguments: Set<String> = [
        "min", "max", "sum", "product", "average", "avg", "mean", "median", "gcd", "hcf", "lcm", "atan2", "binomial",
        "choose",
        "ncr", "comb", "npr", "perm", "root", "pow", "power", "mod", "modulo", "log", "round", "minimum", "maximum",
    ]

    /// Names that end in digits.
    static let namesWithDigits: Set<String> = [
        "log10", "log2", "log_10", "log_2", "atan2", "m2", "m3", "cm2", "cm3", "km2", "mm2", "mm3", "ft2", "ft3", "in2",
    ]

    private static let listWords: [String] = [
        "average of", "mean of", "sum of", "product of", "median of", "minimum of", "maximum of", "smallest of",
        "largest of",
        "gcd of", "lcm of", "greatest common", "least common", "lowest common", "highest common", "平均", "中位数", "最大",
        "最小",
        "总和", "之和", "add up",
    ]

    /// Whether commas in the whole text separate the numbers of a list.
    static func mentionsList(_ text: String) -> Bool {
        let lower = text.lowercased()
        return listWords.contains { lower.contains($0) }
    }

    /// A word of the table that differs by one slip of the finger: "calcualte", "pluss".
    static func corrected(_ word: String) -> String? {
        let letters = Array(word.utf8)
        guard letters.count >= 5, letters.allSatisfy({ 0x61...0x7A ~= $0 }) else { return nil }
        let near = correctable.filter { Slip.separates(letters, Array($0.utf8)) }
        return near.count == 1 ? near.first : nil
    }

    private static let correctable = [
        "calculate", "compute", "plus", "minus", "times", "multiplied", "divided", "square", "percent", "equals",
        "what",
        "please", "average", "factorial", "convert", "squared", "evaluate",
    ]
}
