/// What kind of character a scalar is. Plain ranges: these are asked for every character of a text.
public enum Script {
    /// Han characters, as in Chinese.
    @inlinable
    public static func isHan(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x4E00...0x9FFF, 0x3400...0x4DBF, 0xF900...0xFAFF, 0x20000...0x323AF, 0x3005, 0x3007: true
        default: false
        }
    }

    /// Hiragana and Katakana, full and half width.
    @inlinable
    public static func isKana(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x3041...0x3096, 0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F: true
        default: false
        }
    }

    /// Korean.
    @inlinable
    public static func isHangul(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xAC00...0xD7A3, 0x1100...0x11FF, 0x3130...0x318F: true
        default: false
        }
    }

    /// Latin letters, also with marks and full width.
    @inlinable
    public static func isLatin(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x41...0x5A, 0x61...0x7A: true
        case 0xAA, 0xBA, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x24F, 0x1E00...0x1EFF, 0xFF21...0xFF3A, 0xFF41...0xFF5A: true
        default: false
        }
    }

    /// ASCII and full-width digits.
    @inlinable
    public static func isDigit(_ scalar: UInt32) -> Bool { 0x30...0x39 ~= scalar || 0xFF10...0xFF19 ~= scalar }

    /// White space and line ends, also the ideographic space.
    @inlinable
    public static func isSpace(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
            true
        default: false
        }
    }
}
