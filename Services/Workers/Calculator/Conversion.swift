/// A question about units: so much of one, in another.
struct Conversion {
    var amount: [Token]
    var from: Unit
    var to: Unit

    private static let connectors: [[String]] = [
        "is how many", "are how many", "is what in", "equals how many", "equal to how many", "= how many", "= ? ", "to",
        "into", "in",
        "as", "=", "换算成", "换算为", "转换成", "转换为", "转换到", "转化为", "换成", "转成", "转为", "折合成", "折合", "相当于多少", "是多少", "等于多少",
        "合多少", "有多少", "为多少", "是几", "等于几", "等于", "是", "合", "到",
    ].map { Vocabulary.pieces($0) }

    private static let explicit = ["to", "into", "换算成", "换算为", "转换成", "转换为"].map { Vocabulary.pieces($0) }

    /// Reads such a question; nil if the text is none.
    static func read(_ tokens: [Token]) throws(ExpressionError) -> Conversion? {
        var tokens = tokens
        while let last = tokens.last, isEnding(last) { tokens.removeLast() }
        if let conversion = howMany(tokens) { return conversion }
        var failure: ExpressionError?
        guard tokens.contains(where: \.isWord) else { return nil }
        for index in tokens.indices.dropFirst() where tokens[index].isWord || tokens[index].isSign("=") {
            for words in connectors where matches(tokens, index, words) {
                let target = tokens[(index + words.count)...]
                guard let to = Units.parse(target) else {
                    // 10 miles to zorks
                    let isNamed =
                        explicit.contains(words) && !target.isEmpty && target.count <= 3 && target.allSatisfy(\.isWord)
                    if isNamed, let name = target.first, quantity(tokens[..<index]) != nil, !tokens[..<index].isEmpty {
                        let unit = target.map(\.original).joined(separator: name.isHan ? "" : " ")
                        failure = failure ?? ExpressionError(.unknownUnit(unit), at: name.position)
                    }
                    continue
                }
                guard let (amount, from) = quantity(tokens[..<index]) else { continue }
                if from.dimension == to.dimension { return Conversion(amount: amount, from: from, to: to) }
                failure = failure ?? ExpressionError(.unitsDiffer(from.symbol, to.symbol))
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// "how many seconds are there in 3.5 hours"
    private static func howMany(_ tokens: [Token]) -> Conversion? {
        guard let start = tokens.indices.first(where: { matches(tokens, $0, ["how", "many"]) }) else { return nil }
        for index in tokens.indices.dropFirst(start + 3) {
            let words = [
                "are there in", "are in", "is in", "is there in", "in", "make up", "make", "is", "are", "does",
            ]
            for verb in words.map({ Vocabulary.pieces($0) }) where matches(tokens, index, verb) {
                guard let to = Units.parse(tokens[(start + 2)..<index]) else { continue }
                var source = Array(tokens[(index + verb.count)...])
                if source.first?.text == "a" || source.first?.text == "an" || source.first?.text == "one" {
                    source[0].kind = .number(Rational(1))
                }
                guard let (amount, from) = quantity(source[...]), from.dimension == to.dimension else { continue }
                return Conversion(amount: amount, from: from, to: to)
            }
        }
        return nil
    }

    /// An amount, and the unit that stands after it.
    private static func quantity(_ tokens: ArraySlice<Token>) -> ([Token], Unit)? {
        for start in tokens.indices.suffix(12) where start > tokens.startIndex {
            guard tokens[start - 1].number != nil || tokens[start - 1].isSign(")") else { continue }
            if let unit = Units.parse(tokens[start...]) { return (Array(tokens[..<start]), unit) }
        }
        return nil
    }

    private static func isEnding(_ token: Token) -> Bool {
        ["?", ";", "!", "please", "呢", "吗", "啊", ",", "="].contains(token.text)
    }

    private static func matches(_ tokens: [Token], _ start: Int, _ words: [String]) -> Bool {
        start + words.count <= tokens.count
            && words.indices.allSatisfy { tokens[start + $0].number == nil && tokens[start + $0].text == words[$0] }
    }

    /// The amount in the other unit.
    func convert(_ value: Number, _ arithmetic: Arithmetic) throws(ExpressionError) -> Number {
        var base = try arithmetic.multiply(value, .exact(from.factor))
        if let offset = from.offset { base = try arithmetic.add(base, .exact(offset)) }
        if let offset = to.offset { base = try arithmetic.subtract(base, .exact(offset)) }
        return try arithmetic.divide(base, .exact(to.factor))
    }
}
