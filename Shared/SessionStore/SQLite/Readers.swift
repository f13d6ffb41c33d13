internal import Lifecycle

/// A few threads with a read-only connection each. A reader never waits for the writer, nor the writer for a reader.
final class Readers: Sendable {
    private typealias Read = @Sendable (Result<Connection, StoreError>) -> Void
    private let queue = BlockingQueue<@Sendable (Result<Connection, StoreError>) -> Void>()

    init(path: String, count: Int) {
        for number in 1...count {
            startThread(named: "store-reader-\(number)") { [queue] in
                var connection: Connection?
                while let reads = queue.take(upTo: 1) {
                    for read in reads {
                        do throws(StoreError) {
                            let open: Connection
                            if let connection { open = connection } else { open = try Schema.openForReading(path) }
                            connection = open
                            read(.success(open))
                        } catch {
                            read(.failure(error))
                        }
                    }
                }
            }
        }
    }

    /// Reads on one of the threads.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            let isTaken = queue.put { connection in
                continuation.resume(
                    returning: connection.flatMap { connection in
                        do throws(StoreError) { return .success(try body(connection)) } catch { return .failure(error) }
                    }
                )
            }
            if !isTaken { continuation.resume(returning: .failure(.closed)) }
        }
        return try result.get()
    }

    /// Takes nothing more; the threads end when what is waiting has been read.
    func close() { queue.close() }
}
