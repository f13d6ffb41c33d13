import Bus
import Wire

/// What `--health` does: a question over the bus, as a worker would ask it.
enum RouterHealth {
    static func answers(at endpoint: String, within seconds: Int = 3) async -> Bool {
        // A router that listens on every address is asked on this host's own.
        let reachable = endpoint.replacing("//0.0.0.0:", with: "//127.0.0.1:").replacing("//*:", with: "//127.0.0.1:")
        guard let client = try? BusClient(), let context = try? Context() else { return false }
        let (answers, answer) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let asker = Asker(client: client) { answer.yield(true) }
        guard (try? client.start(reachable, context: context, user: asker)) != nil else { return false }
        let limit = Task {
            try? await Task.sleep(for: .seconds(seconds))
            answer.yield(false)
        }
        defer { limit.cancel() }
        for await isAnswered in answers { return isAnswered }
        return false
    }

    private final class Asker: BusClientUser {
        private let client: BusClient
        private let onAnswer: @Sendable () -> Void

        init(client: BusClient, onAnswer: @escaping @Sendable () -> Void) {
            self.client = client
            self.onAnswer = onAnswer
        }

        func connected() {
            guard let query = try? Outgoing(Header(.query, sequence: 1), json: Query(ask: .skills)) else { return }
            try? client.send(query)
        }
        func disconnected() {}
        func received(_ message: consuming Incoming) { if message.header.type == .answer { onAnswer() } }
        func rejected(_ error: WireError) {}
        func turn(now: UInt64) -> UInt64? { nil }
    }
}
