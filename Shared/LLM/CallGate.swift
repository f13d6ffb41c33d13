internal import Synchronization

/// Lets so many calls run at a time; the others wait in their order.
final class CallGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [(number: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var last: UInt64 = 0
    }
    private let state: Mutex<State>

    init(_ limit: Int) { state = Mutex(State(free: max(1, limit))) }

    /// Waits for a place. False when the task was cancelled; then there is none to give back.
    func enter() async -> Bool {
        let number = state.withLock { state -> UInt64 in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // One that was cancelled before finds that here; one that is from here on is among the waiting.
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let position = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
                return state.waiting.remove(at: position).continuation
            }
            continuation?.resume(returning: false)
        }
    }

    /// Gives a place back.
    func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
