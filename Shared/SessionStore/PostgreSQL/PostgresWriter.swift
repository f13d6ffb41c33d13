internal import Lifecycle
internal import Synchronization
internal import Telemetry
internal import Wire

/// A connection that writes sessions, on a thread of its own. What waits when a transaction is begun goes into it, so
/// that one wait for the disk stores many writes.
///
/// When the connection is lost during a commit, the server is asked afterwards whether it took place: nothing is stored
/// twice, and nobody is told that something failed which did not.
final class PostgresWriter: Sendable {
    /// One write: what it is, and what is called when it is known what became of it.
    enum Write: Sendable {
        case session(WriteGroup.NewSession, @Sendable (Result<Void, StoreError>) -> Void)
        case acceptance(Acceptance, @Sendable (Result<AcceptanceOutcome, StoreError>) -> Void)
        case batch(EventBatch, @Sendable (Result<AppendOutcome, StoreError>) -> Void)

        /// Tried again until it is stored: it holds what must not be lost.
        var isPatient: Bool { if case .batch = self { true } else { false } }

        func fail(_ error: StoreError) {
            switch self {
            case .session(_, let done): done(.failure(error))
            case .acceptance(_, let done): done(.failure(error))
            case .batch(_, let done): done(.failure(error))
            }
        }

        /// About how many bytes it stores.
        var bytes: Int {
            switch self {
            case .session: 100
            case .acceptance(let request, _):
                request.text.utf8.count + request.input.count + request.attachments.reduce(1000) { $0 + $1.data.count }
            case .batch(let batch, _):
                batch.items.reduce(200) { sum, item in
                    switch item {
                    case .job(let events): events.events.reduce(sum) { $0 + $1.json.count + 100 }
                    case .plan(let plan, let event): sum + plan.count + event.json.count
                    case .note(let event): sum + event.json.count
                    case .end(_, let event, let answer): sum + event.json.count + answer.utf8.count
                    default: sum + 50
                    }
                }
            }
        }
    }

    /// Writes of one transaction at most: with more, those at its start would wait for those at its end.
    private static let group = 200
    /// Bytes after which a transaction takes no more.
    private static let groupBytes = 4 * 1024 * 1024
    /// Milliseconds between two tries of what must be stored.
    private static let pause = 500

    private let queue = BlockingQueue<Write>()
    private let link: PostgresLink
    private let isClosing = Atomic(false)
    private let ended = Completion()
    private let gateway: Identifier
    private let committed: @Sendable (WriteGroup) -> Void

    init(
        _ link: PostgresLink,
        number: Int,
        gateway: Identifier,
        committed: @escaping @Sendable (WriteGroup) -> Void
    ) {
        self.link = link
        self.gateway = gateway
        self.committed = committed
        startThread(named: "store-writer-\(number)") { [self] in
            run()
            ended.finish()
        }
    }

    /// Queues a write.
    func put(_ write: Write) { if !queue.put(write) { write.fail(.closed) } }

    /// Takes nothing more, and ends the thread once what waits is written, or cannot be.
    func stop() {
        queue.close()
        isClosing.store(true, ordering: .relaxed)
    }

    /// Returns when the thread has ended.
    func end() async { await ended.wait() }

    private func run() {
        var connection: PostgresConnection?
        /// What could not be stored and must be.
        var left: [Write] = []
        /// Whether a whole group has failed for what may be one write's fault: then each is tried alone.
        var isSuspicious = false
        while true {
            let taken = queue.take(upTo: PostgresWriter.group, within: left.isEmpty ? nil : PostgresWriter.pause)
            if taken == nil, left.isEmpty { return }
            let isLastTry = taken == nil
            let waiting = left + (taken ?? [])
            left = []
            let groups = isSuspicious ? waiting.map { [$0] } : PostgresWriter.groups(of: waiting)
            isSuspicious = false
            for group in groups {
                do throws(StoreError) {
                    try commit(group, &connection)
                } catch {
                    if !error.isTransient, group.count > 1 {
                        left += group
                        isSuspicious = true
                        continue
                    }
                    for write in group {
                        if write.isPatient && error.isTransient { left.append(write) } else { write.fail(error) }
                    }
                }
            }
            if isLastTry, !isSuspicious {
                // Closing: whoever waits is told, and the process can end.
                left.forEach { $0.fail(.closed) }
                return
            }
        }
    }

    /// Writes in their order, as many together as are not too much.
    private static func groups(of writes: [Write]) -> [[Write]] {
        var groups: [[Write]] = []
        var bytes = groupBytes
        for write in writes {
            let size = write.bytes
            if bytes + size > groupBytes {
                groups.append([])
                bytes = 0
            }
            groups[groups.count - 1].append(write)
            bytes += size
        }
        return groups
    }

    /// Stores a group and tells those who wait. Nothing has been told when this throws.
    private func commit(_ group: [Write], _ connection: inout PostgresConnection?) throws(StoreError) {
        var tries = 0
        var wasThere = connection.map { !$0.isLost } ?? false
        while true {
            do throws(StoreError) {
                return try commitOnce(group, &connection)
            } catch {
                if isClosing.load(ordering: .relaxed) {
                    throw error
                } else if error == .busy, tries < 3 {
                    // A conflict with another gateway: the next look finds what that one has stored.
                    tries += 1
                } else if wasThere, connection?.isLost ?? true, case .failed = error {
                    // A connection from before the server was away: nobody needs to hear of that.
                    wasThere = false
                } else {
                    link.note(error)
                    throw error
                }
            }
        }
    }

    private func commitOnce(_ group: [Write], _ connection: inout PostgresConnection?) throws(StoreError) {
        let open = try link.use(&connection)
        var changes = WriteGroup()
        var done: [@Sendable () -> Void] = []
        var transaction: String?
        do throws(StoreError) {
            transaction = try open.execute("BEGIN; SELECT pg_current_xact_id()::text")
            done = try decide(group, &changes, open)
            try changes.write(open, gateway: gateway)
        } catch {
            // Without COMMIT nothing is stored, whatever becomes of the connection.
            open.rollBack()
            throw error
        }
        do throws(StoreError) {
            try open.execute("COMMIT")
        } catch {
            guard open.isLost else {
                open.rollBack()
                throw error
            }
            guard try isCommitted(transaction ?? "", &connection) else { throw error }
        }
        link.noteSuccess()
        committed(changes)
        done.forEach { $0() }
    }

    private func decide(
        _ group: [Write],
        _ changes: inout WriteGroup,
        _ connection: PostgresConnection
    ) throws(StoreError) -> [@Sendable () -> Void] {
        var acceptances: [Acceptance] = []
        var batches: [EventBatch] = []
        for write in group {
            switch write {
            case .session(let session, _): changes.newSessions.append(session)
            case .acceptance(let acceptance, _): acceptances.append(acceptance)
            case .batch(let batch, _): batches.append(batch)
            }
        }
        try changes.load(connection, acceptances: acceptances, batches: batches)
        var done: [@Sendable () -> Void] = []
        for write in group {
            switch write {
            case .session(_, let tell): done.append { tell(.success(())) }
            case .acceptance(let acceptance, let tell):
                let outcome = changes.accept(acceptance)
                done.append { tell(outcome) }
            case .batch(let batch, let tell):
                let outcome = changes.append(batch)
                done.append { tell(outcome) }
            }
        }
        return done
    }

    /// Asks the server what became of a transaction whose connection was lost during its commit, until it knows.
    private func isCommitted(
        _ transaction: String,
        _ connection: inout PostgresConnection?
    ) throws(StoreError) -> Bool {
        while !isClosing.load(ordering: .relaxed) {
            do throws(StoreError) {
                let status = try link.use(&connection).first(
                    "SELECT pg_xact_status($1::xid8)",
                    .text(transaction)
                ) { $0.optionalText(0) }
                switch status {
                case "committed": return true
                case "in progress": break
                default: return false
                }
            } catch {
                link.note(error)
            }
            sleepThread(milliseconds: 200)
        }
        // The process ends, and whoever takes over goes on from what is stored.
        throw .closed
    }
}
