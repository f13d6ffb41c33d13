internal import CSQLite

/// A connection to SQLite. It belongs to the thread that uses it.
final class Database {
    private let handle: OpaquePointer
    private var prepared: [String: Statement] = [:]

    /// Opens a file, or memory for `:memory:`.
    init(_ path: String, readOnly: Bool) throws(IndexError) {
        var opened: OpaquePointer?
        let flags = (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard let opened, code == SQLITE_OK else {
            let reason = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw IndexError.database(operation: "opening \(path)", code: code, reason: reason)
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit {
        prepared.removeAll()
        sqlite3_close_v2(handle)
    }

    func failure(_ operation: String, _ code: Int32) -> IndexError {
        .database(operation: operation, code: code, reason: String(cString: sqlite3_errmsg(handle)))
    }

    /// Runs statements that have no parameters and no rows.
    func execute(_ sql: String) throws(IndexError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(sql, code) }
    }

    /// Runs a statement with parameters, and calls `row` for each row.
    func run(
        _ sql: String,
        _ values: [Value] = [],
        _ row: (borrowing Row) throws(IndexError) -> Void = { (_: borrowing Row) throws(IndexError) in }
    ) throws(IndexError) {
        let statement = try statement(sql)
        defer {
            sqlite3_reset(statement.pointer)
            sqlite3_clear_bindings(statement.pointer)
        }
        for (index, value) in values.enumerated() {
            let code = value.bind(to: statement.pointer, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw failure(sql, code) }
        }
        while true {
            let code = sqlite3_step(statement.pointer)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw failure(sql, code) }
            try row(Row(statement: statement.pointer))
        }
    }

    /// The first column of the first row.
    func integer(_ sql: String, _ values: [Value] = []) throws(IndexError) -> Int? {
        var result: Int?
        try run(sql, values) { row in result = result ?? row.integer(0) }
        return result
    }

    var lastRow: Int { Int(sqlite3_last_insert_rowid(handle)) }
    var changes: Int { Int(sqlite3_changes(handle)) }

    private func statement(_ sql: String) throws(IndexError) -> Statement {
        if let kept = prepared[sql] { return kept }
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw failure(sql, code) }
        let statement = Statement(pointer: pointer)
        // Queries differ in their text only by the number of scopes: few ever come together.
        if prepared.count >= 32 { prepared.removeAll() }
        prepared[sql] = statement
        return statement
    }

    private final class Statement {
        let pointer: OpaquePointer
        init(pointer: OpaquePointer) { self.pointer = pointer }
        deinit { sqlite3_finalize(pointer) }
    }

    /// A row, while the statement stands on it.
    struct Row: ~Copyable {
        fileprivate let statement: OpaquePointer
        func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
        func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }
        func text(_ column: Int32) -> String {
            guard let bytes = sqlite3_column_text(statement, column) else { return "" }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }

    /// A parameter.
    enum Value {
        case integer(Int)
        case text(String)

        fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
            switch self {
            case .integer(let value): return sqlite3_bind_int64(statement, index, Int64(value))
            case .text(var text):
                // SQLITE_TRANSIENT is a cast macro, which Swift does not see: SQLite copies the bytes.
                let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
                return text.withUTF8 { bytes in
                    bytes.withMemoryRebound(to: CChar.self) { characters in
                        guard let start = characters.baseAddress else {
                            return sqlite3_bind_text(statement, index, "", 0, transient)
                        }
                        return sqlite3_bind_text64(
                            statement,
                            index,
                            start,
                            sqlite3_uint64(characters.count),
                            transient,
                            UInt8(SQLITE_UTF8)
                        )
                    }
                }
            }
        }
    }
}
