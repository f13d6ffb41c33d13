internal import LLM
internal import Wire

/// The skills that can be called now, as the tools of a model.
struct Toolbox: Sendable {
    /// By their ids.
    let skills: [String: SkillManifest]
    /// In the order of their ids.
    let tools: [ChatTool]
    /// Names of the files that skills may get.
    private let files: [String]

    /// Skills that must not run twice are left out: a run that is lost with its worker begins anew, and with it its calls.
    init(_ manifests: [SkillManifest], files: [String] = []) {
        var seen: Set<String> = []
        let files = files.filter { seen.insert($0).inserted }
        self.files = files
        let usable = manifests.filter { $0.idempotent && $0.inputTypes.contains(.text) }.sorted { $0.id < $1.id }
        skills = Dictionary(usable.map { ($0.id, $0) }) { first, _ in first }
        tools = usable.map { manifest in
            var schema = manifest.inputSchema.object ?? ["type": "object"]
            var properties = schema["properties"]?.object ?? [:]
            properties[Self.textName(manifest)] = [
                "type": "string",
                "description": .string(
                    "what the skill is asked or works on; {{input}} stands for the user's material, {{result N}} for the "
                        + "whole result of call N"
                ),
            ]
            if Self.takes(files, manifest) {
                properties[Self.filesName(manifest)] = [
                    "type": "array", "items": ["type": "string", "enum": .array(files.map { .string($0) })],
                    "description":
                        "files of the user that the skill works on, by their names; the text then says what to do with them",
                ]
            }
            schema["properties"] = .object(properties)
            schema["required"] = .array((schema["required"]?.array ?? []) + [.string(Self.textName(manifest))])
            return ChatTool(name: manifest.id, description: manifest.description, parameters: .object(schema))
        }
    }

    /// The name of the field for the text: no skill's own.
    private static func textName(_ manifest: SkillManifest) -> String {
        manifest.inputSchema["properties"]?["text"] == nil ? "text" : "skill_text"
    }

    /// The name of the field for files: no skill's own.
    private static func filesName(_ manifest: SkillManifest) -> String {
        manifest.inputSchema["properties"]?["files"] == nil ? "files" : "skill_files"
    }

    private static func takes(_ files: [String], _ manifest: SkillManifest) -> Bool {
        !files.isEmpty && manifest.inputTypes.contains { $0 != .text }
    }

    /// A call as it can be made.
    struct Call: Sendable, Equatable {
        var skill: String
        var text: String
        var arguments: JSONValue
        /// Names of the files that the skill gets.
        var files: [String] = []
    }

    /// Why a call cannot be made, in words for the model.
    struct Misfit: Error, Equatable {
        var reason: String
    }

    /// Reads a call of a tool.
    /// - Throws: `Misfit` for a skill that is not there, and for arguments that its schema does not allow.
    func read(_ call: ToolCall) throws(Misfit) -> Call {
        guard let manifest = skills[call.name] else {
            let names = skills.keys.sorted().joined(separator: ", ")
            throw Misfit(reason: "There is no skill \"\(call.name.prefix(80))\". There are: \(names).")
        }
        let written = call.arguments.isEmpty ? "{}" : call.arguments
        guard call.isComplete, var given = (try? JSONBody.decode(JSONValue.self, from: written.utf8))?.object else {
            throw Misfit(reason: "The arguments are no JSON object.")
        }
        let name = Self.textName(manifest)
        guard let text = given.removeValue(forKey: name)?.string else {
            throw Misfit(reason: "\"\(name)\" is missing, or no string.")
        }
        let files = try files(of: manifest, in: &given)
        if let reason = SchemaCheck.problem(with: .object(given), manifest.inputSchema, "arguments") {
            throw Misfit(reason: reason)
        }
        return Call(skill: manifest.id, text: text, arguments: .object(given), files: files)
    }

    private func files(
        of manifest: SkillManifest,
        in given: inout [String: JSONValue]
    ) throws(Misfit) -> [String] {
        let name = Self.filesName(manifest)
        // Where the skill takes none, the field is one of those that it does not know.
        guard Self.takes(files, manifest), let wanted = given.removeValue(forKey: name),
            wanted != .null
        else { return [] }
        guard let names = wanted.array?.compactMap(\.string), names.count == wanted.array?.count,
            names.allSatisfy(files.contains)
        else { throw Misfit(reason: "\"\(name)\" must be a list of: \(files.joined(separator: ", ")).") }
        return names
    }
}

/// What of JSON Schema the schemas of arguments are made of; what is not known here the skill itself checks.
enum SchemaCheck {
    /// The first thing that is wrong; nil if nothing is.
    static func problem(with value: JSONValue, _ schema: JSONValue, _ name: String, depth: Int = 0) -> String? {
        guard depth < 16 else { return nil }
        let types = schema["type"]?.array?.compactMap(\.string) ?? (schema["type"]?.string).map { [$0] } ?? []
        if !types.isEmpty, !types.contains(where: { isOf(value, $0) }) {
            return "\(name) must be \(types.joined(separator: " or ")), not \(value.typeName)."
        }
        if let allowed = schema["enum"]?.array, !allowed.contains(value) {
            return "\(name) must be one of \(allowed.prefix(32).compactMap(\.string).joined(separator: ", "))."
        }
        if let number = value.number {
            if let least = schema["minimum"]?.number, number < least { return "\(name) must be at least \(least)." }
            if let most = schema["maximum"]?.number, number > most { return "\(name) must be at most \(most)." }
        }
        if let items = schema["items"] {
            for element in value.array ?? [] {
                if let found = problem(with: element, items, "\(name)[]", depth: depth + 1) { return found }
            }
        }
        guard let members = value.object else { return nil }
        let properties = schema["properties"]?.object ?? [:]
        for required in schema["required"]?.array?.compactMap(\.string) ?? [] where members[required] == nil {
            return "\(name).\(required) is missing."
        }
        for (key, member) in members.sorted(by: { $0.key < $1.key }) {
            if let property = properties[key] {
                if let found = problem(with: member, property, "\(name).\(key)", depth: depth + 1) { return found }
            } else if schema["additionalProperties"] == false {
                let known = properties.keys.sorted().joined(separator: ", ")
                return "\(name).\(key.prefix(64)) is not known; known are: \(known.isEmpty ? "none" : known)."
            }
        }
        return nil
    }

    private static func isOf(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "integer": value.integer != nil
        case "number": value.number != nil
        case "string": value.string != nil
        case "boolean": value.bool != nil
        case "array": value.array != nil
        case "object": value.object != nil
        case "null": value == .null
        default: true
        }
    }
}
