internal import CICU

/// One spelling for what readers take for the same.
public enum Normalizer {
    /// For comparing and searching: NFKC (full-width letters become usual ones, ligatures come apart), case folding, and
    /// without characters that show nothing, such as soft hyphens and zero-width spaces.
    public static func fold(_ text: String) -> String {
        switch Spelling(text) {
        case .folded: text
        case .upperCase: lowercasedASCII(text)
        case .other: convert(text, with: cicu_fold) ?? text.lowercased()
        }
    }

    /// NFKC alone: full-width letters, digits and punctuation become half-width, cases stay.
    public static func halfWidth(_ text: String) -> String {
        switch Spelling(text) {
        case .folded, .upperCase: text
        case .other: convert(text, with: cicu_compatibility_form) ?? text
        }
    }

    /// What there is to do, by a look at the bytes: most words of both languages need no table.
    private enum Spelling {
        case folded
        case upperCase
        case other

        init(_ text: String) {
            var found = Spelling.folded
            var bytes = text.utf8.makeIterator()
            while let byte = bytes.next() {
                if byte < 0x80 {
                    if 0x41...0x5A ~= byte { found = .upperCase }
                    continue
                }
                // U+4E00...U+9FFF: Han characters in their only form.
                guard 0xE4...0xE9 ~= byte, let second = bytes.next(), bytes.next() != nil else {
                    self = .other
                    return
                }
                guard byte > 0xE4 || second >= 0xB8 else {
                    self = .other
                    return
                }
            }
            self = found
        }
    }

    private static func lowercasedASCII(_ text: String) -> String {
        String(decoding: text.utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private typealias Conversion = (
        UnsafePointer<UInt16>?, Int32, UnsafeMutablePointer<UInt16>?, Int32, UnsafeMutablePointer<UErrorCode>
    ) -> Int32

    /// Runs an ICU conversion, in pieces: its lengths have 32 bits.
    private static func convert(_ text: String, with conversion: Conversion) -> String? {
        let source = Array(text.utf16)
        guard source.count < Int32.max / 4 else { return nil }
        var target = [UInt16](repeating: 0, count: source.count + source.count / 8 + 16)
        for _ in 0..<2 {
            var status = U_ZERO_ERROR
            let length = source.withUnsafeBufferPointer { source in
                target.withUnsafeMutableBufferPointer { target in
                    conversion(
                        source.baseAddress,
                        Int32(source.count),
                        target.baseAddress,
                        Int32(target.count),
                        &status
                    )
                }
            }
            if status == U_BUFFER_OVERFLOW_ERROR, length > 0 {
                target = [UInt16](repeating: 0, count: Int(length) + 1)
                continue
            }
            guard status.rawValue <= U_ZERO_ERROR.rawValue, 0...target.count ~= Int(length) else { return nil }
            return String(decoding: target[..<Int(length)], as: UTF16.self)
        }
        return nil
    }
}
