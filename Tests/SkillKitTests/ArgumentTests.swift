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

    struct Anything: SkillArguments {
        let all: [String: JSONValue]
        init(from decoder: any Decoder) throws { all = try [String: JSONValue](from: decoder) }
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
        #expect(schema["additionalProperties"] == false)
        #expect(
            SchemaDerivation.schema(of: NoArguments.self)
                == ["type": "object", "properties": [:], "additionalProperties": false]
        )
        #expect(SchemaDerivation.schema(of: Anything.self)["additionalProperties"] == nil)
    }

    struct Ranged: SkillArguments {
        var points: Int?
        static let ranges = ["points": 1...10, "nothing": 1...2]
    }

    @Test func theSchemaHasTheRanges() {
        let properties = SchemaDerivation.schema(of: Ranged.self)["properties"]
        #expect(properties == ["points": ["type": "integer", "minimum": 1, "maximum": 10]])
    }

    @Test func anArgumentOutsideItsRangeIsNamed() throws {
        #expect(try Ranged.decode(["points": 10]).points == 10)
        for (value, shown) in [
            (JSONValue.integer(11), "11"), (0, "0"), (-3, "-3"), (.integer(.max), "9223372036854775807"),
        ] {
            #expect { _ = try Ranged.decode(["points": value]) } throws: { error in
                let error = error as? SkillError
                return error?.code == JobError.Code.invalidArguments
                    && error?.message.hasPrefix("points must be between 1 and 10") == true
                    && error?.message.hasSuffix(shown) == true
            }
        }
    }

    @Test func argumentsAreDecoded() throws {
        let sample = try Sample.decode(["points": 3, "style": "long", "tags": ["a"], "range": ["from": 1]])
        #expect(sample.points == 3)
        #expect(sample.style == .long)
        #expect(sample.tags == ["a"])
        #expect(sample.range?.from == 1)
    }

    @Test func anUnknownArgumentIsNamedWithThoseThatThereAre() throws {
        let error = #expect(throws: SkillError.self) { try Sample.decode(["points": 3, "langage": "en"]) }
        #expect(error?.code == "invalid_arguments")
        #expect(error?.message.contains("\"langage\"") == true)
        #expect(error?.hint?.contains("\"language\", \"points\"") == true)
        let none = #expect(throws: SkillError.self) { try NoArguments.decode(["points": 3]) }
        #expect(none?.message.contains("\"points\"") == true)
        _ = try NoArguments.decode([:])
        #expect(try Anything.decode(["any": 1]).all == ["any": 1])
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
