/// What a job reports. An EVENT message holds one or more records, in order. docs/protocol.md, section 5.
public enum EventKind: UInt8, Sendable, CaseIterable {
    /// JSON `JobStarted`.
    case started = 1
    /// UTF-8: what the skill is thinking.
    case thinking = 2
    /// JSON `JobProgress`.
    case progress = 3
    /// UTF-8: the next piece of the answer.
    case delta = 4
    /// JSON `SkillOutput`: the output so far.
    case partial = 5
    /// JSON `JobRetrying`.
    case retrying = 6
    /// JSON `JobFinished`. Terminal.
    case finished = 7
    /// JSON `JobError`. Terminal.
    case failed = 8
    /// JSON `Disclosure`.
    case disclosure = 9
    /// JSON `Disclosure`: may this be sent? Said again until there is an answer.
    case approval = 10

    /// Whether nothing may follow.
    public var isTerminal: Bool { self == .finished || self == .failed }
}

/// Appends records to the body of an EVENT message: a length of four bytes, the kind, three zero bytes, the payload.
public struct EventRecordWriter: Sendable {
    /// Bytes before each payload.
    public static let prefix = 8
    /// What has been written.
    public private(set) var bytes: [UInt8] = []
    /// How many records that is.
    public private(set) var count: UInt64 = 0

    private var lastStart = 0
    private var lastKind: EventKind?

    /// An empty body.
    public init() {}

    /// Appends one record.
    public mutating func append(_ kind: EventKind, _ payload: [UInt8]) {
        payload.withUnsafeBytes { append(kind, $0) }
    }

    // Not generic: other modules would run it unspecialised, at several times the cost.
    private mutating func append(_ kind: EventKind, _ payload: UnsafeRawBufferPointer) {
        lastStart = bytes.count
        lastKind = kind
        // Room for the end of a small job as well: it is nearly always sent in one piece.
        if bytes.isEmpty { bytes.reserveCapacity(max(EventRecordWriter.prefix + payload.count, 512)) }
        let prefix = UInt64(UInt32(payload.count)) | UInt64(kind.rawValue) << 32
        withUnsafeBytes(of: prefix.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: payload)
        count += 1
    }

    /// Lengthens the last record.
    /// - Precondition: There is one, `lastStart` is where ``append(_:_:)`` began it.
    private mutating func extendLast(_ payload: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: payload)
        let length = UInt32(bytes.count - lastStart - EventRecordWriter.prefix)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: length.littleEndian, toByteOffset: lastStart, as: UInt32.self)
        }
    }

    /// Appends text to the last record if that is text of the same kind, else as a new record: nothing is lost, and a
    /// skill that streams single letters costs no more than one that streams lines.
    public mutating func appendMerging(_ kind: EventKind, text: String) {
        var text = text
        let fits = bytes.count - lastStart - EventRecordWriter.prefix + text.utf8.count <= Limits.event
        if lastKind == kind, fits {
            text.withUTF8 { extendLast(UnsafeRawBufferPointer($0)) }
        } else {
            append(kind, text: text)
        }
    }

    /// Appends text as one record, or as several where it is over the limit of one; none ends within a character.
    public mutating func append(_ kind: EventKind, text: String) {
        var text = text
        text.withUTF8 { all in
            var rest = UnsafeRawBufferPointer(all)
            while rest.count > Limits.event {
                var end = Limits.event
                // Not before a byte that goes on with a character; there are at most three of them.
                while rest[end] & 0xc0 == 0x80, end > Limits.event - 4 { end -= 1 }
                append(kind, UnsafeRawBufferPointer(rebasing: rest[..<end]))
                rest = UnsafeRawBufferPointer(rebasing: rest[end...])
            }
            append(kind, rest)
        }
    }
}

/// Walks over the records of an EVENT body without copying them: payloads are given as ranges of the body.
public struct EventRecordCursor: Sendable {
    private var position = 0

    /// A cursor before the first record.
    public init() {}

    /// The next record; nil after the last. Pass the same body each time.
    /// - Throws: `WireError` for a record that runs over the end or has an unknown kind.
    public mutating func next(in body: RawSpan) throws(WireError) -> (kind: EventKind, payload: Range<Int>)? {
        guard position < body.byteCount else { return nil }
        let start = position + EventRecordWriter.prefix
        guard start <= body.byteCount else { throw .truncated(needed: start, got: body.byteCount) }
        let length = Int(UInt32(littleEndian: body.unsafeLoadUnaligned(fromByteOffset: position, as: UInt32.self)))
        let number = body.unsafeLoadUnaligned(fromByteOffset: position + 4, as: UInt8.self)
        guard length <= body.byteCount - start else { throw .truncated(needed: start + length, got: body.byteCount) }
        guard let kind = EventKind(rawValue: number) else { throw .unknownEventKind(number) }
        position = start + length
        return (kind, start..<position)
    }
}
