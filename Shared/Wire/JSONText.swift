/// JSON written by hand, for the few objects that are made many times a second: Foundation's encoder takes ten times
/// as long as storing what it made.
public struct JSONText {
    /// What has been written.
    public private(set) var bytes: [UInt8] = []

    /// Starts empty, with room for a usual event.
    public init(capacity: Int = 320) { bytes.reserveCapacity(capacity) }

    /// Text as it is.
    public mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// A number.
    @inlinable
    public mutating func number(_ value: some BinaryInteger) {
        if let value = UInt64(exactly: value) { digits(value) } else { digits(String(value)) }
    }

    @usableFromInline
    mutating func digits(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Without a string in between, which would cost as much as the rest of a small event.
    @usableFromInline
    mutating func digits(_ value: UInt64) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var rest = value
        var first = digits.count
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        digits.span.extracting(first...).withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// A number; `null` for what JSON has no number for.
    public mutating func number(_ value: Double?) {
        guard let value, value.isFinite else { return raw("null") }
        bytes.append(contentsOf: "\(value)".utf8)
    }

    /// Text in quotation marks. Control characters are escaped, so the whole stays on one line.
    public mutating func string(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var plain = 0
            for index in utf8.indices {
                let byte = utf8[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f else {
                    continue
                }
                bytes.append(contentsOf: utf8[plain..<index])
                plain = index + 1
                escape(byte)
            }
            bytes.append(contentsOf: utf8[plain...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Text in quotation marks that needs no escapes, such as an identifier.
    public mutating func plain(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\""))
    }

    /// JSON made elsewhere. Its line breaks, which in valid JSON stand between tokens only, become spaces: one in an
    /// event would end its line.
    public mutating func json(_ json: [UInt8]) {
        for byte in json { bytes.append(byte == 10 || byte == 13 ? 32 : byte) }
    }

    /// A value, by Foundation's encoder.
    public mutating func value(_ value: some Encodable) {
        // What fails to encode is a number that JSON does not have; the event is worth more than that number.
        if let made = try? JSONBody.encode(value) { bytes.append(contentsOf: made) } else { raw("null") }
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
        case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: [UInt8(ascii: "u"), 48, 48, digits[Int(byte >> 4)], digits[Int(byte & 15)]])
        }
    }
}
