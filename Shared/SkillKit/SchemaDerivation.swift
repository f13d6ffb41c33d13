public import Wire

/// Derives JSON Schema (draft 2020-12) from a `Decodable` type: the type's own `init(from:)` is run against a decoder
/// that notes which fields it asks for and of what type, and answers each with a plain value.
public enum SchemaDerivation {
    /// The schema of an object with the type's fields, and closed: other names are refused. `decodeIfPresent` makes a
    /// field optional. A type that asks for no field by name, unless it is ``NoArguments``, may take any.
    public static func schema<Arguments: SkillArguments>(of type: Arguments.Type) -> JSONValue {
        let recorder = Recorder()
        _ = try? Arguments(from: recorder)
        var schema = recorder.schema.object ?? ["type": "object", "properties": [:]]
        if case .object(var properties)? = schema["properties"] {
            for (field, sentence) in Arguments.descriptions {
                guard case .object(var property)? = properties[field] else { continue }
                property["description"] = .string(sentence)
                properties[field] = .object(property)
            }
            for (field, range) in Arguments.ranges {
                guard case .object(var property)? = properties[field] else { continue }
                property["minimum"] = .integer(Int64(range.lowerBound))
                property["maximum"] = .integer(Int64(range.upperBound))
                properties[field] = .object(property)
            }
            schema["properties"] = .object(properties)
            if !properties.isEmpty || type is NoArguments.Type { schema["additionalProperties"] = false }
        }
        return .object(schema)
    }
}

/// The decoder that takes notes.
private final class Recorder: Decoder {
    var schema: JSONValue = ["type": "object", "properties": [:]]
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Fields<Key>(recorder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "arguments are an object"))
    }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { PlainValue(recorder: self) }

    func note(_ field: String, _ property: JSONValue, required: Bool) {
        guard case .object(var members) = schema else { return }
        var properties = members["properties"]?.object ?? [:]
        properties[field] = property
        members["properties"] = .object(properties)
        if required {
            let names = (members["required"]?.array ?? []) + [.string(field)]
            members["required"] = .array(names)
        }
        schema = .object(members)
    }

    static func property(of type: any Decodable.Type) -> JSONValue {
        switch type {
        case is Bool.Type: return ["type": "boolean"]
        case is String.Type: return ["type": "string"]
        case is Double.Type, is Float.Type: return ["type": "number"]
        case is any FixedWidthInteger.Type: return ["type": "integer"]
        case is JSONValue.Type: return [:]
        case let list as any ListOfDecodable.Type:
            return ["type": "array", "items": property(of: list.elementType)]
        case let enumeration as any SchemaEnumeration.Type:
            return ["type": "string", "enum": .array(enumeration.schemaCases.map { .string($0) })]
        default:
            let nested = Recorder()
            _ = try? type.init(from: nested)
            return nested.schema
        }
    }

    static func plainValue<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value: Any? =
            switch type {
            case is Bool.Type: false
            case is String.Type: ""
            case is JSONValue.Type: JSONValue.null
            case let number as any FixedWidthInteger.Type: number.init(0)
            case is Double.Type: 0.0
            case is Float.Type: Float(0)
            case let list as any ListOfDecodable.Type: list.emptyList
            case let enumeration as any SchemaEnumeration.Type: enumeration.firstCase
            default: nil
            }
        return try value as? Value ?? Value(from: Recorder())
    }
}

extension SchemaEnumeration {
    fileprivate static var firstCase: Any? { allCases.first }
}

private protocol ListOfDecodable {
    static var elementType: any Decodable.Type { get }
    static var emptyList: Any { get }
}
extension Array: ListOfDecodable where Element: Decodable {
    fileprivate static var elementType: any Decodable.Type { Element.self }
    fileprivate static var emptyList: Any { [Element]() }
}

private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        recorder.note(key.stringValue, Recorder.property(of: type), required: true)
        return try Recorder.plainValue(type)
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        recorder.note(key.stringValue, Recorder.property(of: type), required: false)
        return nil
    }
    // The standard library's defaults for the basic types would read them as present.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        recorder.note(key.stringValue, Recorder.property(of: type), required: false)
        return nil
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        recorder.note(key.stringValue, ["type": "object"], required: true)
        return KeyedDecodingContainer(Fields<Nested>(recorder: Recorder()))
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        recorder.note(key.stringValue, ["type": "array"], required: true)
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not derivable"))
    }
    func superDecoder() throws -> any Decoder { recorder }
    func superDecoder(forKey key: Key) throws -> any Decoder { recorder }
}

private struct PlainValue: SingleValueDecodingContainer {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        recorder.schema = Recorder.property(of: type)
        return try Recorder.plainValue(type)
    }
}
