/// Finds in the text how many digits are wanted, and takes those words away: "to 30 places", "6 digits", 保留两位小数.
enum Precision {
    private enum Unit {
        case places
        case significant
        /// 位, "digits": places after 小数点后, else significant digits.
        case digits
    }

    private static let units: [(words: [String], unit: Unit)] = [
        ("digits after the decimal point", Unit.places), ("digits after the point", .places),
        ("decimal places", .places),
        ("decimal place", .places), ("decimal digits", .places), ("decimal digit", .places), ("decimals", .places),
        ("decimal", .places), ("places of decimals", .places), ("places", .places), ("place", .places), ("dp", .places),
        ("significant digits", .significant), ("significant digit", .significant),
        ("significant figures", .significant),
        ("significant figure", .significant), ("sig figs", .significant), ("sig fig", .significant),
        ("sf", .significant),
        ("digits of precision", .digits), ("digits", .digits), ("digit", .digits), ("位小数", .places),
        ("位有效数字", .significant), ("个有效数字", .significant), ("位有效数", .significant), ("位精度", .digits), ("位数字", .digits),
        ("位", .digits),
    ].map { (Vocabulary.pieces($0.0), $0.1) }

    private static let leads: [[String]] = [
        "to", "with", "at", "rounded to", "round to", "rounded", "correct to", "accurate to", "up to", "using", "in",
        "give", "show",
        "and", "exact to", "precise to", "a precision of", "precision of", "about", "show me", "give me", "保留到", "保留",
        "精确到", "精确至",
        "小数点后面", "小数点后", "取", "四舍五入到", "四舍五入保留", "四舍五入", "并", "结果", "答案", "要", "到", "给出", "前", ",", "(", "算到", "精确",
    ].map { Vocabulary.pieces($0) }

    /// The rounding asked for in the words, if any; the words are removed from the tokens.
    static func take(from tokens: inout [Token]) throws(ExpressionError) -> Rounding? {
        if let rounding = takeWhole(&tokens) ?? takeStep(&tokens) { return rounding }
        for index in tokens.indices.dropFirst() where tokens[index].isWord {
            guard let value = tokens[index - 1].number else { continue }
            for (words, unit) in units where matches(tokens, index, words) {
                guard let count = value.int, count >= 0 else { continue }
                var start = index - 1
                var isPlaces = unit == .places
                while let lead = leads.first(where: { $0.count <= start && matches(tokens, start - $0.count, $0) }) {
                    start -= lead.count
                    if lead.first == "小" { isPlaces = true }
                }
                var end = index + words.count
                if start > 0, tokens[start].isSign("("), end < tokens.count, tokens[end].isSign(")") { end += 1 }
                guard count <= Bounds.precision else {
                    throw ExpressionError(.tooManyPlaces(limit: Bounds.precision), at: tokens[index - 1].position)
                }
                tokens.removeSubrange(start..<end)
                return isPlaces ? .places(count) : .significant(max(count, 1), strict: true)
            }
        }
        return nil
    }

    /// "to the nearest whole number", 取整数
    private static func takeWhole(_ tokens: inout [Token]) -> Rounding? {
        guard tokens.contains(where: \.isWord) else { return nil }
        let phrases = [
            "rounded to the nearest whole number", "to the nearest whole number", "rounded to the nearest integer",
            "to the nearest integer", "精确到整数", "保留整数", "精确到个位", "四舍五入到整数",
        ].map { Vocabulary.pieces($0) }
        for words in phrases {
            if let start = tokens.indices.first(where: { matches(tokens, $0, words) }) {
                tokens.removeSubrange(start..<(start + words.count))
                return .places(0)
            }
        }
        return nil
    }

    /// 精确到0.01
    private static func takeStep(_ tokens: inout [Token]) -> Rounding? {
        guard tokens.contains(where: \.isWord) else { return nil }
        for words in ["精确到", "accurate to", "to the nearest"].map({ Vocabulary.pieces($0) }) {
            for start in tokens.indices where matches(tokens, start, words) {
                let place = start + words.count
                guard place < tokens.count, let value = tokens[place].number, value.sign > 0,
                    value.isLess(than: Rational(1)), let decimals = value.decimals, decimals <= Bounds.precision
                else { continue }
                tokens.removeSubrange(start...place)
                return .places(decimals)
            }
        }
        return nil
    }

    private static func matches(_ tokens: [Token], _ start: Int, _ words: [String]) -> Bool {
        guard start >= 0, start + words.count <= tokens.count else { return false }
        return words.indices.allSatisfy { tokens[start + $0].number == nil && tokens[start + $0].text == words[$0] }
    }
}
