/// The client of a stream has gone, or the server has stopped.
public struct HTTPClientLeft: Error, Sendable, Equatable {
    /// Makes one.
    public init() {}
}

/// Where the producer of a streamed response puts its bytes.
public final class HTTPBodyWriter: Sendable {
    private let exchange: HTTPExchange

    init(_ exchange: HTTPExchange) { self.exchange = exchange }

    /// Sends bytes, and waits while the client has not taken those before: a slow client slows its own producer and
    /// holds no more than ``HTTPLimits/streamBuffer``.
    /// - Throws: ``HTTPClientLeft``. Cancellation of the task does not stop it: a last word can be said.
    public func write(_ bytes: [UInt8]) async throws(HTTPClientLeft) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = try await exchange.take(rest)
            rest = rest.dropFirst(taken)
        }
    }
}
