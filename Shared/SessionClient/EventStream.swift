internal import Transfers
public import Wire

/// The events of a session, in order and each once, over any number of broken connections.
///
/// A connection that ends is made again after a pause that grows, with the number of the last event that was handed
/// out. An event that came before is dropped; one that would leave a hole is not handed out: the stream asks again
/// from before the hole, and reports a `gap` when the gateway cannot fill it.
public struct EventStream: AsyncSequence, Sendable {
    /// What happens.
    public enum Update: Sendable, Equatable {
        /// There is a connection.
        case connected
        /// There is none; the next try is made after the pause.
        case disconnected(ClientError, pause: Duration)
        /// The next event.
        case event(SessionEvent)
    }

    let client: GatewayClient
    let session: String
    let after: UInt64?
    let patience: Duration?

    /// Starts to follow; the first connection is made at once.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Where a stream stands.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        /// A gateway says so with `retry:` if it wants another one, in milliseconds.
        private static let firstPause = 500
        /// No pause is longer.
        private static let longestPause = 10_000
        /// A gateway that is silent for so many seconds is taken for gone; it sends comments more often.
        private static let silence = 60

        private let stream: EventStream
        private var exchange: Exchange
        private var isOpen = false
        private var parser = ServerSentEventParser()
        private var ready: ArraySlice<Update> = []
        private var order: EventOrder
        /// Set after a loss; it is made at the next call, so that the caller is told before.
        private var pause: Duration?
        private var failures = 0
        private var lostSince: ContinuousClock.Instant?
        private var basePause = firstPause

        init(_ stream: EventStream) {
            self.stream = stream
            order = EventOrder(after: stream.after)
            exchange = Exchange(Iterator.request(stream, after: stream.after))
        }

        /// Waits for the next update; nil when the task was cancelled.
        /// - Throws: `ClientError` when the session cannot be followed, or patience is at its end.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(ClientError) -> Update? {
            do throws(ClientError) {
                while true {
                    if let update = ready.popFirst() { return update }
                    if let pause {
                        self.pause = nil
                        do { try await Task.sleep(for: pause) } catch { throw ClientError.cancelled }
                        connect()
                    }
                    try await advance()
                }
            } catch {
                if error == .cancelled || Task.isCancelled {
                    exchange.cancel()
                    return nil
                }
                let pause = try lost(error)
                self.pause = pause
                return Update.disconnected(error, pause: pause)
            }
        }

        /// Makes one step: opens the connection, or takes what has come on it.
        private mutating func advance() async throws(ClientError) {
            guard isOpen else {
                try await open()
                ready.append(Update.connected)
                return
            }
            let next: [UInt8]?
            do throws(TransferError) { next = try await exchange.next() } catch { throw failure(error) }
            guard let bytes = next else { throw interrupted("the stream ended") }
            let events: [ServerSentEvent]
            do {
                events = try parser.feed(bytes)
            } catch {
                throw .badResponse(url: stream.client.url, reason: "an event of more than \(error.limit) bytes")
            }
            if let retry = parser.retry { basePause = Swift.min(Swift.max(retry, 10), 60_000) }
            for event in events { try take(event) }
        }

        private mutating func connect() {
            exchange = Exchange(Iterator.request(stream, after: order.last))
            isOpen = false
            parser = ServerSentEventParser()
        }

        private static func request(_ stream: EventStream, after last: UInt64?) -> TransferRequest {
            var request = stream.client.request("GET", "/v1/sessions/\(Address.escaped(stream.session))/events")
            request.headers.append(("Accept", "text/event-stream"))
            request.headers.append(("Cache-Control", "no-cache"))
            if let last { request.headers.append(("Last-Event-ID", "\(last)")) }
            request.silence = silence
            return request
        }

        private mutating func open() async throws(ClientError) {
            let head: TransferHead
            var refusal: [UInt8]?
            do throws(TransferError) {
                head = try await exchange.head()
                if head.status != 200 { refusal = try await exchange.body(limit: 1 << 20) ?? [] }
            } catch {
                throw failure(error)
            }
            if let refusal { throw stream.client.problem(head, refusal) }
            guard head.value("content-type")?.hasPrefix("text/event-stream") == true else {
                exchange.cancel()
                throw .badResponse(url: stream.client.url, reason: "no text/event-stream")
            }
            isOpen = true
            lostSince = nil
        }

        /// Decides whether to go on after a loss.
        private mutating func lost(_ error: ClientError) throws(ClientError) -> Duration {
            exchange.cancel()
            guard error.isTransient else { throw error }
            let now = ContinuousClock.now
            let since = lostSince ?? now
            lostSince = since
            if let patience = stream.patience, now - since >= patience { throw error }
            var pause = Swift.min(basePause << Swift.min(failures, 10), Iterator.longestPause)
            if case .problem(let problem) = error, let seconds = problem.retryAfter {
                pause = Swift.max(pause, Int(Swift.min(seconds, 60) * 1000))
            }
            failures += 1
            // Spread, so that all the clients of a gateway do not come back at the same moment.
            return .milliseconds(pause * Int.random(in: 80...120) / 100)
        }

        private mutating func take(_ received: ServerSentEvent) throws(ClientError) {
            let event: SessionEvent
            do {
                event = try JSONBody.decode(SessionEvent.self, from: received.data)
            } catch {
                throw .badResponse(url: stream.client.url, reason: "\(error)")
            }
            switch order.place(event) {
            case .deliver(let gap):
                failures = 0
                if let gap { ready.append(.event(gap)) }
                ready.append(.event(event))
            case .drop: break
            case .askAgain(let from, let to): throw interrupted("events \(from) to \(to) are missing")
            }
        }

        private func failure(_ error: TransferError) -> ClientError {
            ClientError(error, url: stream.client.url, Iterator.request(stream, after: nil))
        }

        private func interrupted(_ reason: String) -> ClientError {
            .interrupted(url: stream.client.url, reason: reason)
        }
    }
}
