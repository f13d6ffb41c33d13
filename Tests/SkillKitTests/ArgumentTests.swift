import SkillKit
import Testing
import Wire

/// Schemas derived from Swift types, and arguments decoded back into them.
struct ArgumentTests {
    enum Style: String, SchemaEnumeration { case short, long }
    struct Range: Decodable, Sendable { var from: Int, to: Double? }
    struct Sample: SkillArguments {
        var points: Int
        var language: String?
        var ratio: Double?
        var isQuick: Bool?
        var style: Style?
        var tags: [String]?
        var range: Range?
        static let descriptions = ["points": "how many points"]
    }

    @Test func theSchemaFollowsTheType() {
        let schema = SchemaDerivation.schema(of: Sample.self)
        #expect(schema["type"] == "object")
        #expect(schema["required"] == ["points"])
        let properties = schema["properties"]
        #expect(properties?["points"] == ["type": "integer", "description": "how many points"])
        #expect(properties?["language"] == ["type": "string"])
        #expect(properties?["ratio"] == ["type": "number"])
        #expect(properties?["isQuick"] == ["type": "boolean"])
        #expect(properties?["style"] == ["type": "string", "enum": ["short", "long"]])
        #expect(properties?["tags"] == ["type": "array", "items": ["type": "string"]])
        #expect(properties?["range"]?["required"] == ["from"])
        #expect(properties?["range"]?["properties"]?["to"] == ["type": "number"])
        #expect(SchemaDerivation.schema(of: NoArguments.self) == ["type": "object", "properties": [:]])
    }

    @Test func argumentsAreDecoded() throws {
        let sample = try Sample.decode(["points": 3, "style": "long", "tags": ["a"], "range": ["from": 1], "other": 1])
        #expect(sample.points == 3)
        #expect(sample.style == .long)
        #expect(sample.tags == ["a"])
        #expect(sample.range?.from == 1)
    }

    @Test(
        arguments: [
            ([:], "points"), (["points": "three"], "points"), (["points": 1.5], "points"),
            (["points": 1, "style": "loud"], "style"), (["points": 1, "tags": [1]], "tags"),
            (["points": 1, "range": ["from": "x"]], "range.from"), (["points": 1, "isQuick": "yes"], "isQuick"),
        ] as [(JSONValue, String)]
    )
    func aWrongArgumentIsNamed(_ arguments: JSONValue, _ field: String) {
        let error = #expect(throws: SkillError.self) { try Sample.decode(arguments) }
        #expect(error?.code == "invalid_arguments")
        #expect(error?.message.contains("\"\(field)") == true, "\(error?.message ?? "")")
    }
}
