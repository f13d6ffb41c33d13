/// The fixed-size head of every message. docs/protocol.md, section 3. Little-endian.
///
///     offset  size  field
///          0     4  magic "SKB1"
///          4     1  protocol version
///          5     1  message type
///          6     2  flags
///          8    16  job (or request) identifier, most significant byte first; zero when none
///         24     4  generation
///         28     4  attempt
///         32     8  sequence
///         40     8  value; its meaning depends on the type
public struct Header: Equatable, Sendable {
    /// Bytes of a header.
    public static let size = 48
    /// The first four bytes of every message.
    public static let magic: UInt32 = 0x3142_4b53
    /// The protocol version that this build speaks.
    public static let version: UInt8 = 1

    /// Bits of the `flags` field.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt16
        /// Makes flags of bits.
        public init(rawValue: UInt16) { self.rawValue = rawValue }
        /// The body has a frame of its own, the second one.
        public static let bodyFrame = Flags(rawValue: 1)
        /// The last event of this message ends the job.
        public static let terminal = Flags(rawValue: 2)
        /// A receiver that does not know the type skips the message.
        public static let mayIgnore = Flags(rawValue: 4)
        /// Sent before, and not acknowledged.
        public static let resent = Flags(rawValue: 8)
        /// Frames with attachments follow the body.
        public static let attachments = Flags(rawValue: 16)
        /// Of a terminal event: the job failed, and may be tried again.
        public static let retryable = Flags(rawValue: 32)
        /// Of a terminal event: the job failed.
        public static let failed = Flags(rawValue: 64)
        /// Of a HELLO, REGISTER or WELCOME: its sender takes BATCH.
        public static let takesBatches = Flags(rawValue: 128)
        /// Of a SUBMIT: before the others of its tenant.
        public static let highPriority = Flags(rawValue: 256)
        /// Of a SUBMIT: after the others of its tenant.
        public static let lowPriority = Flags(rawValue: 512)
        /// Of a HELLO: its sender takes LOAD.
        public static let takesLoad = Flags(rawValue: 1024)
        /// Of a SUBMIT: another router had the request, whose executions workers may have still.
        public static let elsewhere = Flags(rawValue: 2048)
        /// Of a terminal event: the slot of the job does not become free for this router.
        public static let slotMoves = Flags(rawValue: 4096)
        /// Of a REGISTER: the worker's slots are shared among its routers, and it listens to how many jobs wait at each.
        public static let sharesSlots = Flags(rawValue: 8192)
    }

    /// What the message is for.
    public var type: MessageType
    /// Flags.
    public var flags: Flags
    /// The job, or the request, that the message is about.
    public var job: Identifier
    /// Raised by the gateway each time it submits the request anew.
    public var generation: UInt32
    /// Raised by the router each time it dispatches the job.
    public var attempt: UInt32
    /// Of an event: its number within the attempt, from 1. Of a dispatch: its number within the connection.
    public var sequence: UInt64
    /// Depends on the type.
    public var value: UInt64

    /// Makes a header; what is left out is zero.
    public init(
        _ type: MessageType,
        flags: Flags = [],
        job: Identifier = .none,
        generation: UInt32 = 0,
        attempt: UInt32 = 0,
        sequence: UInt64 = 0,
        value: UInt64 = 0
    ) {
        self.type = type
        self.flags = flags
        self.job = job
        self.generation = generation
        self.attempt = attempt
        self.sequence = sequence
        self.value = value
    }

    /// The execution that the message belongs to.
    public var execution: Execution { Execution(job: job, generation: generation, attempt: attempt) }

    /// Reads the header at the start of a frame.
    /// - Throws: `WireError` when the frame is too short, is not ours, or has another version or an unknown type.
    public init(reading bytes: RawSpan) throws(WireError) {
        guard bytes.byteCount >= Header.size else { throw .truncated(needed: Header.size, got: bytes.byteCount) }
        let magic = UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
        guard magic == Header.magic else { throw .notSkillbus }
        let version = bytes.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt8.self)
        guard version == Header.version else { throw .version(theirs: version, ours: Header.version) }
        let typeNumber = bytes.unsafeLoadUnaligned(fromByteOffset: 5, as: UInt8.self)
        flags = Flags(
            rawValue: UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 6, as: UInt16.self))
        )
        guard let type = MessageType(rawValue: typeNumber) else {
            throw .unknownType(typeNumber, mayIgnore: flags.contains(.mayIgnore))
        }
        self.type = type
        job = Identifier(
            high: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self))
        )
        generation = UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 24, as: UInt32.self))
        attempt = UInt32(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 28, as: UInt32.self))
        sequence = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 32, as: UInt64.self))
        value = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 40, as: UInt64.self))
    }

    /// Writes the header over the first ``size`` bytes.
    /// - Precondition: `bytes` has at least ``size`` bytes.
    public func write(to bytes: UnsafeMutableRawBufferPointer) {
        precondition(bytes.count >= Header.size)
        bytes.storeBytes(of: Header.magic.littleEndian, toByteOffset: 0, as: UInt32.self)
        bytes.storeBytes(of: Header.version, toByteOffset: 4, as: UInt8.self)
        bytes.storeBytes(of: type.rawValue, toByteOffset: 5, as: UInt8.self)
        bytes.storeBytes(of: flags.rawValue.littleEndian, toByteOffset: 6, as: UInt16.self)
        bytes.storeBytes(of: job.high.bigEndian, toByteOffset: 8, as: UInt64.self)
        bytes.storeBytes(of: job.low.bigEndian, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: generation.littleEndian, toByteOffset: 24, as: UInt32.self)
        bytes.storeBytes(of: attempt.littleEndian, toByteOffset: 28, as: UInt32.self)
        bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 32, as: UInt64.self)
        bytes.storeBytes(of: value.littleEndian, toByteOffset: 40, as: UInt64.self)
    }

    /// The header as bytes.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Header.size) { buffer, count in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            count = Header.size
        }
    }
}

/// One try at a job: the triple that every message about it carries.
public struct Execution: Hashable, Sendable {
    /// The job.
    public var job: Identifier
    /// Raised by the gateway at each submission.
    public var generation: UInt32
    /// Raised by the router at each dispatch.
    public var attempt: UInt32

    /// Makes an execution.
    public init(job: Identifier, generation: UInt32, attempt: UInt32) {
        self.job = job
        self.generation = generation
        self.attempt = attempt
    }

    /// Whether this is an older try at the same job than the other; generation counts before attempt.
    public func isOlder(than other: Execution) -> Bool {
        (generation, attempt) < (other.generation, other.attempt)
    }
}
