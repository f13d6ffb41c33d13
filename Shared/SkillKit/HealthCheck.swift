internal import Bus
internal import Credentials
internal import Lifecycle
internal import Wire

/// What `--health` of a worker does: asks the routers over the bus, as any peer may, whether one knows a worker of this
/// host with these skills. So it also fails when the bus is cut.
enum HealthCheck {
    static func passes(
        endpoints: [String],
        key: ClientKey?,
        skills: [String],
        within seconds: Int = 3
    ) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for endpoint in endpoints {
                group.addTask { await isKnown(at: endpoint, key: key, skills: skills, within: seconds) }
            }
            for await isKnown in group where isKnown { return true }
            return false
        }
    }

    private static func isKnown(at endpoint: String, key: ClientKey?, skills: [String], within seconds: Int) async
        -> Bool
    {
        guard let answer = await RouterQuestion.ask(Query(ask: .skills), at: endpoint, key: key, within: seconds),
            let list = try? JSONBody.decode(SkillList.self, from: answer)
        else { return false }
        return skills.allSatisfy { id in
            list.skills.contains { entry in
                entry.manifest.id == id && entry.workers.contains { $0.host == Environment.hostName }
            }
        }
    }
}
