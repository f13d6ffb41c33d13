internal import Bus
internal import Synchronization
internal import Wire

/// Questions of running skills to their router: what skills there are, and what it would make of a text. The router answers
/// at once, so the execution keeps its slot; one that asks nothing costs nothing.
extension WorkerRuntime {
    /// Asks the router that an execution belongs to.
    /// - Returns: the body of its answer.
    func query(_ query: Query, by execution: WorkerExecution) async -> Result<[UInt8], SkillError> {
        guard let body = try? JSONBody.encode(query), body.count <= Limits.message - Limits.inlineBody else {
            return .failure(SkillError(JobError.Code.badMessage, "the question is too long, or cannot be encoded"))
        }
        let number = state.withLock { state in
            defer { state.nextCall += 1 }
            return state.nextCall
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let link = execution.route.link
                state.withLock { $0.queries[number] = OpenQuery(link: link, continuation: continuation) }
                do {
                    try client.send(Outgoing(Header(.query, sequence: number), body: body), to: link)
                } catch {
                    answered(number, .failure(SkillError(JobError.Code.noRouter, "no router", retryable: true)))
                }
                if Task.isCancelled { answered(number, .failure(.queryCancelled)) }
            }
        } onCancel: {
            answered(number, .failure(.queryCancelled))
        }
    }

    /// The answer to a query, or what became of it instead.
    /// - Returns: false if nobody waits for it.
    @discardableResult
    func answered(_ number: UInt64, _ result: Result<[UInt8], SkillError>) -> Bool {
        let query = state.withLock { $0.queries.removeValue(forKey: number) }
        query?.continuation.resume(returning: result)
        return query != nil
    }

    /// ERROR: whether it is about a query.
    func refused(_ header: Header, _ body: [UInt8]) -> Bool {
        guard header.sequence != 0, let error = try? JSONBody.decode(JobError.self, from: body) else { return false }
        let failure = SkillError(error.code, error.message, hint: error.hint, retryable: error.retryable)
        return answered(header.sequence, .failure(failure))
    }

    /// A router is gone: it answers nothing any more.
    func loseQueries(at link: BusLink) {
        let lost = state.withLock { state in
            let lost = state.queries.filter { $0.value.link == link }
            for number in lost.keys { state.queries[number] = nil }
            return lost.values.map(\.continuation)
        }
        let error = SkillError(JobError.Code.noRouter, "the router was lost", retryable: true)
        for continuation in lost { continuation.resume(returning: .failure(error)) }
    }
}

extension SkillError {
    fileprivate static let queryCancelled = SkillError(JobError.Code.cancelled, "cancelled")
}
