internal import FoundationEssentials

/// Any JSON value.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// Text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Names and values.
    case object([String: JSONValue])

    /// The value of a name, if this is an object that has it.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text, if this is text.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The number, if this is a whole number.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number, if this is one.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The truth value, if this is one.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The elements, if this is a list.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The members, if this is an object.
    public var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    /// What a person would call the value's type.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A list.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object; of equal names the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    /// `null`
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: Codable {
    /// Decodes whatever is there.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Encodes the value as itself.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

/// Reading and writing the JSON bodies of messages.
public enum JSONBody {
    /// Encodes a value; keys are sorted, so that equal values give equal bytes.
    /// - Throws: `WireError.body` when a number cannot be written (infinity, not a number).
    public static func encode(_ value: some Encodable) throws(WireError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(value))
        } catch {
            throw .body(type: "\(type(of: value))", reason: reason(error))
        }
    }

    /// Decodes a value.
    /// - Throws: `WireError.body`, naming the field that was wrong.
    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>) throws(WireError)
        -> Value
    {
        let document = Data(bytes)
        do {
            return try JSONDecoder().decode(type, from: document)
        } catch {
            throw .body(type: "\(type)", reason: unfitNumber(error, type, document) ?? reason(error))
        }
    }

    /// One sentence for the number that makes a document unreadable; nil if the error is another.
    public static func unfitNumber<Value: Decodable>(
        _ error: any Error,
        _ type: Value.Type,
        _ document: some Sequence<UInt8>
    ) -> String? {
        guard case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty else { return nil }
        return UnfitNumber(in: document as? Data ?? Data(document), for: type).map { "\($0)" }
    }

    /// One sentence for an error of Foundation's coders, with the path of the field.
    public static func reason(_ error: any Error) -> String {
        func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath + (last.map { [$0] } ?? [])
            let text = keys.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }.joined(separator: ".")
            return text.isEmpty ? "the top level" : "\"\(text)\""
        }
        return switch error {
        case DecodingError.keyNotFound(let key, let context): "\(path(context, key)) is missing"
        case DecodingError.valueNotFound(_, let context): "\(path(context)) is null"
        case DecodingError.typeMismatch(let type, let context): "\(path(context)) is not \(article(type))"
        case DecodingError.dataCorrupted(let context): "\(path(context)): \(context.debugDescription)"
        case EncodingError.invalidValue(_, let context): context.debugDescription
        default: "\(error)"
        }
    }

    private static func article(_ type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "a boolean"
        case is Int.Type, is Int64.Type, is UInt64.Type, is UInt32.Type, is UInt16.Type: "an integer"
        case is Double.Type: "a number"
        default: "\(type)".hasPrefix("Array") ? "an array" : "an object"
        }
    }
}
