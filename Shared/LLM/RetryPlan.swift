/// Where a call goes first, and where and when after a failure.
///
/// The endpoints are tried in their order, each at once after the one before it. When all have failed, those that may do
/// better later are tried again after a pause, as often as the policy says.
struct RetryPlan: Sendable {
    private let endpoints: [Endpoint]
    /// Places of the endpoints that the call may go to.
    private let places: [Int]
    private let rounds: Int
    private let deadline: ContinuousClock.Instant
    private var position = 0
    private var round = 1
    private var attempt = 1
    /// Of this round: what the endpoints that may do better later have asked for, in seconds.
    private var hints: [Int: Double] = [:]
    /// Shortest pause before the second round, in seconds; doubled for each that follows.
    private static let firstPause = 0.5
    private static let longestPause = 8.0

    /// - Throws: `LLMError` when there is no endpoint that the call may go to.
    init(
        _ endpoints: [Endpoint],
        allowsOutside: Bool,
        rounds: Int,
        deadline: ContinuousClock.Instant
    ) throws(LLMError) {
        self.endpoints = endpoints
        places = endpoints.indices.filter { allowsOutside || endpoints[$0].isLocal }
        self.rounds = rounds
        self.deadline = deadline
        guard let first = endpoints.first else { throw LLMError(.configuration, "no model endpoint is set") }
        guard !places.isEmpty else {
            var error = LLMError(.outside, "it is not on this host, and this call may not leave it")
            error.endpoint = first.origin
            throw error
        }
    }

    /// The place of the endpoint that is to be tried now.
    var place: Int { places[position] }
    /// The endpoint itself.
    var endpoint: Endpoint { endpoints[place] }
    /// How often it has been tried, this time included.
    var attempts: Int { attempt }
    /// Seconds that are left.
    var remaining: Double {
        let (seconds, attoseconds) = (deadline - .now).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    /// What follows a failure; nil for nothing.
    mutating func next(after error: LLMError) -> Retry? {
        if error.isTransient { hints[position] = error.retryAfter ?? 0 }
        if error.mayGoElsewhere, position + 1 < places.count, remaining > 0 {
            position += 1
            attempt += 1
            return Retry(error: error, pause: .zero, attempt: attempt, elsewhere: endpoint.origin)
        }
        guard round < rounds, let best = hints.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return nil }
        let longest = min(Self.firstPause * Double(1 << min(round - 1, 10)), Self.longestPause)
        // All of the pause is by chance, so that many that failed together do not come back together; what the endpoint
        // asked for comes on top.
        let seconds = best.value + max(0.05, .random(in: 0...longest))
        guard seconds < remaining else { return nil }
        let former = position
        position = best.key
        round += 1
        attempt += 1
        hints = [:]
        return Retry(
            error: error,
            pause: .milliseconds(Int64(seconds * 1000)),
            attempt: attempt,
            elsewhere: position == former ? nil : endpoint.origin
        )
    }
}
