internal import Lifecycle
internal import SessionClient
internal import Wire

/// Arguments of a skill as a person writes them on a command line: a JSON object.
enum SkillArgumentText {
    /// Reads them. What is wrong is said with the names that the skill's manifest has, where the gateway tells them.
    /// - Throws: `UsageError`.
    static func read(_ text: String, for skill: String?, _ client: GatewayClient) async throws(UsageError) -> JSONValue
    {
        let value: JSONValue
        do {
            value = try JSONBody.decode(JSONValue.self, from: Array(text.utf8))
        } catch {
            throw UsageError("--arguments is not JSON: \(await wanted(by: skill, client))")
        }
        guard value.object != nil else {
            throw UsageError("--arguments is \(value.typeName) and no object: \(await wanted(by: skill, client))")
        }
        return value
    }

    private static func wanted(by skill: String?, _ client: GatewayClient) async -> String {
        guard let skill, let list = try? await within(TimeLimit(3), { try await client.skills() }),
            let manifest = list.skills.first(where: { $0.manifest.id == skill })?.manifest
        else {
            return "it must be like '{\"NAME\": 3}'; `skillbus skills --json` has each skill's names, as inputSchema"
        }
        let names = manifest.inputSchema["properties"]?.object?.keys.sorted() ?? []
        guard let first = names.first else { return "\(skill) takes no arguments" }
        return "it must be like '{\"\(first)\": ...}'; \(skill) takes \(names.joined(separator: ", "))"
    }
}
