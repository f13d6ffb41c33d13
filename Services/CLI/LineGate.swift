/// Which of the characters that a terminal sends reach the line editor. A value: it is told each of them.
struct LineGate {
    /// What is to become of a character.
    enum Verdict: Equatable {
        case pass
        case ignore
        /// The line is full.
        case refuse(isFirst: Bool)
    }

    /// The bytes of a line, as UTF-8.
    static let limit = 1000
    /// What to say when no more can be typed.
    static let full = "skillbus: a line here may have \(limit) bytes. \(wayOut)"
    private static let wayOut = "For more: skillbus ask --file FILE TEXT, or skillbus ask - < FILE"

    /// How many characters the line could not take.
    private(set) var refused = 0
    /// The longest that a line has been: what Ctrl-Y brings back is no longer.
    private var longest = 0
    /// Where in the bytes of a key, such as an arrow, the next character is.
    private var isInKey = false
    private var isInSequence = false

    /// For the first line.
    init() {}

    /// For the line after another.
    init(after gate: LineGate) { longest = gate.longest }

    /// What to say of a line that was not taken.
    var words: String {
        "skillbus: the line had more than \(LineGate.limit) bytes: nothing was sent. \(LineGate.wayOut)"
    }

    /// What is to become of the next character.
    /// - Parameters:
    ///   - character: a code point.
    ///   - length: how many bytes the line has.
    /// - Returns: the verdict.
    mutating func judge(_ character: UInt32, length: Int) -> Verdict {
        longest = max(longest, length)
        if isInKey {
            isInKey = false
            isInSequence = character == 0x5b || character == 0x4f
            return .pass
        }
        if isInSequence {
            isInSequence = !(0x40...0x7e).contains(character)
            return .pass
        }
        switch character {
        case 0x1b:
            isInKey = true
            return .pass
        case 0x19: return length + longest <= LineGate.limit ? .pass : .ignore
        // Takes away what did not fit, or wants to: what is there is seen, and may be sent.
        case 0x08, 0x7f, 0x15, 0x17, 0x0b:
            refused = 0
            return .pass
        // Tab and Ctrl-V put something in, the other control characters do not.
        case 0..<0x20 where character != 0x09 && character != 0x16: return .pass
        default: break
        }
        guard length >= LineGate.limit else { return .pass }
        refused += 1
        return .refuse(isFirst: refused == 1)
    }

    /// How many bytes a line of the file of history has, where `\\040` stands for one.
    static func length(ofKept line: some Sequence<UInt8>) -> Int {
        var count = 0
        var left = 0
        for byte in line {
            if left > 0 {
                left -= 1
            } else {
                count += 1
                if byte == 0x5c { left = 3 }
            }
        }
        return count
    }
}
