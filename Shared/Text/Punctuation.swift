/// Marks around and between sentences, in both scripts.
public enum Punctuation {
    /// Ends a sentence.
    public static func isTerminator(_ scalar: UInt32) -> Bool {
        switch scalar {
        // . ! ? … 。！？．；｡ ‼ ⁇ ⁈ ⁉
        case 0x2E, 0x21, 0x3F, 0x2026, 0x3002, 0xFF01, 0xFF1F, 0xFF0E, 0xFF1B, 0xFF61, 0x203C, 0x2047...0x2049: true
        // Arabic, Devanagari, Armenian, Ethiopic.
        case 0x061F, 0x06D4, 0x0964, 0x0965, 0x0589, 0x1362: true
        default: false
        }
    }

    /// Closes a quotation or a bracket.
    public static func isClosing(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x22, 0x27, 0x29, 0x5D, 0x7D, 0xBB, 0x2019, 0x201D, 0x203A: true
        case 0x3009, 0x300B, 0x300D, 0x300F, 0x3011, 0x3015, 0x3017, 0xFF09, 0xFF3D, 0xFF5D, 0xFF02, 0xFF07: true
        default: false
        }
    }

    /// Opens a quotation or a bracket.
    public static func isOpening(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x22, 0x27, 0x28, 0x5B, 0x7B, 0xAB, 0x2018, 0x201C, 0x2039: true
        case 0x3008, 0x300A, 0x300C, 0x300E, 0x3010, 0x3014, 0x3016, 0xFF08, 0xFF3B, 0xFF5B: true
        default: false
        }
    }

    /// Punctuation or white space beyond ASCII, in the blocks that both languages use.
    public static func isMark(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x00A0...0x00BF where scalar != 0xAA && scalar != 0xB5 && scalar != 0xBA: true
        case 0x2000...0x206F, 0x3000...0x3004, 0x3008...0x3020, 0x3030, 0xFE30...0xFE4F: true
        case 0xFF00...0xFF0F, 0xFF1A...0xFF20, 0xFF3B...0xFF40, 0xFF5B...0xFF65: true
        default: false
        }
    }
}
