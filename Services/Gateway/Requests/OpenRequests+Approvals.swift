internal import Bus
internal import SessionStore
internal import Synchronization
internal import Wire

/// Answers to the question whether data may go to outside parties. The store has them: whoever asks again after a loss, or
/// from another gateway, is answered from there.
extension OpenRequests {
    /// The user has answered, and that is stored.
    func answered(_ request: Identifier, _ answers: [ApprovalRecord], now: UInt64) {
        perform(
            state.withLock { state in
                answers.flatMap { answer in
                    apply(to: request, in: &state, now: now) {
                        $0.answered(answer.party, isAllowed: answer.choice.isAllowed)
                    }
                }
            }
        )
    }

    /// The same for all requests of a session.
    func answered(in session: Identifier, _ answer: ApprovalRecord, now: UInt64) {
        for request in state.withLock({ $0.sessions[session] ?? [] }) { answered(request, [answer], now: now) }
    }

    /// Parties that a request waits for an answer about.
    func openQuestions(of request: Identifier) -> [String] {
        state.withLock { $0.open[request]?.progress.approvals.open ?? [] }
    }

    func lookUpApprovals(of request: Identifier) {
        Task { [weak self, store] in
            // What cannot be read now is asked for again with the next repetition of the question.
            guard let answers = try? await store.approvals(of: request), !answers.isEmpty else { return }
            self?.answered(request, answers, now: Monotonic.milliseconds)
        }
    }
}
