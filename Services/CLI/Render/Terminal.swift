internal import CLinux
internal import Lifecycle

/// What a terminal can show, and what must never reach one.
enum Terminal {
    /// The width of the terminal on standard error, or 80.
    static var columns: Int {
        let columns = Int(clinux_columns(2))
        return columns >= 20 ? columns : 80
    }

    /// Whether text that is written to the descriptor may move the cursor.
    static func movesCursor(_ descriptor: Int32) -> Bool {
        isTerminal(descriptor) && Environment.all["TERM"] != "dumb"
    }

    /// Text from a model, a user or a file as a terminal may get it: nothing in it moves the cursor, changes the
    /// terminal's state or turns the direction of writing around.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case _ where !isUnsafe(scalar): result.append(scalar)
            case 13: break
            case 0..<32: result.append(UnicodeScalar(0x2400 + scalar.value) ?? "\u{fffd}")
            case 127: result.append("\u{2421}")
            default: result.append("\u{fffd}")
            }
        }
        return String(result)
    }

    /// The same on one line.
    static func line(_ text: String) -> String {
        safe(String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
    }

    /// Whether a character, as it is, may change what a terminal does or shows.
    static func isUnsafe(_ scalar: UnicodeScalar) -> Bool {
        switch scalar.value {
        case 9, 10: false
        case 0..<32, 127..<160: true
        // Marks that embed, override or isolate a direction.
        case 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// How many columns a text takes: two for what East Asian fonts draw wide, none for marks on other letters.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    private static func width(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0..<32: return 0
        case 32..<0x300: return 1
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
            0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6,
            0x20000...0x3fffd:
            return 2
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return 1
        }
    }

    /// The text cut to so many columns, with an ellipsis where something was cut off.
    static func fitted(_ text: String, to columns: Int) -> String {
        guard width(text) > columns else { return text }
        var result = ""
        var left = max(columns - 1, 0)
        for character in text {
            left -= width(character)
            if left < 0 { break }
            result.append(character)
        }
        return result + "…"
    }

    /// The text with blanks up to so many columns.
    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width(text)))
    }
}

/// Colours, or none.
struct Style: Sendable {
    let isOn: Bool

    /// For text that goes to the descriptor. no-color.org: any value that is not empty means none.
    init(for descriptor: Int32, _ variables: [String: String] = Environment.all) {
        isOn = Terminal.movesCursor(descriptor) && (variables["NO_COLOR"] ?? "").isEmpty
    }

    init(isOn: Bool) { self.isOn = isOn }

    func bold(_ text: String) -> String { wrap("1", text) }
    func dim(_ text: String) -> String { wrap("2", text) }
    func red(_ text: String) -> String { wrap("31", text) }
    func green(_ text: String) -> String { wrap("32", text) }
    func yellow(_ text: String) -> String { wrap("33", text) }
    func cyan(_ text: String) -> String { wrap("36", text) }

    private func wrap(_ code: String, _ text: String) -> String {
        isOn && !text.isEmpty ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }
}
