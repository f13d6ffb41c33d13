internal import Lifecycle
internal import Synchronization

/// The one connection that writes and checkpoints, on a thread of its own.
///
/// Group commit: what is waiting when a transaction is begun goes into it, up to 200 writes. Nothing is delayed for
/// that: while one commit waits for the disk, the next group gathers. Each write is a savepoint, so that one that
/// fails takes no other with it.
final class Writer: Sendable {
    /// One write: what it does, and what is called after the commit, or with the reason why not.
    struct Write: Sendable {
        var body: @Sendable (Connection) throws(StoreError) -> @Sendable () -> Void
        var failed: @Sendable (StoreError) -> Void
        /// Tried again until it is stored: it holds what must not be lost.
        var isPatient: Bool
    }

    /// Writes of one transaction at most: with more, those at its start would wait for those at its end.
    private static let group = 200
    /// Pages of the log after which they are moved into the database: 8 MB.
    private static let checkpointPages = 2048
    /// Pages of the log after which it is cut: 64 MB. Readers that never let go would make it grow on.
    private static let truncatePages = 16_384

    /// Milliseconds between two looks whether a disk that took nothing takes something again.
    private static let probeTime = 1000

    private let queue = BlockingQueue<Write>()
    private let failure = Mutex<StoreError?>(nil)
    private let commits = Atomic<Int>(0)
    /// Who waits for the log to be cut.
    private let cutters = Mutex<[CheckedContinuation<Bool, Never>]>([])
    private let ended: Mutex<(isOver: Bool, waiters: [CheckedContinuation<Void, Never>])> = Mutex((false, []))

    /// Starts the thread, which opens the store, and returns when that has been done.
    init(path: String) throws(StoreError) {
        let opened = BlockingQueue<Result<Void, StoreError>>()
        startThread(named: "store-writer") { [self] in
            do throws(StoreError) {
                let connection = try Schema.open(path)
                _ = opened.put(.success(()))
                run(connection)
            } catch {
                _ = opened.put(.failure(error))
            }
            finish()
        }
        try opened.take(upTo: 1)?.first?.get()
    }

    /// Why the last transaction was not committed; nil if it was.
    var writeFailure: StoreError? { failure.withLock { $0 } }

    /// Whether the last transaction was committed.
    var isWritable: Bool { writeFailure == nil }

    /// How many transactions have been committed.
    var commitCount: Int { commits.load(ordering: .relaxed) }

    /// Queues a write. `then` is called on the writer's thread after the commit, or after it has failed for good.
    func write<Value: Sendable>(
        patient: Bool = false,
        _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value,
        then: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        let write = Write(
            body: { connection throws(StoreError) in
                let value = try body(connection)
                return { then(.success(value)) }
            },
            failed: { then(.failure($0)) },
            isPatient: patient
        )
        if !queue.put(write) { then(.failure(.closed)) }
    }

    /// Writes and waits for the commit.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, StoreError>, Never>) in
            write(body) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Moves all of the log into the database and cuts it, once what is waiting is written.
    /// - Returns: False when somebody would not let go of it for some seconds, or the store is closed.
    func cutLog() async -> Bool {
        await withCheckedContinuation { continuation in
            cutters.withLock { $0.append(continuation) }
            // The thread looks after each write; this one changes nothing.
            let isTaken = queue.put(Write(body: { _ in {} }, failed: { _ in }, isPatient: false))
            if !isTaken { takeCutters().forEach { $0.resume(returning: false) } }
        }
    }

    private func takeCutters() -> [CheckedContinuation<Bool, Never>] {
        cutters.withLock { cutters in
            defer { cutters = [] }
            return cutters
        }
    }

    /// Takes nothing more, writes what is waiting, and ends the thread.
    func close() async {
        queue.close()
        await withCheckedContinuation { continuation in
            let isOver = ended.withLock { state in
                if !state.isOver { state.waiters.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    /// Takes nothing more; the thread ends when what is waiting is written.
    func stop() { queue.close() }

    private func finish() {
        let waiters = ended.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        waiters.forEach { $0.resume() }
    }

    private func run(_ connection: Connection) {
        let logPages = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        logPages.initialize(to: 0)
        defer { logPages.deallocate() }
        connection.reportLogPages(to: logPages)
        /// What could not be stored and must be.
        var left: [Write] = []
        /// Whether a whole group has failed for what may be one write's fault: then each is tried alone.
        var isSuspicious = false
        var isDirty = false
        while true {
            // Idle: wait for ever, or until it is time to tidy up, or to try again.
            let wait: Int? = !left.isEmpty ? 500 : !isWritable ? Writer.probeTime : isDirty ? 2000 : nil
            let taken = queue.take(upTo: Writer.group, within: wait)
            if taken == nil, left.isEmpty { break }
            if taken?.isEmpty ?? false, left.isEmpty {
                if isDirty {
                    isDirty = connection.checkpoint(truncate: true) > 0
                    logPages.pointee = 0
                }
                // Whoever asks whether requests can be taken must not have to send one to find out.
                if !isWritable { probe(connection) }
                continue
            }
            let isLastTry = taken == nil
            var rounds = isSuspicious ? left.map { [$0] } + [taken ?? []] : [left + (taken ?? [])]
            rounds.removeAll(where: \.isEmpty)
            left = []
            isSuspicious = false
            for round in rounds {
                let (again, reason) = commit(round, on: connection)
                left += again
                if case .failed = reason { isSuspicious = true }
            }
            if isLastTry {
                // Closing: whoever waits is told, and the process can end.
                left.forEach { $0.failed(.closed) }
                left = []
            }
            isDirty = true
            let cutters = takeCutters()
            if !cutters.isEmpty {
                let isCut = connection.checkpoint(truncate: true) == 0
                if isCut { logPages.pointee = 0 }
                cutters.forEach { $0.resume(returning: isCut) }
            }
            if logPages.pointee > Writer.truncatePages {
                _ = connection.checkpoint(truncate: true)
                logPages.pointee = 0
            } else if logPages.pointee > Writer.checkpointPages {
                _ = connection.checkpoint(truncate: false)
                logPages.pointee = 0
            }
        }
        _ = connection.checkpoint(truncate: true)
        takeCutters().forEach { $0.resume(returning: true) }
    }

    /// Writes something that changes nothing.
    private func probe(_ connection: Connection) {
        do throws(StoreError) {
            try Schema.touch(connection)
            failure.withLock { $0 = nil }
        } catch {
            failure.withLock { $0 = error }
            if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
        }
    }

    /// Commits a group. Returns what must be tried again, and why the whole group failed if it did.
    private func commit(_ group: [Write], on connection: Connection) -> (again: [Write], reason: StoreError?) {
        var done: [@Sendable () -> Void] = []
        var refused: [@Sendable () -> Void] = []
        var again: [Write] = []
        /// Why one of them must be tried again.
        var reason: StoreError?
        do throws(StoreError) {
            try connection.run("BEGIN IMMEDIATE")
            for write in group {
                try connection.run("SAVEPOINT one")
                do throws(StoreError) {
                    let completion = try write.body(connection)
                    try connection.run("RELEASE one")
                    done.append(completion)
                } catch {
                    // After a full disk and the like SQLite has rolled back everything: then the whole group failed.
                    if connection.isInAutocommit || error == .full || error == .busy { throw error }
                    try connection.run("ROLLBACK TO one")
                    try connection.run("RELEASE one")
                    if write.isPatient && error.isTransient {
                        again.append(write)
                        reason = error
                    } else {
                        refused.append { write.failed(error) }
                    }
                }
            }
            try connection.run("COMMIT")
        } catch {
            if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
            failure.withLock { $0 = error }
            again = []
            for write in group {
                if write.isPatient && error.isTransient { again.append(write) } else { write.failed(error) }
            }
            return (again, error)
        }
        failure.withLock { $0 = reason }
        commits.add(1, ordering: .relaxed)
        refused.forEach { $0() }
        done.forEach { $0() }
        return (again, nil)
    }
}
