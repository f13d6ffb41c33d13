/// A 128-bit identifier, time-ordered after RFC 9562 (UUID version 7).
///
/// Sessions, requests, jobs and process instances all have one. A job is a step of a request: its identifier is the
/// request's with the step's number in the lowest 16 bits, which are zero in every other identifier. So the request
/// of a job is known without a table, on every host and after every restart.
public struct Identifier: Hashable, Sendable {
    /// The first eight bytes, most significant first.
    public var high: UInt64
    /// The last eight bytes, most significant first.
    public var low: UInt64

    /// The identifier that stands for "none" in a header.
    public static let none = Identifier(high: 0, low: 0)

    /// Makes an identifier of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new identifier with the step number zero. Of two, the one made at the later Unix time compares greater.
    public static func timeOrdered(milliseconds: UInt64) -> Identifier {
        var generator = SystemRandomNumberGenerator()
        return timeOrdered(milliseconds: milliseconds, using: &generator)
    }

    /// As ``timeOrdered(milliseconds:)``, with the randomness given.
    public static func timeOrdered(
        milliseconds: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> Identifier {
        let random = generator.next()
        let high = milliseconds << 16 | 0x7000 | random >> 52
        let low = 0x8000_0000_0000_0000 | generator.next() >> 2 & 0x3fff_ffff_ffff_0000
        return Identifier(high: high, low: low)
    }

    /// The number of the step within its request: 0 for the request itself.
    public var step: UInt16 { UInt16(truncatingIfNeeded: low) }

    /// Half of it is enough for a table: the half that differs between identifiers of one millisecond, and the step.
    public func hash(into hasher: inout Hasher) { hasher.combine(low) }

    /// What `Dictionary` and `Set` call. One multiplication instead of SipHash: the half is random already, and nobody
    /// outside the bus can choose it.
    public func _rawHashValue(seed: Int) -> Int { low.mixed(seed: seed) }

    /// The request this job belongs to; the identifier itself if it is no job.
    public var request: Identifier { Identifier(high: high, low: low & ~0xffff) }

    /// The job that runs the given step of this request.
    public func job(step: UInt16) -> Identifier { Identifier(high: high, low: low & ~0xffff | UInt64(step)) }
}

extension Identifier: Comparable {
    /// Orders by time of making, then at random.
    public static func < (left: Identifier, right: Identifier) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

extension Identifier: CustomStringConvertible, LosslessStringConvertible {
    /// The canonical form of RFC 9562: 36 characters, lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var at = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    text[at] = UInt8(ascii: "-")
                    at += 1
                }
                let half = index < 8 ? high : low
                let byte = UInt8(truncatingIfNeeded: half >> UInt64((7 - index % 8) * 8))
                text[at] = Identifier.digit(byte >> 4)
                text[at + 1] = Identifier.digit(byte & 15)
                at += 2
            }
            return at
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

    /// Reads the canonical form; nil for anything else.
    public init?(_ description: String) {
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        var position = 0
        for byte in description.utf8 {
            defer { position += 1 }
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case 48...57: value = byte - 48
            case 97...102: value = byte - 87
            case 65...70: value = byte - 55
            default: return nil
            }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
            digits += 1
        }
        guard digits == 32, position == 36 else { return nil }
        self.init(high: halves.0, low: halves.1)
    }
}

extension Identifier: Codable {
    /// Decodes the canonical text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let identifier = Identifier(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an identifier: \(text)")
        }
        self = identifier
    }

    /// Encodes the canonical text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension UInt64 {
    /// A hash by one multiplication, for numbers that nobody outside the bus can choose.
    public func mixed(seed: Int) -> Int {
        let product = (self ^ UInt64(bitPattern: Int64(seed))).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return Int(truncatingIfNeeded: product.high ^ product.low)
    }
}
