import SessionStore
import StoreTesting
import Synchronization

/// A store that refuses the next batches for good when a test says so, and else is the one below it.
final class UnreliableStore: ForwardingStore {
    let store: any SessionStore
    private let refusals = Mutex(0)
    /// Batches that are held back; nil when none are.
    private let held = Mutex<[@Sendable () -> Void]?>(nil)

    init(_ store: any SessionStore) { self.store = store }

    /// The next so many batches cannot be stored.
    func refuse(_ count: Int) { refusals.withLock { $0 = count } }

    /// From now on batches wait, as for a disk that is full.
    func hold() { held.withLock { $0 = [] } }

    /// Those that wait are stored, and all that come after them.
    func letGo() {
        let waiting = held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        waiting.forEach { $0() }
    }

    func append(_ batch: EventBatch, then done: @escaping @Sendable (Result<AppendOutcome, StoreError>) -> Void) {
        let isRefused = refusals.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        let isHeld = held.withLock { held in
            guard held != nil else { return false }
            held?.append { [store] in store.append(batch, then: done) }
            return true
        }
        if isHeld { return }
        // Called later and elsewhere, as by a store.
        if isRefused {
            Task { done(.failure(.rejected(code: 19, reason: "constraint failed"))) }
        } else {
            store.append(batch, then: done)
        }
    }
}
