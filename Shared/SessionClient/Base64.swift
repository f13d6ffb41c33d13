/// Base64 of RFC 4648, section 4, for attachments.
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
            var at = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let count = min(3, bytes.count - start)
                var group = UInt32(bytes[start]) << 16
                if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
                if count > 2 { group |= UInt32(bytes[start + 2]) }
                for digit in 0..<4 {
                    let value = Int(group >> UInt32(18 - 6 * digit) & 63)
                    text[at] = digit <= count ? digits[value] : UInt8(ascii: "=")
                    at += 1
                }
            }
            return at
        }
    }
}
