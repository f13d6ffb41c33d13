/// Turns tokens into items. Words that mean nothing for the calculation are left out; words that are not known are an
/// error, never a guess.
struct ItemReader {
    var items: [Item] = []

    init(_ tokens: [Token], previous: Rational?) throws(ExpressionError) {
        var tokens = tokens
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            if let value = token.number {
                items.append(Item(.number(value), token.original, at: token.position))
                index += 1
            } else if let (meaning, length) = Vocabulary.meaning(tokens, at: index) {
                let isSign = !token.isWord
                if case .filler = meaning {
                } else {
                    let text = tokens[index..<(index + length)].map(\.original).joined(
                        separator: token.isHan ? "" : " "
                    )
                    items.append(Item(.meaning(meaning), text, at: token.position, isSign: isSign))
                }
                index += length
            } else if token.isWord, !token.isHan, let corrected = Vocabulary.corrected(token.text) {
                tokens[index].text = corrected
            } else if token.isWord {
                var word = token.original
                while token.isHan, index + 1 < tokens.count, tokens[index + 1].isHan,
                    Vocabulary.meaning(tokens, at: index + 1) == nil
                {
                    index += 1
                    word += tokens[index].original
                }
                throw ExpressionError(.unknownWord(word), at: token.position)
            } else {
                throw ExpressionError(.unexpected(token.original), at: token.position)
            }
        }
        trim()
        if let previous, let first = items.first, continues(first) {
            items.insert(Item(.number(previous), previous.plain, at: first.position), at: 0)
        }
        try rewrite()
    }

    func continues(_ item: Item) -> Bool {
        guard item.binary != nil || item.functionAfter != nil || item.postfix != nil else { return false }
        return !item.isSign || item.binary == .multiply || item.binary == .divide || item.binary == .power
    }

    /// Takes away what only separates, at both ends.
    mutating func trim() {
        func separates(_ item: Item) -> Bool {
            switch item.meaning {
            case .comma, .clause, .and, .equals, .of, .possessive, .by: true
            default: false
            }
        }
        while let first = items.first {
            // 求 x：…
            let names = first.isVariable && items.count > 2 && separates(items[1]) && !items[1].isEquals
            guard separates(first) || names else { break }
            items.removeFirst()
        }
        while let last = items.last, separates(last) { items.removeLast() }
    }

    mutating func rewrite() throws(ExpressionError) {
        resolveMultiplicationSign()
        resolveModuloCall()
        resolvePercentAndFactorial()
        resolveVerbs()
        resolveListsBefore()
        resolveListsAfter()
        resolveLogarithms()
        resolvePowers()
        resolveRemainder()
        resolveSmallWords()
        resolveFunctionsAfter()
        insertMultiplications()
    }
}
