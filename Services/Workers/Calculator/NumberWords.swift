/// Numbers in words: "twenty-five", "three point one four", 一百二十三, 三分之一, 百分之十五, 120万.
enum NumberWords {
    /// Replaces runs of number words by numbers. Words that only look like numbers (一下) are left alone.
    static func joined(_ tokens: [Token]) throws(ExpressionError) -> [Token] {
        var result: [Token] = []
        var index = 0
        while index < tokens.count {
            if tokens[index].isHan, let length = Vocabulary.longPhrase(tokens, at: index) {
                result += tokens[index..<(index + length)]
                index += length
            } else if let (values, count) = chinese(tokens, index) ?? english(tokens, index) {
                let first = tokens[index]
                for (offset, value) in values.enumerated() {
                    var token = value
                    token.original = tokens[index..<(index + count)].map(\.original).joined(
                        separator: first.isHan ? "" : " "
                    )
                    token.position = first.position
                    token.spaceBefore = offset == 0 && first.spaceBefore
                    result.append(token)
                }
                index += count
            } else {
                result.append(tokens[index])
                index += 1
            }
        }
        return result
    }

    private static func number(_ value: Rational) -> Token {
        Token(kind: .number(value), text: "", original: "", position: 0, spaceBefore: false)
    }
    private static let percent = Token(kind: .sign, text: "%", original: "", position: 0, spaceBefore: false)
    private static let minus = Token(kind: .sign, text: "-", original: "", position: 0, spaceBefore: false)

    // MARK: Chinese

    private static let digits: [String: Int] = [
        "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "壹": 1,
        "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9,
    ]
    private static let units: [String: Int] = ["十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000]
    private static let scales: [String: Int] = ["万": 10_000, "亿": 100_000_000, "萬": 10_000, "億": 100_000_000]

    private static func chinese(_ tokens: [Token], _ start: Int) -> ([Token], Int)? {
        func text(_ index: Int) -> String { index < tokens.count && tokens[index].isWord ? tokens[index].text : "" }
        func follows(_ words: String, _ index: Int) -> Bool {
            words.enumerated().allSatisfy { text(index + $0.offset) == String($0.element) }
        }
        if text(start) == "负", let (value, count) = chineseNumber(tokens, start + 1) {
            return ([minus, number(value)], count + 1)
        }
        for (words, divisor) in [("百分之", 100), ("千分之", 1000)] where follows(words, start) {
            guard let (value, count) = chineseNumber(tokens, start + 3) else { return nil }
            return divisor == 100
                ? ([number(value), percent], count + 3) : ([number(value / Rational(divisor))], count + 3)
        }
        if follows("一半", start) { return ([number(Rational(1, 2))], 2) }
        guard let (value, count) = chineseNumber(tokens, start) else { return nil }
        if follows("分之", start + count), let (top, more) = chineseNumber(tokens, start + count + 2), !value.isZero {
            return ([number(top / value)], count + 2 + more)
        }
        if count == 1, tokens[start].number != nil { return nil }
        return ([number(value)], count)
    }

    /// A number in digits, in characters, or mixed (120万), with decimals after 点.
    private static func chineseNumber(_ tokens: [Token], _ start: Int) -> (Rational, Int)? {
        var index = start
        func text() -> String { index < tokens.count && tokens[index].isWord ? tokens[index].text : "" }
        if index < tokens.count, let value = tokens[index].number {
            index += 1
            var scaled = value
            while let scale = scales[text()] ?? units[text()] {
                scaled = scaled * Rational(scale)
                index += 1
            }
            return (scaled, index - start)
        }
        guard digits[text()] != nil || text() == "十" || text() == "拾" else { return nil }
        var spelled = ""
        var hundredMillions = 0
        var tenThousands = 0
        var section = 0
        var pending: Int?
        var last = 0
        reading: while index < tokens.count, spelled.utf8.count <= 18 {
            let word = text()
            if let digit = digits[word] {
                if last > 0, let pending, pending != 0 { return nil }
                spelled += String(digit)
                pending = digit
            } else if let unit = units[word] {
                section += (pending ?? 1) * unit
                pending = nil
                last = unit
            } else if let scale = scales[word], index > start {
                let part = section + (pending ?? 0)
                if scale == 10_000 {
                    guard tenThousands == 0, part < 100_000_000 else { return nil }
                    tenThousands = part * scale
                } else {
                    guard hundredMillions == 0, part + tenThousands < 10_000_000_000 else { return nil }
                    hundredMillions = (part + tenThousands) * scale
                    tenThousands = 0
                }
                section = 0
                pending = nil
                last = scale
            } else {
                break reading
            }
            index += 1
        }
        var value: Rational
        if last > 0 {
            // 一百二 is 120, but 一百零二 is 102 and 十二 is 12.
            let follows = index >= start + 2 && digits[tokens[index - 2].text] == nil
            let unit = follows && last > 10 ? last / 10 : 1
            value = Rational(hundredMillions + tenThousands + section + (pending ?? 0) * unit)
        } else {
            value = Rational(digits: spelled)
        }
        if text() == "点", index + 1 < tokens.count, digits[tokens[index + 1].text] != nil {
            index += 1
            var decimals = ""
            while let digit = digits[text()] {
                decimals += String(digit)
                index += 1
            }
            value = value + Rational(digits: decimals, exponent: -decimals.utf8.count)
            if let scale = scales[text()] {
                value = value * Rational(scale)
                index += 1
            }
        }
        return (value, index - start)
    }

    // MARK: English

    private static let small: [String: Int] = [
        "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
        "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
        "seventeen": 17, "eighteen": 18, "nineteen": 19,
    ]
    private static let tens: [String: Int] = [
        "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
        "ninety": 90,
    ]
    private static let large: [String: Int] = [
        "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000,
        "dozen": 12,
    ]
    private static let parts: [String: UInt] = [
        "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4,
        "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
        "hundredth": 100, "hundredths": 100,
    ]
    private static let ordinals: [String: Int] = [
        "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
        "tenth": 10, "twelfth": 12, "twentieth": 20,
    ]

    private static func english(_ tokens: [Token], _ start: Int) -> ([Token], Int)? {
        func text(_ index: Int) -> String { index < tokens.count && tokens[index].isWord ? tokens[index].text : "" }
        let first = text(start)
        // "to the fifth power", "to the third": an exponent, not a fraction.
        if let ordinal = ordinals[first], start > 1, text(start - 1) == "the", text(start - 2) == "to" {
            return ([number(Rational(ordinal))], 1)
        }
        if first == "half" { return ([number(Rational(1, 2))], text(start + 1) == "a" ? 2 : 1) }
        if first == "a" || first == "an" || first == "one", let part = parts[text(start + 1)] {
            return ([number(Rational(1, part))], 2)
        }
        if first == "a", large[text(start + 1)] != nil || text(start + 1) == "hundred" {
            guard let (value, count) = whole(tokens, start + 1, implied: 1) else { return nil }
            return ([number(value)], count + 1)
        }
        if let value = tokens[start].number {
            guard let scale = large[text(start + 1)] else { return nil }
            return ([number(value * Rational(scale))], 2)
        }
        guard small[first] != nil || tens[first] != nil, let (found, length) = whole(tokens, start, implied: nil) else {
            return nil
        }
        var value = found
        var count = length
        if text(start + count) == "point", small[text(start + count + 1)].map({ $0 < 10 }) == true {
            var decimals = ""
            count += 1
            while let digit = small[text(start + count)], digit < 10 {
                decimals += String(digit)
                count += 1
            }
            value = value + Rational(digits: decimals, exponent: -decimals.utf8.count)
            if let scale = large[text(start + count)] {
                value = value * Rational(scale)
                count += 1
            }
        } else if let part = parts[text(start + count)],
            text(start + count + 1) == "of" || text(start + count).hasSuffix("s")
        {
            value = value / Rational(Int(part))
            count += 1
        } else if text(start + count) == "and", text(start + count + 1) == "a" || text(start + count + 1) == "one",
            let part = parts[text(start + count + 2)]
        {
            value = value + Rational(1, part)
            count += 3
        }
        return ([number(value)], count)
    }

    /// "two thousand five hundred and one"
    private static func whole(_ tokens: [Token], _ start: Int, implied: Int?) -> (Rational, Int)? {
        var index = start
        func text(_ offset: Int = 0) -> String {
            index + offset < tokens.count && tokens[index + offset].isWord ? tokens[index + offset].text : ""
        }
        var total = Rational(0)
        var section = implied ?? 0
        var room = implied == nil ? 1000 : 1
        while index < tokens.count {
            let word = text()
            if let value = tens[word], room > 99 {
                section += value
                room = 10
                index += 1
                if index + 1 < tokens.count, tokens[index].isSign("-"), !tokens[index].spaceBefore,
                    !tokens[index + 1].spaceBefore, let unit = small[text(1)], 1...9 ~= unit
                {
                    index += 1
                }
            } else if let value = small[word], room > 99 || (room == 10 && 1...9 ~= value) {
                section += value
                room = 1
                index += 1
            } else if word == "hundred", section > 0, section < 100 {
                section *= 100
                room = 100
                index += 1
            } else if let scale = large[word], section > 0 {
                total = total + Rational(section) * Rational(scale)
                section = 0
                room = 1000
                index += 1
            } else if word == "and", index > start, room == 100 || room == 1000,
                small[text(1)] != nil || tens[text(1)] != nil,
                ["hundred", "thousand", "million"].contains(tokens[index - 1].text)
            {
                index += 1
            } else {
                break
            }
        }
        return index > start ? (total + Rational(section), index - start) : nil
    }
}
