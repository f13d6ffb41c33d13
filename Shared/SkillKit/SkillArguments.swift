public import Wire

/// Arguments of a skill: any `Decodable` struct whose fields are numbers, strings, booleans, lists of those, nested
/// structs, or enumerations that are `CaseIterable` with string raw values. The JSON Schema is derived from it.
public protocol SkillArguments: Decodable, Sendable {
    /// A sentence per field, for the schema.
    static var descriptions: [String: String] { get }
}

extension SkillArguments {
    /// No sentences.
    public static var descriptions: [String: String] { [:] }
}

/// Arguments of a skill that takes none.
public struct NoArguments: SkillArguments {
    /// Makes them.
    public init() {}
}

/// A string enumeration whose cases the schema should list.
public protocol SchemaEnumeration: CaseIterable, RawRepresentable, Decodable, Sendable where RawValue == String {}

extension SchemaEnumeration {
    static var schemaCases: [String] { allCases.map(\.rawValue) }
}

extension SkillArguments {
    /// Decodes arguments from the request's JSON.
    /// - Throws: `SkillError` with the code `invalid_arguments` that names the field.
    public static func decode(_ value: JSONValue?) throws(SkillError) -> Self {
        // Most skills take none, and the coders cost more than the rest of a small job.
        if let none = NoArguments() as? Self { return none }
        do {
            let bytes = if let value { try JSONBody.encode(value) } else { Array("{}".utf8) }
            return try JSONBody.decode(Self.self, from: bytes)
        } catch {
            var reason = if case .body(_, let reason) = error { reason } else { "\(error)" }
            // The decoder names no field for a number that does not fit.
            if let field = fractionWhereIntegerBelongs(value) { reason = "\"\(field)\" is not an integer" }
            throw SkillError(JobError.Code.invalidArguments, "invalid arguments: \(reason)")
        }
    }

    private static func fractionWhereIntegerBelongs(_ value: JSONValue?) -> String? {
        let properties = SchemaDerivation.schema(of: Self.self)["properties"]?.object ?? [:]
        return properties.keys.sorted().first { field in
            guard properties[field]?["type"] == "integer", let given = value?[field] else { return false }
            return given.number != nil && given.integer == nil
        }
    }
}
