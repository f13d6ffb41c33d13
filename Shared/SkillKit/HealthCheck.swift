internal import Bus
internal import Credentials
internal import Lifecycle
internal import Wire

/// What `--health` of a worker does: asks the router over the bus, as any peer may, whether it knows a worker of this
/// host with these skills. So it also fails when the bus is cut.
enum HealthCheck {
    static func passes(
        endpoint: String,
        key: ClientKey?,
        skills: [String],
        within seconds: Int = 3
    ) async -> Bool {
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
