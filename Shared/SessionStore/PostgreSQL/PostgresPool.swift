internal import Lifecycle

/// A few threads with a connection each, for whatever is asked of the server beside writing events.
final class PostgresPool: Sendable {
    private let link: PostgresLink
    private let queue = BlockingQueue<@Sendable (Result<PostgresConnection, StoreError>) -> Void>()

    init(_ link: PostgresLink, count: Int) {
        self.link = link
        for number in 1...count {
            startThread(named: "store-reader-\(number)") { [queue] in
                var connection: PostgresConnection?
                while let asked = queue.take(upTo: 1) {
                    for ask in asked {
                        do throws(StoreError) {
                            ask(.success(try link.use(&connection)))
                        } catch {
                            ask(.failure(error))
                        }
                    }
                }
            }
        }
    }

    /// Runs the closure on one of the threads.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            let isTaken = queue.put { [link] connection in
                continuation.resume(
                    returning: connection.flatMap { connection in
                        do throws(StoreError) {
                            return .success(try body(connection))
                        } catch {
                            connection.rollBack()
                            if connection.isLost { link.note(error) }
                            return .failure(error)
                        }
                    }
                )
            }
            if !isTaken { continuation.resume(returning: .failure(.closed)) }
        }
        return try result.get()
    }

    /// Takes nothing more; the threads end when what is waiting has been answered.
    func close() { queue.close() }
}
