internal import Synchronization
internal import Wire

/// Jobs that the gateway has done for itself. They are no requests: nothing of them is stored, no follower sees them, and
/// when this process ends they are forgotten. What routers and workers see of them is a request like any other.
final class BackgroundJobs: Sendable {
    private struct Job {
        let router: Identifier
        let continuation: CheckedContinuation<Result<SkillOutput, JobError>, Never>
    }
    private let open = Mutex<[Identifier: Job]>([:])

    /// Sends a job by the closure, which says whether that could be, and waits for its end, for so long at most.
    func run(
        _ request: Identifier,
        at router: Identifier,
        within time: Duration,
        send: () -> Bool
    ) async -> Result<SkillOutput, JobError> {
        // A router that ends it for its time says so first.
        let timer = Task { [weak self] in
            try await Task.sleep(for: time)
            self?.end(request, .failure(.silent))
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            open.withLock { $0[request] = Job(router: router, continuation: continuation) }
            if !send() { end(request, .failure(.notSent)) }
        }
    }

    /// Whether a request is one of these.
    func has(_ request: Identifier) -> Bool { open.withLock { $0[request] != nil } }

    /// It has ended. Nothing happens if it had already.
    func end(_ request: Identifier, _ result: Result<SkillOutput, JobError>) {
        let job = open.withLock { $0.removeValue(forKey: request) }
        job?.continuation.resume(returning: result)
    }

    /// What a router has is lost with it; of all routers for nil.
    func lost(_ router: Identifier?) {
        let lost = open.withLock { open in open.filter { router == nil || $0.value.router == router }.map(\.key) }
        for request in lost { end(request, .failure(.notSent)) }
    }
}

extension JobError {
    fileprivate static let notSent = JobError(
        code: Code.noRouter,
        message: "The router is not there.",
        retryable: true
    )
    fileprivate static let silent = JobError(
        code: Code.timeout,
        message: "Its end did not come in time.",
        retryable: true
    )
}
