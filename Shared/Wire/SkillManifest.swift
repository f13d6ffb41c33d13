/// What a skill says of itself. Routing, lists, clients and models know a skill by this alone.
public struct SkillManifest: Equatable, Sendable {
    /// What kind of input a skill reads.
    public enum InputType: String, Codable, Sendable, CaseIterable {
        /// Text.
        case text
        /// A picture.
        case image
        /// Sound.
        case audio
        /// Any file.
        case file
    }

    /// Stable name, such as `summarize`: lower-case letters, digits and hyphens.
    public var id: String
    /// Name for people.
    public var displayName: String
    /// What the skill does, for which input, and where it stops; best in every language that users write.
    public var description: String
    /// Semantic version. New jobs go to the newest version that has workers.
    public var version: String
    /// What it reads.
    public var inputTypes: [InputType]
    /// JSON Schema of the arguments.
    public var inputSchema: JSONValue
    /// Kinds of data that it takes from earlier steps, such as `text` or `passages`.
    public var consumes: [String]
    /// Kinds of data that it makes for later steps.
    public var produces: [String]
    /// Things that a user would say to mean this skill, in any language.
    public var examples: [String]
    /// Breaks ties: the greater wins. 50 is usual; a fallback such as chat has less.
    public var priority: Int
    /// Jobs that one worker runs at a time.
    public var concurrency: Int
    /// Longest run of one attempt, in seconds.
    public var timeout: Double
    /// How long an output may be reused for the same input, in seconds; 0 for never.
    public var cacheTTL: Double
    /// Whether a lost job may be run again. If not, it is started at most once, ever.
    public var idempotent: Bool
    /// Outside parties that see the input, empty for a local skill. It is of each worker, by its settings: workers of one
    /// version may differ in it, and in nothing else.
    public var sendsDataTo: [String]

    /// Makes a manifest; what is left out has its usual value.
    public init(
        id: String,
        displayName: String? = nil,
        description: String,
        version: String = "1.0.0",
        inputTypes: [InputType] = [.text],
        inputSchema: JSONValue = ["type": "object"],
        consumes: [String] = ["text"],
        produces: [String] = ["text"],
        examples: [String] = [],
        priority: Int = 50,
        concurrency: Int = 4,
        timeout: Double = 60,
        cacheTTL: Double = 600,
        idempotent: Bool = true,
        sendsDataTo: [String] = []
    ) {
        self.id = id
        self.displayName = displayName ?? id
        self.description = description
        self.version = version
        self.inputTypes = inputTypes
        self.inputSchema = inputSchema
        self.consumes = consumes
        self.produces = produces
        self.examples = examples
        self.priority = priority
        self.concurrency = concurrency
        self.timeout = timeout
        self.cacheTTL = cacheTTL
        self.idempotent = idempotent
        self.sendsDataTo = sendsDataTo
    }
}

extension SkillManifest: Codable {
    private enum Key: String, CodingKey {
        case id, displayName, description, version, inputTypes, inputSchema, consumes, produces, examples, priority
        case concurrency, timeout, cacheTTL, idempotent, sendsDataTo
    }

    /// Decodes a manifest; only `id` and `description` must be there.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self.init(
            id: try fields.decode(String.self, forKey: .id),
            displayName: try fields.decodeIfPresent(String.self, forKey: .displayName),
            description: try fields.decode(String.self, forKey: .description)
        )
        func read<Value: Decodable>(_ key: Key, into value: inout Value) throws {
            if let found = try fields.decodeIfPresent(Value.self, forKey: key) { value = found }
        }
        try read(.version, into: &version)
        try read(.inputTypes, into: &inputTypes)
        try read(.inputSchema, into: &inputSchema)
        try read(.consumes, into: &consumes)
        try read(.produces, into: &produces)
        try read(.examples, into: &examples)
        try read(.priority, into: &priority)
        try read(.concurrency, into: &concurrency)
        try read(.timeout, into: &timeout)
        try read(.cacheTTL, into: &cacheTTL)
        try read(.idempotent, into: &idempotent)
        try read(.sendsDataTo, into: &sendsDataTo)
    }

    /// Encodes every field.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(displayName, forKey: .displayName)
        try fields.encode(description, forKey: .description)
        try fields.encode(version, forKey: .version)
        try fields.encode(inputTypes, forKey: .inputTypes)
        try fields.encode(inputSchema, forKey: .inputSchema)
        try fields.encode(consumes, forKey: .consumes)
        try fields.encode(produces, forKey: .produces)
        try fields.encode(examples, forKey: .examples)
        try fields.encode(priority, forKey: .priority)
        try fields.encode(concurrency, forKey: .concurrency)
        try fields.encode(timeout, forKey: .timeout)
        try fields.encode(cacheTTL, forKey: .cacheTTL)
        try fields.encode(idempotent, forKey: .idempotent)
        try fields.encode(sendsDataTo, forKey: .sendsDataTo)
    }
}

/// Why a manifest is refused: the field, and what is wrong with it.
public struct ManifestError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The field.
    public let field: String
    /// What is wrong.
    public let reason: String

    /// One sentence.
    public var description: String { "manifest field \"\(field)\": \(reason)" }
}

extension SkillManifest {
    /// Whether two workers with these manifests serve the same version of the same skill: all is equal but whom they send
    /// data to, which depends on where each of them runs and how it is set.
    public func isSameVersion(as other: SkillManifest) -> Bool {
        var other = other
        other.sendsDataTo = sendsDataTo
        return self == other
    }

    /// Adds the parties of another worker of the same skill.
    public mutating func addParties(of other: SkillManifest) {
        for party in other.sendsDataTo where !sendsDataTo.contains(party) { sendsDataTo.append(party) }
    }

    /// Checks what a router needs to rely on.
    /// - Throws: `ManifestError` for the first field that is wrong.
    public func validate() throws(ManifestError) {
        func check(_ field: String, _ holds: Bool, _ reason: String) throws(ManifestError) {
            guard holds else { throw ManifestError(field: field, reason: reason) }
        }
        let letters = id.utf8.allSatisfy { 97...122 ~= $0 || 48...57 ~= $0 || $0 == 45 }
        try check(
            "id",
            !id.isEmpty && id.utf8.count <= 64 && letters && 97...122 ~= (id.utf8.first ?? 0),
            "must be 1 to 64 lower-case letters, digits and hyphens, and start with a letter; it is \"\(id.prefix(80))\""
        )
        try check(
            "description",
            description.contains { !$0.isWhitespace },
            "must say what the skill does: routing reads it"
        )
        try check(
            "displayName",
            !displayName.isEmpty && displayName.utf8.count <= Limits.shortString,
            "must have 1 to \(Limits.shortString) bytes"
        )
        try check("version", SemanticVersion(version) != nil, "must be like 1.2.3; it is \"\(version.prefix(80))\"")
        try check("concurrency", 1...1024 ~= concurrency, "must be between 1 and 1024; it is \(concurrency)")
        try check(
            "timeout",
            timeout > 0 && timeout <= 86_400,
            "must be above 0 and at most 86400 seconds; it is \(timeout)"
        )
        try check("cacheTTL", cacheTTL >= 0 && cacheTTL.isFinite, "must be 0 seconds or more; it is \(cacheTTL)")
        try check("inputSchema", inputSchema.object != nil, "must be a JSON object; it is \(inputSchema.typeName)")
        try check("priority", -1000...1000 ~= priority, "must be between -1000 and 1000; it is \(priority)")
        for (field, values) in [("consumes", consumes), ("produces", produces), ("sendsDataTo", sendsDataTo)] {
            try check(
                field,
                values.allSatisfy { !$0.isEmpty && $0.utf8.count <= Limits.shortString },
                "entries must have 1 to \(Limits.shortString) bytes"
            )
        }
    }
}

/// `major.minor.patch` with an optional pre-release part, ordered as semver.org says (build metadata is ignored).
public struct SemanticVersion: Comparable, Sendable {
    private let numbers: [UInt64]
    private let prerelease: [String]

    /// Reads a version; nil if it is none.
    public init?(_ text: String) {
        let withoutBuild = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let parts = withoutBuild.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let fields = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { UInt64($0) }
        guard fields.count == 3, numbers.count == 3 else { return nil }
        self.numbers = numbers
        prerelease = parts.count == 2 ? parts[1].split(separator: ".").map(String.init) : []
    }

    /// Orders by precedence; a pre-release comes before its release.
    public static func < (left: SemanticVersion, right: SemanticVersion) -> Bool {
        if left.numbers != right.numbers { return left.numbers.lexicographicallyPrecedes(right.numbers) }
        if left.prerelease.isEmpty || right.prerelease.isEmpty {
            return !left.prerelease.isEmpty && right.prerelease.isEmpty
        }
        return left.prerelease.lexicographicallyPrecedes(right.prerelease) { one, other in
            switch (UInt64(one), UInt64(other)) {
            case (let one?, let other?): one < other
            case (.some, nil): true
            case (nil, .some): false
            case (nil, nil): one < other
            }
        }
    }
}
