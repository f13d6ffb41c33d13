/// Several small messages to one peer in one frame. docs/protocol.md, section 3.1.
///
/// What a message costs on its way is hardly its bytes: it is the frame, twice in every process that it passes. The body
/// of a BATCH is messages as they would be sent alone, each behind its length in four bytes.
public enum Batch {
    /// Bytes before each message.
    public static let prefix = 4
}

/// Goes through the messages in the body of a BATCH.
public struct BatchCursor: Sendable {
    private var offset = 0

    /// Stands before the first message.
    public init() {}

    /// Where the next message lies in the body; nil at the end.
    /// - Throws: `WireError` when the body ends within a message.
    public mutating func next(in body: RawSpan) throws(WireError) -> Range<Int>? {
        guard offset < body.byteCount else { return nil }
        let start = offset + Batch.prefix
        guard start <= body.byteCount else { throw .truncated(needed: start, got: body.byteCount) }
        let size = Int(UInt32(littleEndian: body.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        let end = start + size
        guard end <= body.byteCount else { throw .truncated(needed: end, got: body.byteCount) }
        offset = end
        return start..<end
    }
}

/// Writes a BATCH into memory that is used again for the next one.
public struct BatchWriter: ~Copyable {
    private static let capacity = Header.size + Limits.inlineBody
    private let memory: UnsafeMutableRawBufferPointer
    private var used = Header.size
    /// Messages that have been written.
    public private(set) var count = 0

    /// Makes an empty one.
    public init() { memory = .allocate(byteCount: BatchWriter.capacity, alignment: 16) }

    deinit { memory.deallocate() }

    /// Whether a message of so many bytes, header included, can be added.
    public func hasRoom(for size: Int) -> Bool { used + Batch.prefix + size <= BatchWriter.capacity }

    /// Adds a message.
    /// - Precondition: There is room for it.
    public mutating func append(_ header: Header, _ body: RawSpan) {
        let place = self.place(for: Header.size + body.byteCount)
        header.write(to: place)
        body.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: place[Header.size...]).copyMemory(from: $0) }
    }

    /// Adds a message as it lies in memory.
    /// - Precondition: There is room for it.
    public mutating func append(_ message: RawSpan) {
        let place = self.place(for: message.byteCount)
        message.withUnsafeBytes { place.copyMemory(from: $0) }
    }

    private mutating func place(for size: Int) -> UnsafeMutableRawBufferPointer {
        precondition(hasRoom(for: size))
        memory.storeBytes(of: UInt32(size).littleEndian, toByteOffset: used, as: UInt32.self)
        let start = used + Batch.prefix
        used = start + size
        count += 1
        return UnsafeMutableRawBufferPointer(rebasing: memory[start..<used])
    }

    /// Hands over the frame, and is empty after that. A single message is its own frame.
    public mutating func take<Result: ~Copyable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        defer { removeAll() }
        if count == 1 { return body(UnsafeRawBufferPointer(rebasing: memory[(Header.size + Batch.prefix)..<used])) }
        Header(.batch, value: UInt64(count)).write(to: memory)
        return body(UnsafeRawBufferPointer(rebasing: memory[..<used]))
    }

    /// Forgets what was written.
    public mutating func removeAll() {
        used = Header.size
        count = 0
    }
}
