internal import CICU

/// The two ways to write Chinese.
public enum ChineseScript {
    private static let toSimplified = Pool {
        let id = Array("Traditional-Simplified".utf16)
        var status = U_ZERO_ERROR
        let opened = cicu_transliterator_open(id, Int32(id.count), &status)
        guard status.rawValue <= U_ZERO_ERROR.rawValue, let opened else { return nil }
        return OpaquePointer(opened)
    }

    /// The text with traditional characters replaced by simplified ones; what is not traditional stays.
    public static func simplified(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0xE3 }) else { return text }
        var buffer = Array(text.utf16)
        let length = buffer.count
        guard length < Int32.max / 4 else { return text }
        buffer.append(contentsOf: repeatElement(0, count: length / 4 + 16))
        let end = toSimplified.with { transliterator -> Int? in
            var status = U_ZERO_ERROR
            let end = buffer.withUnsafeMutableBufferPointer { buffer in
                cicu_transliterate(
                    .init(transliterator),
                    buffer.baseAddress,
                    Int32(length),
                    Int32(buffer.count),
                    &status
                )
            }
            return status.rawValue <= U_ZERO_ERROR.rawValue ? Int(end) : nil
        }
        guard let end = end ?? nil, 0...buffer.count ~= end else { return text }
        return String(decoding: buffer[..<end], as: UTF16.self)
    }
}
