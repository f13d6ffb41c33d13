internal import Bus
internal import Lifecycle
internal import Synchronization
internal import Wire

/// Questions to the user: whether data may go to an outside party.
///
/// Question and answer may each be lost with a router or a gateway. So the question is said again until there is an answer;
/// the gateway knows it, and what was answered before.
extension WorkerRuntime {
    /// How often a question is said again, in milliseconds.
    static let askInterval: UInt64 = 5000

    /// A question that waits for its answer.
    struct Question {
        let execution: WorkerExecution
        let party: String
        let payload: [UInt8]
        var nextTime: UInt64
        let continuation: CheckedContinuation<Result<Bool, SkillError>, Never>
    }

    func ask(_ disclosure: Disclosure, by execution: WorkerExecution) async -> Result<Bool, SkillError> {
        guard let payload = try? JSONBody.encode(disclosure) else {
            return .failure(SkillError(JobError.Code.badMessage, "the question cannot be encoded"))
        }
        // People take their time: others can use the slot meanwhile.
        let number = beginWaiting(execution)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let question = Question(
                    execution: execution,
                    party: disclosure.party,
                    payload: payload,
                    nextTime: Monotonic.milliseconds + WorkerRuntime.askInterval,
                    continuation: continuation
                )
                state.withLock { $0.questions[number] = question }
                if execution.record(.approval, payload) { wake(execution) }
                if Task.isCancelled { settle(number, .failure(.cancelled)) }
            }
        } onCancel: {
            settle(number, .failure(.cancelled))
        }
        endWaiting(execution)
        return result
    }

    private func settle(_ number: UInt64, _ result: Result<Bool, SkillError>) {
        let question = state.withLock { $0.questions.removeValue(forKey: number) }
        question?.continuation.resume(returning: result)
    }

    /// APPROVAL: the answer about one party, for all of a job that wait for it.
    func answered(_ header: Header, _ body: [UInt8]) {
        let party = String(decoding: body, as: UTF8.self)
        let found = state.withLock { state in
            let found = state.questions.filter {
                $0.value.execution.execution.job == header.job && $0.value.party == party
            }
            for number in found.keys { state.questions[number] = nil }
            return found.values.map(\.continuation)
        }
        found.forEach { $0.resume(returning: .success(header.value == 1)) }
    }

    /// The party that an execution waits for an answer about.
    func openQuestion(of execution: WorkerExecution) -> String? {
        state.withLock { $0.questions.values.first { $0.execution === execution }?.party }
    }

    /// Says the questions again whose answer has not come. Returns when to look again.
    func askAgain(_ state: inout State, now: UInt64) -> UInt64 {
        var next = UInt64.max
        for (number, question) in state.questions {
            if now >= question.nextTime {
                state.questions[number]?.nextTime = now + WorkerRuntime.askInterval
                if question.execution.record(.approval, question.payload) { state.unsent.append(question.execution) }
                // This turn has sent what it had.
                next = now
            }
            next = min(next, state.questions[number]?.nextTime ?? .max)
        }
        return next
    }
}

extension SkillError {
    fileprivate static let cancelled = SkillError(JobError.Code.cancelled, "cancelled")
}
