internal import Telemetry

/// A row of an answer of either database, by the numbers of its columns: what is read of it is written once for both.
protocol StoredRow {
    /// Whether a column has nothing.
    func isNull(_ column: Int32) -> Bool
    /// A column's bytes: of a blob, or of a text.
    func bytes(_ column: Int32) -> [UInt8]
    /// A column's number.
    func integer(_ column: Int32) -> Int64
}

extension StoredRow {
    func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    func unsigned(_ column: Int32) -> UInt64 { UInt64(clamping: integer(column)) }
}

extension ConversationSummary {
    /// Reads `text, last, turns, time`.
    init(_ row: some StoredRow) {
        self.init(
            text: row.text(0),
            last: row.integer(1),
            turns: Int(row.integer(2)),
            time: Timestamp(milliseconds: row.integer(3))
        )
    }
}

extension HistoryRecord {
    /// Reads `text, answer, plan, state, number`.
    init(_ row: some StoredRow) {
        let hasAnswer = row.text(3) == RequestState.finished.rawValue
        self.init(
            text: row.text(0),
            answer: hasAnswer ? row.optionalText(1) : nil,
            plan: row.optionalBytes(2),
            number: row.integer(4)
        )
    }
}
