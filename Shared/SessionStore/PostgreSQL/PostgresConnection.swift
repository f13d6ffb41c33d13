internal import CPostgres
internal import Glibc
internal import Wire

/// A connection to PostgreSQL with its prepared statements. It belongs to the thread that made it, and that thread may
/// wait for it; no call waits longer than its time, whatever the server and the network do.
final class PostgresConnection {
    /// Milliseconds that a statement may take on the server, waiting for locks included.
    static let statementTime = 5000
    /// Milliseconds after which a server that has not even said that a statement took too long is taken for dead.
    private var answerTime = 8000
    /// Milliseconds that the server lets a transaction stand open without a statement: those of a gateway that has
    /// been stopped in the middle of one hold locks that others wait for.
    private static let idleTime = 5000

    private let handle: OpaquePointer
    /// By address of the SQL, which is a literal of the program: no text is hashed.
    private var statements: [UnsafePointer<UInt8>: String] = [:]
    /// Whether nothing more can come of it: only a new one helps.
    private(set) var isLost = false

    /// Connects.
    /// - Throws: `StoreError`; `failed` when the server is not there, `cannotOpen` when it does not let us in.
    init(_ address: PostgresAddress, name: String) throws(StoreError) {
        var options: [(String, String)] = [("dbname", address.text)]
        if let password = address.password { options.append(("password", password)) }
        options += [
            ("connect_timeout", "3"), ("client_encoding", "UTF8"), ("application_name", "skillbus-\(name)"),
            ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "8000"),
        ]
        var keywords: [UnsafePointer<CChar>?] = options.map { UnsafePointer(strdup($0.0)) }
        var values: [UnsafePointer<CChar>?] = options.map { UnsafePointer(strdup($0.1)) }
        defer { (keywords + values).forEach { free(UnsafeMutableRawPointer(mutating: $0)) } }
        keywords.append(nil)
        values.append(nil)
        guard let made = PQconnectdbParams(keywords, values, 1) else { throw .failed(code: 0, reason: "out of memory") }
        handle = made
        // The first letter of a SQLSTATE would tell the kinds apart; of a refused connection libpq keeps the words only.
        guard PQstatus(handle) == CONNECTION_OK else {
            throw PostgresFailure.ofConnecting(to: address, String(cString: PQerrorMessage(handle)))
        }
        guard PQserverVersion(handle) >= 130_000 else {
            throw .cannotOpen(path: address.shown, reason: "PostgreSQL 13 or later is needed")
        }
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        PQsetnonblocking(handle, 1)
        try execute(
            """
            SET statement_timeout = \(PostgresConnection.statementTime);
            SET idle_in_transaction_session_timeout = \(PostgresConnection.idleTime);
            SET default_transaction_isolation = 'read committed';
            SET synchronous_commit = on;
            SET search_path = skillbus
            """
        )
    }

    deinit { PQfinish(handle) }

    /// The descriptor to wait at for notifications.
    var socket: Int32 { PQsocket(handle) }

    /// Runs statements without parameters.
    /// - Returns: The first column of the last one's first row.
    @discardableResult
    func execute(_ sql: String) throws(StoreError) -> String? {
        try send(PQsendQuery(handle, sql))
        let result = try answer()
        guard PQntuples(result.handle) > 0, let text = PQgetvalue(result.handle, 0, 0) else { return nil }
        return String(cString: text)
    }

    /// Runs one statement.
    /// - Returns: How many rows it changed or gave.
    @discardableResult
    func run(_ sql: StaticString, _ values: PostgresValue...) throws(StoreError) -> Int {
        let result = try query(sql, values)
        return Int(String(cString: PQcmdTuples(result.handle))) ?? 0
    }

    /// What the closure makes of each row.
    func rows<Value>(
        _ sql: StaticString,
        _ values: PostgresValue...,
        read: (PostgresRow) -> Value
    ) throws(StoreError) -> [Value] {
        let result = try query(sql, values)
        var found: [Value] = []
        for row in 0..<PQntuples(result.handle) { found.append(read(PostgresRow(result: result.handle, row: row))) }
        return found
    }

    /// The first row, as the closure reads it; nil if there is none.
    func first<Value>(
        _ sql: StaticString,
        _ values: PostgresValue...,
        read: (PostgresRow) -> Value
    ) throws(StoreError) -> Value? {
        let result = try query(sql, values)
        guard PQntuples(result.handle) > 0 else { return nil }
        return read(PostgresRow(result: result.handle, row: 0))
    }

    /// Runs several statements as one transaction. One that fails is rolled back.
    func transaction<Value>(
        _ mode: String = "",
        _ body: (PostgresConnection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try execute("BEGIN \(mode)")
        do throws(StoreError) {
            let value = try body(self)
            try execute("COMMIT")
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// A transaction whose statements go over whole tables and may take hours. For locks it does not wait longer than
    /// others do: whoever waits for that of a table holds up all who come after.
    func unhurriedTransaction<Value>(
        _ mode: String = "",
        _ body: (PostgresConnection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let usual = answerTime
        answerTime = 86_400_000
        defer { answerTime = usual }
        return try transaction(mode) { connection throws(StoreError) in
            try connection.execute(
                "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = \(PostgresConnection.statementTime)"
            )
            return try body(connection)
        }
    }

    /// Ends a transaction that has failed, if there is one.
    func rollBack() {
        guard !isLost, PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
        do throws(StoreError) { try execute("ROLLBACK") } catch { isLost = true }
    }

    /// Channel and payload of the notifications that have come. Reads what waits at the socket, and does not wait.
    func notifications() throws(StoreError) -> [(channel: String, payload: String)] {
        guard !isLost, PQconsumeInput(handle) == 1 else { throw lost() }
        var found: [(String, String)] = []
        while let notice = PQnotifies(handle) {
            // What this connection has sent itself is known here.
            if notice.pointee.be_pid != PQbackendPID(handle) {
                found.append((String(cString: notice.pointee.relname), String(cString: notice.pointee.extra)))
            }
            PQfreemem(notice)
        }
        return found
    }

    // MARK: To the server and back

    private struct Result: ~Copyable {
        let handle: OpaquePointer
        deinit { PQclear(handle) }
    }

    private func query(_ sql: StaticString, _ values: [PostgresValue]) throws(StoreError) -> Result {
        let name = try prepared(sql, values)
        var failure: StoreError?
        // One block with all values behind each other: their addresses hold until libpq has copied them.
        let block = values.flatMap { $0.bytes ?? [] }
        block.withUnsafeBufferPointer { block in
            // Of an empty value the address must not be that of NULL.
            let start = UnsafeRawPointer(block.baseAddress ?? UnsafePointer(bitPattern: 1))?
                .assumingMemoryBound(to: CChar.self)
            var offset = 0
            var pointers: [UnsafePointer<CChar>?] = []
            for value in values {
                pointers.append(value.bytes == nil ? nil : start.map { $0 + offset })
                offset += value.bytes?.count ?? 0
            }
            let lengths = values.map { Int32(clamping: $0.bytes?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: values.count)
            let sent = PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1)
            do throws(StoreError) { try send(sent) } catch { failure = error }
        }
        if let failure { throw failure }
        return try answer()
    }

    private func prepared(_ sql: StaticString, _ values: [PostgresValue]) throws(StoreError) -> String {
        if let known = statements[sql.utf8Start] { return known }
        let name = "s\(statements.count + 1)"
        try send(PQsendPrepare(handle, name, "\(sql)", Int32(values.count), values.map(\.type)))
        _ = try answer()
        statements[sql.utf8Start] = name
        return name
    }

    private func send(_ isTaken: Int32) throws(StoreError) {
        guard !isLost, isTaken == 1 else { throw lost() }
    }

    /// The last result of what was sent. All of them are read, or the connection could not be used again.
    private func answer() throws(StoreError) -> Result {
        let end = PostgresConnection.now + answerTime
        var failure: StoreError?
        var last: OpaquePointer?
        while true {
            try wait(until: end, last)
            guard let result = PQgetResult(handle) else { break }
            if let last { PQclear(last) }
            last = result
            let status = PQresultStatus(result)
            guard status != PGRES_COMMAND_OK, status != PGRES_TUPLES_OK, failure == nil else { continue }
            failure = PostgresFailure.of(result)
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            if let last { PQclear(last) }
            throw lost(failure)
        }
        guard let last else { throw lost() }
        let result = Result(handle: last)
        if let failure { throw failure }
        return result
    }

    /// Returns when a result can be read without waiting.
    private func wait(until end: Int, _ unread: OpaquePointer?) throws(StoreError) {
        while true {
            let unsent = PQflush(handle)
            if unsent == 0, PQisBusy(handle) == 0 { return }
            var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            if unsent == 1 { descriptor.events |= Int16(POLLOUT) }
            let left = end - PostgresConnection.now
            let ready = left > 0 && unsent >= 0 ? poll(&descriptor, 1, Int32(left)) : 0
            if ready < 0, errno == EINTR { continue }
            guard ready > 0, PQconsumeInput(handle) == 1 else {
                // A result that is left would keep the memory; the connection is given up with it.
                if let unread { PQclear(unread) }
                throw lost(left > 0 ? nil : .failed(code: 0, reason: "PostgreSQL does not answer"))
            }
        }
    }

    private func lost(_ known: StoreError? = nil) -> StoreError {
        isLost = true
        if let known { return known }
        return .failed(code: 0, reason: PostgresFailure.words(String(cString: PQerrorMessage(handle))))
    }

    /// Milliseconds of the steady clock.
    static var now: Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1000 + now.tv_nsec / 1_000_000
    }
}
