internal import CSQLite
internal import Glibc
internal import Wire

/// A value for a parameter of a statement.
enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case id(Identifier)

    static func number(_ value: some BinaryInteger) -> SQLValue { .integer(Int64(clamping: value)) }
    static func optional(_ text: String?) -> SQLValue { text.map(SQLValue.text) ?? .null }
    static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map(SQLValue.blob) ?? .null }
}

/// The current row of a query. Valid only within the closure that gets it.
struct SQLRow: StoredRow {
    fileprivate let statement: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
        let count = Int(sqlite3_column_bytes(statement, column))
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    func id(_ column: Int32) -> Identifier {
        guard sqlite3_column_bytes(statement, column) == 16, let bytes = sqlite3_column_blob(statement, column) else {
            return .none
        }
        return Identifier(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}

/// A connection to SQLite with its prepared statements. It belongs to the thread that made it.
final class Connection {
    private let handle: OpaquePointer
    /// By address of the SQL, which is a literal of the program: no text is hashed.
    private var statements: [UnsafePointer<UInt8>: OpaquePointer] = [:]

    init(path: String, readOnly: Bool) throws(StoreError) {
        var handle: OpaquePointer?
        let access = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nil)
        guard code == SQLITE_OK, let handle else {
            let reason = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw .cannotOpen(path: path, reason: reason)
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit {
        statements.values.forEach { sqlite3_finalize($0) }
        sqlite3_close_v2(handle)
    }

    /// Whether no transaction is open: after some errors SQLite has rolled back by itself.
    var isInAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

    /// Runs several statements that have no parameters, each to its end.
    func execute(_ sql: String) throws(StoreError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw lastError }
    }

    /// Runs one statement that gives no rows.
    /// - Returns: How many rows it changed.
    @discardableResult
    func run(_ sql: StaticString, _ values: SQLValue...) throws(StoreError) -> Int {
        try step(try prepared(sql, values))
        return Int(sqlite3_changes64(handle))
    }

    /// Runs one statement whose last parameter is a large value: it is read where it lies, not copied.
    func run(_ sql: StaticString, _ values: SQLValue..., last bytes: [UInt8]) throws(StoreError) {
        let statement = try prepared(sql, values)
        let place = Int32(values.count + 1)
        let failure = bytes.withUnsafeBytes { bytes -> StoreError? in
            let code =
                bytes.count == 0
                ? sqlite3_bind_zeroblob(statement, place, 0)
                : sqlite3_bind_blob64(statement, place, bytes.baseAddress, UInt64(bytes.count), nil)
            guard code == SQLITE_OK else { return lastError }
            do throws(StoreError) { try step(statement) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    private func step(_ statement: OpaquePointer) throws(StoreError) {
        let code = sqlite3_step(statement)
        let error = code == SQLITE_DONE || code == SQLITE_ROW ? nil : lastError
        sqlite3_reset(statement)
        // A statement is kept, and would keep the values of its last run.
        sqlite3_clear_bindings(statement)
        if let error { throw error }
    }

    /// The content of a column of one row, read once into the array that is returned.
    func blob(_ table: String, _ column: String, row: Int64) throws(StoreError) -> [UInt8] {
        var opened: OpaquePointer?
        guard sqlite3_blob_open(handle, "main", table, column, row, 0, &opened) == SQLITE_OK, let blob = opened else {
            throw lastError
        }
        defer { sqlite3_blob_close(blob) }
        let count = sqlite3_blob_bytes(blob)
        var code = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
            code = count == 0 ? SQLITE_OK : sqlite3_blob_read(blob, buffer.baseAddress, count, 0)
            filled = code == SQLITE_OK ? Int(count) : 0
        }
        guard code == SQLITE_OK else { throw lastError }
        return bytes
    }

    /// Calls the closure with each row until it returns false.
    func rows(
        _ sql: StaticString,
        _ values: SQLValue...,
        body: (SQLRow) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let statement = try prepared(sql, values)
        defer { sqlite3_reset(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: guard try body(SQLRow(statement: statement)) else { return }
            case SQLITE_DONE: return
            default: throw lastError
            }
        }
    }

    /// The first row, as the closure reads it; nil if there is none.
    func first<Value>(
        _ sql: StaticString,
        _ values: SQLValue...,
        read: (SQLRow) -> Value
    ) throws(StoreError) -> Value? {
        let statement = try prepared(sql, values)
        defer { sqlite3_reset(statement) }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return read(SQLRow(statement: statement))
        case SQLITE_DONE: return nil
        default: throw lastError
        }
    }

    /// The row id of the last insert.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Moves the log into the database. Returns how many pages of the log are left.
    func checkpoint(truncate: Bool) -> Int {
        var pages: Int32 = 0
        var moved: Int32 = 0
        let mode = truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &pages, &moved)
        return code == SQLITE_OK ? Int(max(0, pages - moved)) : Int(max(0, pages))
    }

    /// From now on the number of pages in the log is written there after each commit.
    func reportLogPages(to counter: UnsafeMutablePointer<Int>) {
        sqlite3_wal_hook(
            handle,
            { context, _, _, pages in
                context?.assumingMemoryBound(to: Int.self).pointee = Int(pages)
                return SQLITE_OK
            },
            counter
        )
    }

    private func prepared(_ sql: StaticString, _ values: [SQLValue]) throws(StoreError) -> OpaquePointer {
        let statement: OpaquePointer
        if let known = statements[sql.utf8Start] {
            statement = known
        } else {
            var made: OpaquePointer?
            let code = sql.withUTF8Buffer { text in
                text.withMemoryRebound(to: CChar.self) { text in
                    sqlite3_prepare_v3(
                        handle,
                        text.baseAddress,
                        Int32(text.count),
                        UInt32(SQLITE_PREPARE_PERSISTENT),
                        &made,
                        nil
                    )
                }
            }
            guard code == SQLITE_OK, let made else { throw lastError }
            statements[sql.utf8Start] = made
            statement = made
        }
        for (index, value) in values.enumerated() {
            guard bind(value, to: statement, at: Int32(index + 1)) == SQLITE_OK else { throw lastError }
        }
        return statement
    }

    private func bind(_ value: SQLValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
        // SQLITE_TRANSIENT is a cast in C that Swift does not see: SQLite copies the bytes at once.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { bytes in
                    sqlite3_bind_text64(
                        statement,
                        index,
                        bytes.baseAddress ?? UnsafePointer(bitPattern: 1),
                        UInt64(bytes.count),
                        copied,
                        UInt8(SQLITE_UTF8)
                    )
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes { bytes in
                bytes.count == 0
                    ? sqlite3_bind_zeroblob(statement, index, 0)
                    : sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), copied)
            }
        case .id(let id):
            return withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bytes in
                sqlite3_bind_blob64(statement, index, bytes.baseAddress, 16, copied)
            }
        }
    }

    private var lastError: StoreError {
        let code = sqlite3_extended_errcode(handle)
        let reason = String(cString: sqlite3_errmsg(handle))
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: return .busy
        case SQLITE_FULL: return .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: return .corrupt(reason)
        // A disk that has no space for the shared-memory file or the log says so as an I/O error.
        case SQLITE_IOERR where sqlite3_system_errno(handle) == ENOSPC: return .full
        case SQLITE_IOERR, SQLITE_NOMEM, SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_PROTOCOL,
            SQLITE_INTERRUPT:
            return .failed(code: code, reason: reason)
        default: return .rejected(code: code, reason: reason)
        }
    }
}
