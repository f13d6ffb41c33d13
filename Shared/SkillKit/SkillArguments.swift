public import Wire

/// Arguments of a skill: any `Decodable` struct whose fields are numbers, strings, booleans, lists of those, nested
/// structs, or enumerations that are `CaseIterable` with string raw values. The JSON Schema is derived from it.
public protocol SkillArguments: Decodable, Sendable {
    /// A sentence per field, for the schema.
    static var descriptions: [String: String] { get }
    /// The least and the greatest value of a field that is a number. One outside that stands in the words of a request is
    /// not passed on; one that is given as an argument is refused by name.
    static var ranges: [String: ClosedRange<Int>] { get }
}

extension SkillArguments {
    /// No sentences.
    public static var descriptions: [String: String] { [:] }
    /// Any number.
    public static var ranges: [String: ClosedRange<Int>] { [:] }
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
        let given = value?.object ?? [:]
        try refuseUnknown(given)
        try refuseOutside(given)
        do {
            let bytes = if let value { try JSONBody.encode(value) } else { Array("{}".utf8) }
            return try JSONBody.decode(Self.self, from: bytes)
        } catch {
            let reason = if case .body(_, let reason) = error { reason } else { "\(error)" }
            throw SkillError(JobError.Code.invalidArguments, "invalid arguments: \(reason)")
        }
    }

    private static func refuseOutside(_ given: [String: JSONValue]) throws(SkillError) {
        for (field, range) in ranges.sorted(by: { $0.key < $1.key }) {
            guard let number = given[field]?.number,
                number < Double(range.lowerBound) || number > Double(range.upperBound)
            else { continue }
            let shown = given[field]?.integer.map { "\($0)" } ?? "\(number)"
            throw SkillError(
                JobError.Code.invalidArguments,
                "\(field) must be between \(range.lowerBound) and \(range.upperBound); it is \(shown)"
            )
        }
    }

    /// A name that the skill does not know is most often one that is misspelt: without this, it would do something else
    /// than what it was told to.
    private static func refuseUnknown(_ given: [String: JSONValue]) throws(SkillError) {
        guard !given.isEmpty else { return }
        let schema = SchemaDerivation.schema(of: Self.self)
        guard schema["additionalProperties"] == false else { return }
        let known = schema["properties"]?.object ?? [:]
        guard let unknown = given.keys.filter({ known[$0] == nil }).min() else { return }
        let names = known.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        throw SkillError(
            JobError.Code.invalidArguments,
            "invalid arguments: \"\(unknown.prefix(64))\" is not known",
            hint: names.isEmpty ? "This skill takes no arguments." : "Known are \(names)."
        )
    }
}
