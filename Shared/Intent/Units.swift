internal import Text

/// A text as routing sees it: stems, numbers, Han characters and marks, in order.
///
/// Han characters stand one by one: cues and n-grams are found over them without a segmenter's mistakes, and for less.
struct Units {
    enum Kind: UInt8 {
        /// A word of an alphabet, stemmed.
        case word
        /// Digits.
        case number
        /// A Han or kana character.
        case han
        /// Punctuation, an operator or another symbol.
        case mark
        /// The end of a line.
        case lineEnd
    }

    struct Unit {
        /// Equal for what counts as the same.
        let key: UInt64
        let kind: Kind
        /// Where it stands in `scalars`.
        let start: Int
        let end: Int
        /// The scalar of a mark or Han character, the first one of a word or number.
        let scalar: UInt32
    }

    /// The folded text.
    let scalars: [UInt32]
    private(set) var list: [Unit]

    /// Reads a text. It should be short: see ``InstructionSplitter`` for how long ones are cut first.
    init(_ text: String) {
        let scalars = Normalizer.fold(text).unicodeScalars.map { SimplifiedHan.of($0.value) }
        self.scalars = scalars
        var list: [Unit] = []
        list.reserveCapacity(scalars.count / 2 + 4)
        var position = 0
        while position < scalars.count {
            let scalar = scalars[position]
            let start = position
            position += 1
            switch Self.class(of: scalar) {
            case .space: continue
            case .lineEnd:
                list.append(Unit(key: Key.mark(0x0A), kind: .lineEnd, start: start, end: position, scalar: 0x0A))
            case .han: list.append(Unit(key: Key.mark(scalar), kind: .han, start: start, end: position, scalar: scalar))
            case .mark:
                list.append(Unit(key: Key.mark(scalar), kind: .mark, start: start, end: position, scalar: scalar))
            case .digit:
                position = Self.endOfNumber(in: scalars, from: start)
                list.append(Unit(key: Key.number, kind: .number, start: start, end: position, scalar: scalar))
            case .letter:
                while position < scalars.count, Self.continuesWord(scalars, at: position) {
                    // sin30 is a function of a number.
                    if 0x30...0x39 ~= scalars[position], Self.isFunction(scalars[start..<position]) { break }
                    position += 1
                }
                Self.appendWord(scalars, start..<position, to: &list)
            }
        }
        self.list = list
    }

    /// Replaces words that are slips of known ones.
    mutating func correct(by slips: SlipIndex) {
        for (position, unit) in list.enumerated() where unit.kind == .word {
            let word = Self.string(scalars[unit.start..<unit.end])
            guard let correction = slips.correction(of: word, key: unit.key) else { continue }
            let key = Key.text(Stemmer.english.stem(correction))
            list[position] = Unit(key: key, kind: .word, start: unit.start, end: unit.end, scalar: 0)
        }
    }

    /// The folded text of some units.
    func text(_ range: Range<Int>) -> String {
        guard let first = range.first, let last = range.last, last < list.count else { return "" }
        return Self.string(scalars[list[first].start..<list[last].end])
    }

    /// What a manifest may speak of that begins at a unit: a word, or two Han characters within a range; with its key as a
    /// feature.
    func subject(at position: Int, in range: Range<Int>) -> (key: UInt64, range: Range<Int>)? {
        let unit = list[position]
        switch unit.kind {
        case .word: return (unit.key, position..<position + 1)
        case .han:
            let next = position + 1
            guard range.contains(next), list[next].kind == .han else { return nil }
            return (Key.mix(unit.key, list[next].key), position..<next + 1)
        default: return nil
        }
    }

    /// Whether nothing stands between a unit and the one after it.
    func touchesNext(_ index: Int) -> Bool {
        index + 1 < list.count && list[index].end == list[index + 1].start
    }

    static func string(_ scalars: some Sequence<UInt32>) -> String {
        var text = String.UnicodeScalarView()
        for value in scalars { if let scalar = Unicode.Scalar(value) { text.append(scalar) } }
        return String(text)
    }

    // MARK: Scanning

    private enum Class { case space, lineEnd, han, digit, letter, mark }

    private static func `class`(of scalar: UInt32) -> Class {
        switch scalar {
        case 0x0A, 0x0D, 0x2028, 0x2029: .lineEnd
        case 0x30...0x39: .digit
        case 0x41...0x5A, 0x61...0x7A: .letter
        case ..<0x80: scalar <= 0x20 || scalar == 0x7F || scalar == 0x5F ? .space : .mark
        default:
            if Script.isHan(scalar) || Script.isKana(scalar) {
                .han
            } else if Script.isSpace(scalar) {
                .space
            } else if Unicode.Scalar(scalar)?.properties.isAlphabetic == true {
                .letter
            } else if isMeaningfulMark(scalar) {
                .mark
            } else {
                .space
            }
        }
    }

    /// Punctuation and mathematical signs. Emoji and other pictures say nothing here.
    private static func isMeaningfulMark(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xA0...0xFF, 0x2010...0x205E, 0x2200...0x22FF, 0x3001...0x303F, 0x0600...0x06FF: true
        default: false
        }
    }

    private static func isFunction(_ scalars: ArraySlice<UInt32>) -> Bool {
        scalars.count <= 4 && ["sin", "cos", "tan", "log", "ln", "lg", "sqrt"].contains(string(scalars))
    }

    private static func endOfNumber(in scalars: [UInt32], from start: Int) -> Int {
        var end = start + 1
        while end < scalars.count {
            let scalar = scalars[end]
            if 0x30...0x39 ~= scalar {
                end += 1
            } else if scalar == 0x2E || scalar == 0x2C, end + 1 < scalars.count, 0x30...0x39 ~= scalars[end + 1] {
                end += 2
            } else {
                break
            }
        }
        return end
    }

    private static func continuesWord(_ scalars: [UInt32], at position: Int) -> Bool {
        let scalar = scalars[position]
        switch Self.class(of: scalar) {
        case .letter, .digit: return true
        case .mark where scalar == 0x27 || scalar == 0x2019:
            return position + 1 < scalars.count && Self.class(of: scalars[position + 1]) == .letter
        default:
            // Marks of vowels and accents belong to their letter, as in Arabic and Hindi.
            guard scalar >= 0x300, let value = Unicode.Scalar(scalar) else { return false }
            let category = value.properties.generalCategory
            return category == .nonspacingMark || category == .spacingMark
        }
    }

    /// Appends a word, with its contraction undone: "what's" is "what is", "don't" is "dont".
    private static func appendWord(_ scalars: [UInt32], _ range: Range<Int>, to list: inout [Unit]) {
        var bytes = ""
        var mark: Int?
        for position in range {
            let scalar = scalars[position]
            if scalar == 0x27 || scalar == 0x2019 { mark = position }
        }
        let base = range.lowerBound..<(mark ?? range.upperBound)
        bytes = string(scalars[base])
        guard let mark else {
            append(word: bytes, base, to: &list)
            return
        }
        let ending = string(scalars[(mark + 1)..<range.upperBound])
        let second: String? =
            switch ending {
            case "s": bytes == "let" ? "us" : verbs.contains(bytes) ? "is" : ""
            case "re": "are"
            case "m": "am"
            case "ll": "will"
            case "ve": "have"
            case "d": "would"
            default: nil
            }
        guard let second else {
            append(word: bytes + ending, range, to: &list)
            return
        }
        append(word: bytes, base, to: &list)
        if !second.isEmpty { append(word: second, (mark + 1)..<range.upperBound, to: &list) }
    }

    /// After these, `'s` is "is"; after other words it is the genitive.
    private static let verbs: Set = ["what", "who", "where", "when", "how", "why", "it", "that", "there", "here"]

    private static func append(word: String, _ range: Range<Int>, to list: inout [Unit]) {
        let key = Key.text(Stemmer.english.stem(word))
        list.append(Unit(key: key, kind: .word, start: range.lowerBound, end: range.upperBound, scalar: 0))
    }
}

/// Keys of units and of features made of them: 64-bit hashes that are the same in every run.
enum Key {
    /// Any number, since routing does not depend on which.
    static let number = mix(0x9E37_79B9_7F4A_7C15, 0x4E55)

    /// A word.
    static func text(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return hash
    }

    /// A single character.
    static func mark(_ scalar: UInt32) -> UInt64 { mix(0xA5A5_5A5A_1234_8765, UInt64(scalar)) }

    /// Two keys in order.
    static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
        var hash = first ^ (second &+ 0x9E37_79B9_7F4A_7C15 &+ (first << 6) &+ (first >> 2))
        hash ^= hash >> 30
        hash = hash &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 27
        hash = hash &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
