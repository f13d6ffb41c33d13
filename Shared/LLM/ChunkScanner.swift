internal import Wire

/// Reads what nearly every chunk of a streamed answer is, a piece of text and nothing else, in a tenth of the time that a
/// general decoder takes. Whatever is not exactly that, or not valid, is left to the decoder: the two never differ.
struct ChunkScanner {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Reads a chunk.
    /// - Parameter bytes: valid UTF-8.
    /// - Returns: what it says; nil where it is none of the usual ones.
    static func read(_ bytes: ArraySlice<UInt8>) -> CompletionBody? {
        var scanner = ChunkScanner(bytes)
        var body = CompletionBody()
        guard scanner.readBody(into: &body) else { return nil }
        return body
    }

    private mutating func readBody(into body: inout CompletionBody) -> Bool {
        let isRead = object { key, scanner in
            switch key {
            case "choices": return !body.hasChoice && scanner.readChoices(into: &body)
            case "model":
                guard body.model == nil, let model = scanner.string() else { return false }
                body.model = model
                return true
            case "usage", "error": return scanner.null()
            case "detail", "message": return false
            default: return scanner.skipScalar()
            }
        }
        skipSpace()
        return isRead && body.hasChoice && position == bytes.endIndex
    }

    private mutating func readChoices(into body: inout CompletionBody) -> Bool {
        guard take("["), let choice = readChoice(), take("]") else { return false }
        body.hasChoice = true
        body.piece = choice.piece
        body.finishReason = choice.reason
        return true
    }

    private mutating func readChoice() -> (piece: Piece, reason: String?)? {
        var piece: Piece?
        var reason: String?
        var seen = 0
        let isRead = object { key, scanner in
            switch key {
            case "index": return scanner.zero()
            case "delta":
                guard piece == nil, let found = scanner.readDelta() else { return false }
                piece = found
                return true
            case "finish_reason":
                seen += 1
                guard seen == 1 else { return false }
                if scanner.null() { return true }
                guard let found = scanner.string() else { return false }
                reason = found.isEmpty ? nil : found
                return true
            case "message": return false
            default: return scanner.skipScalar()
            }
        }
        guard isRead, let piece else { return nil }
        return (piece, reason)
    }

    private mutating func readDelta() -> Piece? {
        var piece = Piece()
        var seen = 0
        let isRead = object { key, scanner in
            switch key {
            case "content":
                seen += 1
                guard seen == 1 else { return false }
                if scanner.null() { return true }
                guard let text = scanner.string() else { return false }
                piece.text = text
                return true
            case "reasoning", "reasoning_content", "refusal", "tool_calls": return scanner.null()
            default: return scanner.skipScalar()
            }
        }
        return isRead ? piece : nil
    }
}

// MARK: JSON

extension ChunkScanner {
    /// Reads an object, whose values `member` takes; false where it is none or `member` says so.
    private mutating func object(_ member: (StaticKey, inout ChunkScanner) -> Bool) -> Bool {
        guard take("{") else { return false }
        if take("}") { return true }
        repeat {
            guard let key = key(), take(":"), member(key, &self) else { return false }
        } while take(",")
        return take("}")
    }

    /// A key that is compared with what is known, without a string being made of it.
    private struct StaticKey {
        let bytes: ArraySlice<UInt8>
        static func ~= (name: StaticString, key: StaticKey) -> Bool {
            name.utf8CodeUnitCount == key.bytes.count
                && name.withUTF8Buffer { known in key.bytes.elementsEqual(known) }
        }
    }

    private mutating func key() -> StaticKey? {
        guard take("\"") else { return nil }
        let start = position
        while let byte = peek, byte != UInt8(ascii: "\"") {
            // A key with an escape is none that is known; the decoder may tell.
            guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        let end = position
        guard peek != nil else { return nil }
        position += 1
        return StaticKey(bytes: bytes[start..<end])
    }

    private var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipSpace()
        guard peek == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard bytes.endIndex - position >= count else { return false }
        let isThere = word.withUTF8Buffer { known in bytes[position..<position + count].elementsEqual(known) }
        guard isThere else { return false }
        position += count
        return true
    }

    private mutating func null() -> Bool {
        skipSpace()
        return word("null")
    }

    private mutating func zero() -> Bool {
        skipSpace()
        guard peek == UInt8(ascii: "0") else { return false }
        position += 1
        // What follows has to end it: "0.5" and "01" are others.
        skipSpace()
        return peek == UInt8(ascii: ",") || peek == UInt8(ascii: "}")
    }

    /// A string, with its escapes resolved; nil for what is none, or has half of a pair of surrogates.
    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = position
        while let byte = peek {
            if byte == UInt8(ascii: "\"") {
                position += 1
                return String(decoding: bytes[start..<position - 1], as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") { return escaped(from: start) }
            guard byte >= 0x20 else { return nil }
            position += 1
        }
        return nil
    }

    private mutating func escaped(from start: Int) -> String? {
        var text = Array(bytes[start..<position])
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let mark = peek else { return nil }
                position += 1
                switch mark {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(mark)
                case UInt8(ascii: "n"): text.append(0x0A)
                case UInt8(ascii: "t"): text.append(0x09)
                case UInt8(ascii: "r"): text.append(0x0D)
                case UInt8(ascii: "b"): text.append(0x08)
                case UInt8(ascii: "f"): text.append(0x0C)
                case UInt8(ascii: "u"):
                    guard let scalar = scalar() else { return nil }
                    text.append(contentsOf: Array(String(Character(scalar)).utf8))
                default: return nil
                }
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func scalar() -> Unicode.Scalar? {
        guard let first = unit() else { return nil }
        guard 0xD800...0xDBFF ~= first else { return Unicode.Scalar(first) }
        guard word("\\u"), let second = unit(), 0xDC00...0xDFFF ~= second else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func unit() -> UInt32? {
        guard bytes.endIndex - position >= 4 else { return nil }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }

    /// Passes over a string, a word or a whole number of moderate size.
    private mutating func skipScalar() -> Bool {
        skipSpace()
        switch peek {
        case UInt8(ascii: "\""):
            position += 1
            while let byte = peek {
                position += 1
                if byte == UInt8(ascii: "\"") { return true }
                guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return false }
            }
            return false
        case UInt8(ascii: "n"): return word("null")
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "0"): return zero()
        default:
            let start = position
            while let byte = peek, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
            guard 1...18 ~= position - start else { return false }
            skipSpace()
            return peek == UInt8(ascii: ",") || peek == UInt8(ascii: "}")
        }
    }
}
