internal import Wire

/// A skill with its type forgotten, as the runtime holds it. A class, since every execution holds on to it and a copy
/// would have a reference to count for each field of the manifest.
final class HostedSkill: Sendable {
    let manifest: SkillManifest
    let engine: String
    let startedPayload: [UInt8]
    let execute: nonisolated(nonsending) @Sendable (SkillInput, JSONValue?, SkillContext) async throws -> SkillOutput

    init<S: Skill>(_ skill: S, worker: String) throws(WireError) {
        var manifest = S.completeManifest
        manifest.sendsDataTo = skill.sendsDataTo
        self.manifest = manifest
        engine = skill.engine
        startedPayload = try JSONBody.encode(JobStarted(worker: worker, engine: skill.engine, skill: manifest.id))
        // Most jobs have no arguments, and to decode none costs more than the rest of a small job.
        let none = Result { () throws(SkillError) in try S.Arguments.decode(nil) }
        execute = { input, arguments, context in
            let isEmpty = arguments?.object?.isEmpty ?? true
            return try await skill.run(input, isEmpty ? none.get() : .decode(arguments), context)
        }
    }
}
