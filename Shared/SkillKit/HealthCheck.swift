internal import Bus
internal import Lifecycle
internal import Synchronization
internal import Wire

/// What `--health` of a worker does: asks the router over the bus, as any peer may, whether it knows a worker of this
/// host with these skills. So it also fails when the bus is cut.
enum HealthCheck {
    static func passes(endpoint: String, skills: [String], within seconds: Int = 3) async -> Bool {
        guard let client = try? BusClient(), let context = try? Context() else { return false }
        let (answers, answer) = AsyncStream<SkillList?>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let asker = Asker(client: client) { answer.yield($0) }
        guard (try? client.start(endpoint, context: context, user: asker)) != nil else { return false }
        let limit = Task {
            try? await Task.sleep(for: .seconds(seconds))
            answer.yield(nil)
        }
        defer { limit.cancel() }
        for await list in answers {
            guard let list else { return false }
            return skills.allSatisfy { id in
                list.skills.contains { entry in
                    entry.manifest.id == id && entry.workers.contains { $0.host == Environment.hostName }
                }
            }
        }
        return false
    }
}

private final class Asker: BusClientUser {
    private let client: BusClient
    private let onAnswer: @Sendable (SkillList?) -> Void

    init(client: BusClient, onAnswer: @escaping @Sendable (SkillList?) -> Void) {
        self.client = client
        self.onAnswer = onAnswer
    }

    func connected() {
        guard let query = try? Outgoing(Header(.query, sequence: 1), json: Query(ask: .skills)) else { return }
        try? client.send(query)
    }

    func disconnected() {}

    func received(_ message: consuming Incoming) {
        guard message.header.type == .answer else { return }
        onAnswer(try? JSONBody.decode(SkillList.self, from: message.body()))
    }

    func rejected(_ error: WireError) {}
    func turn(now: UInt64) -> UInt64? { nil }
}
