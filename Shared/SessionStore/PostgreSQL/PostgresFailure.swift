internal import CPostgres

/// What PostgreSQL says went wrong, as the store's errors.
enum PostgresFailure {
    /// Of a statement, by its SQLSTATE: five characters that are the same in every version and language.
    static func of(_ result: OpaquePointer) -> StoreError {
        // The number of PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY: their letters.
        let state = PQresultErrorField(result, 67).map { String(cString: $0) } ?? ""
        let reason = words(PQresultErrorField(result, 77).map { String(cString: $0) } ?? "")
        return of(state, reason)
    }

    static func of(_ state: String, _ reason: String) -> StoreError {
        switch state {
        // A lock that did not come in time, a deadlock, a conflict of two transactions, a statement that took too long,
        // too many connections: another time it may work.
        case "55P03", "40P01", "40001", "57014", "53300", "55006": .busy
        case "53100": .full
        case "XX001", "XX002": .corrupt(reason)
        // A standby, or one that has just become one: it takes writes again when it is the first one again.
        case "25006": .failed(code: number(state), reason: reason)
        // No space, no memory, no connection, an operator, the system.
        case _ where ["08", "53", "57", "58", ""].contains(state.prefix(2)) || state == "25P03":
            .failed(code: number(state), reason: reason.isEmpty ? "the connection is lost" : reason)
        default: .rejected(code: number(state), reason: "\(reason) (\(state))")
        }
    }

    /// Of a connection that was not made. libpq gives words only; those of a server that refuses begin with `FATAL`.
    static func ofConnecting(to address: PostgresAddress, _ message: String) -> StoreError {
        let passing = ["starting up", "shutting down", "recovery", "too many", "remaining"]
        let isRefusal = message.contains("FATAL:") && !passing.contains { message.contains($0) }
        let isUnusable = message.contains("invalid ") || message.contains("no password supplied")
        return isRefusal || isUnusable
            ? .cannotOpen(path: address.shown, reason: words(message)) : .failed(code: 0, reason: words(message))
    }

    /// The first line, without what libpq puts before and after it.
    static func words(_ message: String) -> String {
        let line = message.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        return line.isEmpty ? "the connection is lost" : line
    }

    /// A SQLSTATE has five characters of base 36: a number for logs.
    private static func number(_ state: String) -> Int32 { Int32(state, radix: 36) ?? 0 }
}
