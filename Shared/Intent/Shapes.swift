/// Cues that no list of words holds: sums, conversions of units, word problems, and changes of language.
enum Shapes {
    struct Found {
        let shape: Lexicon.Shape
        let weight: Double
        let range: Range<Int>
    }

    static func find(in reading: Reading, lexicon: Lexicon) -> [Found] {
        let scan = Scan(reading)
        var found: [Found] = []
        if let conversion = scan.conversion() { found.append(conversion) }
        if !scan.numerals.isEmpty || reading.grammar.contains(.function) {
            if let sum = scan.arithmetic() { found.append(sum) }
            if let problem = scan.wordProblem() { found.append(problem) }
        }
        if let you = scan.aboutYou() { found.append(you) }
        if reading.grammar.contains(.language), let change = scan.languageChange() { found.append(change) }
        return found
    }

    /// One look at a text.
    private struct Scan {
        let reading: Reading
        let units: [Units.Unit]
        /// Runs of units that are a number: digits, 三百, "twenty".
        let numerals: [Range<Int>]
        /// Grammar of the match that starts at a unit.
        let byStart: [Int: Reading.Match]

        init(_ reading: Reading) {
            self.reading = reading
            units = reading.units.list
            byStart = Dictionary(reading.matches.map { ($0.range.lowerBound, $0) }) { first, _ in first }
            numerals = Self.numerals(reading, byStart)
        }

        private static func numerals(_ reading: Reading, _ byStart: [Int: Reading.Match]) -> [Range<Int>] {
            let units = reading.units.list
            var runs: [Range<Int>] = []
            var position = 0
            while position < units.count {
                var end = position
                while end < units.count {
                    let unit = units[end]
                    if unit.kind == .number || unit.kind == .han && Numerals.isHanDigit(unit.scalar) {
                        end += 1
                    } else if let match = byStart[end], reading.has(.numberword, match) {
                        end = match.range.upperBound
                    } else {
                        break
                    }
                }
                if end > position {
                    // 一下, 一个, 一点: no number is meant.
                    let isLoneOne = end - position == 1 && units[position].scalar == 0x4E00
                    if !isLoneOne { runs.append(position..<end) }
                    position = end
                } else {
                    position += 1
                }
            }
            return runs
        }

        private func isDigits(_ run: Range<Int>) -> Bool { run.contains { units[$0].kind == .number } }

        private func matches(_ grammar: Lexicon.Grammar) -> [Reading.Match] {
            reading.matches.filter { reading.has(grammar, $0) }
        }

        /// A number and an operator side by side, or a function of a number.
        func arithmetic() -> Found? {
            var best: Found?
            func offer(_ weight: Double, _ range: Range<Int>) {
                if weight > best?.weight ?? 0 { best = Found(shape: .arithmetic, weight: weight, range: range) }
            }
            for (index, run) in numerals.enumerated() {
                let next = index + 1 < numerals.count ? numerals[index + 1] : nil
                if let next, let weight = joined(run, next) { offer(weight, run.lowerBound..<next.upperBound) }
                let after = run.upperBound
                guard after < units.count else { continue }
                switch units[after].scalar {
                case 0x25 where units[after].kind == .mark:
                    // 15% of 300, 300的15%
                    offer(numerals.count >= 2 ? 0.85 : 0.55, run.lowerBound..<after + 1)
                case 0x21 where reading.units.touchesNext(after - 1) && units.count <= 12: offer(0.7, run)
                case 0x3D, 0x5E, 0xD7, 0xF7: offer(0.8, run)
                default: break
                }
            }
            for position in units.indices where units[position].kind == .mark && units[position].scalar == 0x3D {
                // x = 3, but no "==" and no "key=value" of words.
                if position + 1 < units.count, units[position + 1].kind == .number, !numerals.isEmpty {
                    offer(0.85, position..<position + 2)
                }
            }
            for match in matches(.function) {
                if numerals.contains(where: { abs($0.lowerBound - match.range.upperBound) <= 2 }) {
                    offer(0.9, match.range)
                }
            }
            for match in matches(.operator) {
                if numerals.count >= 2, numerals[0].lowerBound == match.range.upperBound {
                    // Multiply 7 by 42.
                    offer(0.85, match.range.lowerBound..<numerals[1].upperBound)
                } else if numerals.contains(where: { $0.lowerBound == match.range.upperBound }),
                    !numerals.contains(where: { $0.upperBound == match.range.lowerBound })
                {
                    // 再加上 50
                    offer(0.6, match.range)
                } else if numerals.contains(where: { $0.upperBound == match.range.lowerBound }),
                    Self.followsItsNumber(reading.units.text(match.range))
                {
                    offer(0.9, match.range)
                }
            }
            return best
        }

        /// 的平方, 次方, "squared"
        private static func followsItsNumber(_ operation: String) -> Bool {
            operation.hasPrefix("的") || operation.hasSuffix("方") || ["squared", "cubed"].contains(operation)
        }

        /// How surely two numbers are operands of what stands between them.
        private func joined(_ left: Range<Int>, _ right: Range<Int>) -> Double? {
            let between = left.upperBound..<right.lowerBound
            guard 1...6 ~= between.count else { return nil }
            if let match = byStart[between.lowerBound], reading.has(.operator, match),
                between.upperBound - match.range.upperBound <= 1
            {
                return 0.9
            }
            guard isDigits(left), isDigits(right) else { return nil }
            var mark: UInt32?
            for position in between {
                let unit = units[position]
                switch unit.scalar {
                case 0x28, 0x29, 0xA5, 0x24: continue
                case 0x2B, 0x2D, 0x2A, 0x2F, 0xD7, 0xF7, 0x5E, 0x3D, 0x2212, 0x25, 0x2217, 0x2215, 0x22C5:
                    if unit.scalar != 0x25 || mark == nil { mark = unit.scalar }
                default:
                    // The unknown of an equation.
                    guard unit.kind == .word, unit.end - unit.start == 1 else { return nil }
                }
            }
            guard let mark else { return nil }
            guard mark == 0x2D || mark == 0x2F else { return 0.92 }
            return dashOrSlash(left, right, mark)
        }

        /// 2024-05-01, 138-1234-5678, 10.1145/3544548 and 24/7 are no sums.
        private func dashOrSlash(_ left: Range<Int>, _ right: Range<Int>, _ mark: UInt32) -> Double {
            let isSpaced = !reading.units.touchesNext(left.upperBound - 1)
            if isSpaced || units.contains(where: { $0.scalar == 0x28 || $0.scalar == 0x2A || $0.scalar == 0x2B }) {
                return 0.9
            }
            let alike = units.indices.filter { units[$0].kind == .mark && units[$0].scalar == mark }
            if alike.count >= 2 { return 0.3 }
            let others = units.count - (right.upperBound - left.lowerBound)
            let leftText = reading.units.text(left)
            if leftText.hasPrefix("10."), leftText.utf8.count >= 6 { return 0.2 }
            return others <= 4 ? 0.85 : 0.45
        }

        /// Two units and a number: 10 miles to kilometres, how many seconds are in 3.5 hours.
        func conversion() -> Found? {
            let found = matches(.unit)
            guard let first = found.first, let last = found.last else { return nil }
            let beside = found.contains { unit in numerals.contains { $0.upperBound == unit.range.lowerBound } }
            guard Set(found.map { units[$0.range.lowerBound].key }).count >= 2 else { return nil }
            let asks = reading.grammar.contains(.quantity) || reading.grammar.contains(.toLanguage)
            guard beside || asks && units.count <= 16 && !first.range.isEmpty else { return nil }
            let range = first.range.lowerBound..<last.range.upperBound
            return Found(shape: .units, weight: asks ? beside ? 0.8 : 0.65 : 0.4, range: range)
        }

        /// Two numbers and the question how much.
        func wordProblem() -> Found? {
            guard let asked = matches(.quantity).first else { return nil }
            let plain = numerals.filter { isDigits($0) || $0.count >= 2 || isMeasured($0) }
            guard plain.count >= 2, plain.contains(where: isDigits), let first = plain.first else { return nil }
            let range = min(first.lowerBound, asked.range.lowerBound)..<max(first.upperBound, asked.range.upperBound)
            return Found(shape: .wordproblem, weight: 0.75, range: range)
        }

        private func isMeasured(_ run: Range<Int>) -> Bool {
            run.upperBound < units.count
                && [0x4E2A, 0x5757, 0x5143, 0x4EBA, 0x5929, 0x5E74].contains(units[run.upperBound].scalar)
        }

        /// A question to the assistant about itself: what do you eat, 你住在哪里. "Can you ..." and 请你 are courtesies, and
        /// "how do you ..." asks about people in general.
        func aboutYou() -> Found? {
            for (position, unit) in units.enumerated() where Self.you.contains(unit.key) && reading.isActive[position] {
                guard !reading.matches.contains(where: { $0.range.contains(position) }) else { continue }
                let clause = reading.clauses[reading.clause(of: position)].range
                let text = reading.units.text(clause)
                if text.hasPrefix("how do you") || text.hasPrefix("how can you") || text.hasPrefix("how would you") {
                    continue
                }
                let asks =
                    Self.questionStarts.contains { text.hasPrefix($0) }
                    || Self.questionParts.contains { text.contains($0) }
                if asks { return Found(shape: .you, weight: 0.66, range: position..<position + 1) }
            }
            return nil
        }

        private static let you: Set<UInt64> = Set(
            ["you", "your", "yours", "yourself", "thou"].flatMap { Units($0).list.map(\.key) }
        )
        .union([Key.mark(0x4F60), Key.mark(0x60A8)])
        private static let questionStarts = [
            "what", "who", "which", "where", "when", "why", "how", "are you", "do you", "did you", "have you",
            "does your",
            "is your", "were you", "was your",
        ]
        private static let questionParts = ["什么", "谁", "吗", "哪", "几", "怎么", "为什么"]

        /// Into French, 翻成日语, the German word for, Chinese version.
        func languageChange() -> Found? {
            let languages = matches(.language)
            var best: Found?
            func offer(_ weight: Double, _ range: Range<Int>) {
                if weight > best?.weight ?? 0 { best = Found(shape: .language, weight: weight, range: range) }
            }
            for (index, match) in languages.enumerated() {
                if index + 1 < languages.count {
                    let gap = match.range.upperBound..<languages[index + 1].range.lowerBound
                    if gap.count == 1, let between = byStart[gap.lowerBound], reading.has(.toLanguage, between) {
                        offer(0.85, match.range.lowerBound..<languages[index + 1].range.upperBound)
                    }
                }
                // 英语里怎么说: up to two characters between.
                for gap in 0...2 {
                    let end = match.range.upperBound + gap
                    guard gap == 0 || units.indices.contains(end - 1) && units[end - 1].kind == .han else { break }
                    guard let after = byStart[end], reading.has(.languageWord, after) else { continue }
                    offer(0.75, match.range.lowerBound..<after.range.upperBound)
                    break
                }
                let start = match.range.lowerBound
                // "into simple Portuguese": up to two words between.
                for back in 1...5 where start - back >= 0 {
                    let unit = units[start - back]
                    guard unit.kind == .han || unit.kind == .word && back <= 3 else { break }
                    guard let before = byStart[start - back] else { continue }
                    guard reading.has(.toLanguage, before) else { continue }
                    let text = reading.units.text(before.range)
                    let isSure = text != "in" && text != "as" && text != "用" && text != "to"
                    offer(
                        (isSure ? 0.8 : 0.72) - 0.03 * Double(back - 1),
                        before.range.lowerBound..<match.range.upperBound
                    )
                    break
                }
            }
            return best
        }
    }
}

/// Numbers in words.
enum Numerals {
    private static let hanDigits: [UInt32: Int] = [
        0x96F6: 0, 0x4E00: 1, 0x4E8C: 2, 0x4E24: 2, 0x4E09: 3, 0x56DB: 4, 0x4E94: 5, 0x516D: 6, 0x4E03: 7, 0x516B: 8,
        0x4E5D: 9,
    ]
    private static let hanPowers: [UInt32: Int] = [0x5341: 10, 0x767E: 100, 0x5343: 1000, 0x4E07: 10000]
    private static let english: [String: Int] = [
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
        "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
        "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
    ]

    /// Whether a character is a digit or a power of ten.
    static func isHanDigit(_ scalar: UInt32) -> Bool { hanDigits[scalar] != nil || hanPowers[scalar] != nil }

    /// The value of an English word.
    static func value(word: String) -> Int? { english[word] }

    /// The value of 十二 or 三百; nil for what is too long to be meant, and where powers are no number together: 一万万.
    static func value(han scalars: [UInt32]) -> Int? {
        guard 1...7 ~= scalars.count, scalars.count(where: { hanPowers[$0] == 10000 }) < 2 else { return nil }
        var total = 0
        var digit: Int?
        for scalar in scalars {
            if let value = hanDigits[scalar] {
                digit = value
            } else if let power = hanPowers[scalar] {
                total = power == 10000 ? (total + (digit ?? 0)) * power : total + (digit ?? 1) * power
                digit = nil
            } else {
                return nil
            }
        }
        return total + (digit ?? 0)
    }
}
