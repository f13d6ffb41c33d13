internal import Lifecycle

/// A few threads with a connection each, for whatever is asked of the server beside writing events.
final class PostgresPool: Sendable {
    private let link: PostgresLink
    private let queue = BlockingQueue<@Sendable (inout PostgresConnection?) -> Void>()

    init(_ link: PostgresLink, count: Int) {
        self.link = link
        for number in 1...count {
            startThread(named: "store-reader-\(number)") { [queue] in
                var connection: PostgresConnection?
                while let asked = queue.take(upTo: 1) {
                    for ask in asked { ask(&connection) }
                }
            }
        }
    }

    /// Runs the closure on one of the threads; again if a connection from before turns out to be lost, so it must be one
    /// that may run twice.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            let isTaken = queue.put { [link] connection in
                let wasThere = connection != nil
                var result = PostgresPool.run(body, &connection, link)
                if wasThere, case .failure(.failed) = result, connection?.isLost ?? true {
                    result = PostgresPool.run(body, &connection, link)
                }
                if case .failure(let error) = result, connection?.isLost ?? true { link.note(error) }
                continuation.resume(returning: result)
            }
            if !isTaken { continuation.resume(returning: .failure(.closed)) }
        }
        return try result.get()
    }

    private static func run<Value>(
        _ body: (PostgresConnection) throws(StoreError) -> Value,
        _ connection: inout PostgresConnection?,
        _ link: PostgresLink
    ) -> Result<Value, StoreError> {
        do throws(StoreError) {
            return .success(try body(try link.use(&connection)))
        } catch {
            connection?.rollBack()
            return .failure(error)
        }
    }

    /// Takes nothing more; the threads end when what is waiting has been answered.
    func close() { queue.close() }
}
