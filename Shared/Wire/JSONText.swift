/// JSON strings, written straight into bytes (RFC 8259, section 7).
public enum JSONText {
    /// Appends the text in quotes, with quotes, backslashes and control characters escaped.
    public static func append(_ text: String, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() where byte < 0x20 || byte == 0x22 || byte == 0x5c {
                json.append(contentsOf: bytes[start..<index])
                start = index + 1
                json.append(UInt8(ascii: "\\"))
                switch byte {
                case 0x22, 0x5c: json.append(byte)
                case 0x0a: json.append(UInt8(ascii: "n"))
                case 0x0d: json.append(UInt8(ascii: "r"))
                case 0x09: json.append(UInt8(ascii: "t"))
                default:
                    json.append(contentsOf: [UInt8(ascii: "u"), 48, 48, 48 + byte >> 4])
                    json.append(byte & 15 < 10 ? 48 + byte & 15 : 87 + byte & 15)
                }
            }
            json.append(contentsOf: bytes[start...])
        }
        json.append(UInt8(ascii: "\""))
    }
}
