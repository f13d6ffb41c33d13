public import Credentials
public import Wire

/// One question to a router over a connection of its own, as any peer may ask: what health checks need.
public enum RouterQuestion {
    /// Asks, and waits for the answer.
    /// - Returns: The body of the answer; nil when there is none in time.
    public static func ask(_ query: Query, at endpoint: String, key: ClientKey? = nil, within seconds: Int = 3) async
        -> [UInt8]?
    {
        let addresses = await addresses(of: [endpoint])
        return await ask(query, atAnyOf: addresses, key: key, within: seconds)
    }

    /// The addresses behind names, looked up on a thread of its own.
    private static func addresses(of endpoints: [String]) async -> [String] {
        let resolver = AddressResolver(endpoints)
        guard resolver.hasNames else { return resolver.known }
        return await withCheckedContinuation { continuation in
            runThread(named: "resolver") { continuation.resume(returning: resolver.resolve()) }
        }
    }

    private static func ask(
        _ query: Query,
        atAnyOf addresses: [String],
        key: ClientKey?,
        within seconds: Int
    ) async -> [UInt8]? {
        guard !addresses.isEmpty, let client = try? BusClient(key: key),
            let question = try? Outgoing(Header(.query, sequence: 1), json: query)
        else { return nil }
        let (answers, answer) = AsyncStream<[UInt8]?>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let asker = Asker(client: client, question: question) { answer.yield($0) }
        guard (try? client.start(addresses, user: asker)) != nil else { return nil }
        let limit = Task {
            try? await Task.sleep(for: .seconds(seconds))
            answer.yield(nil)
        }
        defer { limit.cancel() }
        var answered: [UInt8]?
        for await body in answers {
            answered = body
            break
        }
        await client.close()
        return answered
    }

    private final class Asker: BusClientUser {
        private let client: BusClient
        private let question: Outgoing
        private let onAnswer: @Sendable ([UInt8]?) -> Void

        init(client: BusClient, question: Outgoing, onAnswer: @escaping @Sendable ([UInt8]?) -> Void) {
            self.client = client
            self.question = question
            self.onAnswer = onAnswer
        }

        func connected(_ link: BusLink) { try? client.send(question, to: link) }
        func disconnected(_ link: BusLink) {}
        func received(_ message: consuming Incoming, from link: BusLink) {
            switch message.header.type {
            case .answer: onAnswer(message.body())
            case .error: onAnswer(nil)
            default: break
            }
        }
        func rejected(_ error: WireError) {}
        func turn(now: UInt64) -> UInt64? { nil }
    }
}
