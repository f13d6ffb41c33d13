internal import Glibc
internal import Synchronization

/// What the connections of one store have in common: where the server is, and whether it answered last.
final class PostgresLink: Sendable {
    let address: PostgresAddress
    private let name: String
    private let failure = Mutex<StoreError?>(nil)

    init(_ address: PostgresAddress, name: String) {
        self.address = address
        self.name = name
    }

    /// Why the last thing that was asked of the server did not work; nil if it did.
    var writeFailure: StoreError? { failure.withLock { $0 } }

    /// The connection, or a new one if it is lost.
    func use(_ connection: inout PostgresConnection?) throws(StoreError) -> PostgresConnection {
        if let open = connection, !open.isLost { return open }
        connection = nil
        do throws(StoreError) {
            let made = try PostgresConnection(address, name: name)
            connection = made
            return made
        } catch {
            note(error)
            throw error.asTransient
        }
    }

    /// Something failed. That one write was refused says nothing about the next.
    func note(_ error: StoreError) {
        switch error {
        case .full, .failed, .corrupt, .cannotOpen: failure.withLock { $0 = error }
        default: break
        }
    }

    /// Something was stored.
    func noteSuccess() { failure.withLock { $0 = nil } }
}

extension StoreError {
    /// Of a server that has let us in once: that it does not now is not for ever.
    fileprivate var asTransient: StoreError {
        if case .cannotOpen(_, let reason) = self { .failed(code: 0, reason: reason) } else { self }
    }
}

/// Blocks the thread. Never in a task.
func sleepThread(milliseconds: Int) {
    var left = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    var rest = timespec()
    while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
}

/// Something that ends once, and those who wait for that.
final class Completion: Sendable {
    private let state: Mutex<(isOver: Bool, waiters: [CheckedContinuation<Void, Never>])> = Mutex((false, []))

    func finish() {
        let waiters = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiters.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }
}
