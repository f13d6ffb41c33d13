internal import HTTPServer
internal import Wire

/// The one table of what an error of the gateway is in HTTP.
extension HTTPProblem {
    /// The answer for an error.
    init(_ error: GatewayError) {
        self.init(HTTPProblem.status(of: error), error.code, error.message, hint: error.hint)
        if let seconds = error.retryAfter { headers["Retry-After"] = String(seconds) }
    }

    /// Calls something, with its errors as problems.
    static func of<Value: Sendable>(
        _ call: () async throws(GatewayError) -> Value
    ) async throws(HTTPProblem) -> Value {
        do throws(GatewayError) {
            return try await call()
        } catch {
            throw HTTPProblem(error)
        }
    }

    private static func status(of error: GatewayError) -> Int {
        switch error {
        case .invalid: 400
        case .sessionNotFound, .requestNotFound, .deadLetterNotFound: 404
        case .busy, .noQuestion: 409
        case .sessionPruned: 410
        case .tooLarge: 413
        case .idempotencyMismatch: 422
        case .tooManyRequests: 429
        case .storeUnavailable, .noRouter, .draining: 503
        case .refused(let refusal): status(of: refusal)
        }
    }

    /// For what the router says about a question that is answered at once.
    private static func status(of refusal: JobError) -> Int {
        switch refusal.code {
        case JobError.Code.invalidArguments: 400
        case JobError.Code.unknownSkill: 404
        case JobError.Code.outOfScope: 422
        case JobError.Code.overloaded, JobError.Code.noWorker, JobError.Code.noRouter, JobError.Code.draining: 503
        case JobError.Code.timeout: 504
        default: 502
        }
    }
}
