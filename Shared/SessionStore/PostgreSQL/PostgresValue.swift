internal import CPostgres
internal import Wire

/// A parameter of a statement, in PostgreSQL's binary format with its type: nothing is escaped, and nothing guessed.
///
/// A column of many rows is one array: a statement writes a whole group with `unnest`.
struct PostgresValue {
    /// PostgreSQL's number of the type; these have been fixed since its beginning.
    let type: Oid
    /// Nil for NULL.
    let bytes: [UInt8]?

    private enum Kind {
        static let bytes: Oid = 17
        static let number: Oid = 20
        static let text: Oid = 25
        static let id: Oid = 2950
        static let bytesArray: Oid = 1001
        static let numberArray: Oid = 1016
        static let textArray: Oid = 1009
        static let idArray: Oid = 2951
    }

    static func number(_ value: some BinaryInteger) -> PostgresValue {
        PostgresValue(type: Kind.number, bytes: encode(Int64(clamping: value)))
    }
    static func text(_ value: String) -> PostgresValue { PostgresValue(type: Kind.text, bytes: encode(value)) }
    static func bytes(_ value: [UInt8]) -> PostgresValue { PostgresValue(type: Kind.bytes, bytes: value) }
    static func id(_ value: Identifier) -> PostgresValue { PostgresValue(type: Kind.id, bytes: encode(value)) }

    static func numbers(_ values: [Int64?]) -> PostgresValue {
        array(Kind.numberArray, of: Kind.number, values.map { $0.map(encode) })
    }
    static func texts(_ values: [String?]) -> PostgresValue {
        array(Kind.textArray, of: Kind.text, values.map { $0.map(encode) })
    }
    static func blobs(_ values: [[UInt8]?]) -> PostgresValue { array(Kind.bytesArray, of: Kind.bytes, values) }
    static func ids(_ values: [Identifier?]) -> PostgresValue {
        array(Kind.idArray, of: Kind.id, values.map { $0.map(encode) })
    }

    private static func encode(_ value: Int64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static func encode(_ value: Identifier) -> [UInt8] {
        withUnsafeBytes(of: (value.high.bigEndian, value.low.bigEndian)) { Array($0) }
    }

    /// PostgreSQL's texts hold no NUL. Names that do are nobody's; what users write is stored as bytes.
    private static func encode(_ value: String) -> [UInt8] {
        var bytes = Array(value.utf8)
        if bytes.contains(0) { bytes = Array(value.replacing("\0", with: "\u{fffd}").utf8) }
        return bytes
    }

    /// One dimension, counted from 1.
    private static func array(_ type: Oid, of element: Oid, _ values: [[UInt8]?]) -> PostgresValue {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + values.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        func add(_ number: Int32) { withUnsafeBytes(of: number.bigEndian) { bytes += $0 } }
        add(values.isEmpty ? 0 : 1)
        add(values.contains { $0 == nil } ? 1 : 0)
        add(Int32(bitPattern: element))
        if !values.isEmpty {
            add(Int32(clamping: values.count))
            add(1)
        }
        for value in values {
            add(value.map { Int32(clamping: $0.count) } ?? -1)
            if let value { bytes += value }
        }
        return PostgresValue(type: type, bytes: bytes)
    }
}

/// A row of a result, in binary format. Valid as long as the result is.
struct PostgresRow: StoredRow {
    let result: OpaquePointer
    let row: Int32

    func isNull(_ column: Int32) -> Bool { PQgetisnull(result, row, column) != 0 }

    /// The bytes of a `bytea`, or of a `text`.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = PQgetvalue(result, row, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column))))
    }

    /// A `bigint`.
    func integer(_ column: Int32) -> Int64 {
        guard PQgetlength(result, row, column) == 8, let start = PQgetvalue(result, row, column) else { return 0 }
        return Int64(bigEndian: UnsafeRawPointer(start).loadUnaligned(as: Int64.self))
    }

    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// A `boolean`.
    func flag(_ column: Int32) -> Bool {
        guard PQgetlength(result, row, column) == 1, let start = PQgetvalue(result, row, column) else { return false }
        return start.pointee != 0
    }

    /// A `uuid`.
    func id(_ column: Int32) -> Identifier {
        guard PQgetlength(result, row, column) == 16, let start = PQgetvalue(result, row, column) else { return .none }
        let bytes = UnsafeRawPointer(start)
        return Identifier(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }

    func optionalID(_ column: Int32) -> Identifier? { isNull(column) ? nil : id(column) }
}
