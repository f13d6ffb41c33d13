internal import Synchronization
public import Wire

/// A frame with several owners, such as an attachment that may be sent again. Nobody else sees its content change.
public final class SharedFrame: Sendable {
    // Taking a share needs the handle exclusively, hence the lock; shared content itself is only ever read.
    private let frame: Mutex<KeptFrame>

    /// Owns a frame.
    public init(_ message: consuming Message) { frame = Mutex(KeptFrame(message: message)) }

    /// Another handle on the content.
    public func share() -> Message { frame.withLock { frame in frame.share() } }

    /// The content, by a handle of its own.
    public func withBytes<Result, Failure: Error>(
        _ read: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var handle = share()
        return try handle.withBytes(read)
    }

    /// A copy of the content.
    public func bytes(from offset: Int = 0) -> [UInt8] { frame.withLock { $0.message.bytes(from: offset) } }

    /// Size of the content.
    public var count: Int { frame.withLock { frame in frame.message.count } }
}

private struct KeptFrame: ~Copyable {
    var message: Message
    var isShared = false

    mutating func share() -> Message {
        isShared = true
        return message.share()
    }

    /// Another handle on the content with the header in front. It is written in place for the first one to get a
    /// handle, since nobody else can see that; later ones get a copy.
    mutating func share(with header: Header) -> Message {
        guard isShared else {
            message.withMutableBytes { header.write(to: $0) }
            return share()
        }
        return .joining(header, message.bytes(from: Header.size))
    }
}

/// A whole message that is kept so that it can be sent more than once, such as a job that may need another attempt.
public final class Parcel: Sendable {
    /// The header that it came with, or was made with.
    public let header: Header
    private let first: Mutex<KeptFrame>
    private let second: SharedFrame?
    private let attachments: [SharedFrame]

    init(header: Header, first: consuming Message, second: SharedFrame?, attachments: [SharedFrame]) {
        self.header = header
        self.first = Mutex(KeptFrame(message: first))
        self.second = second
        self.attachments = attachments
    }

    /// A new message. A body above `Limits.inlineBody` gets a frame of its own, and `header` the flag that says so.
    public init(header: Header, body: [UInt8], attachments: [SharedFrame] = []) {
        var header = header
        header.flags.remove([.bodyFrame, .attachments])
        if !attachments.isEmpty { header.flags.insert(.attachments) }
        if body.count > Limits.inlineBody {
            header.flags.insert(.bodyFrame)
            first = Mutex(KeptFrame(message: Message(copying: header.bytes)))
            second = SharedFrame(Message(copying: body))
        } else {
            first = Mutex(KeptFrame(message: .joining(header, body)))
            second = nil
        }
        self.header = header
        self.attachments = attachments
    }

    /// Sends the message to a peer of a ROUTER, or to the one peer of a DEALER when `peer` is nil.
    ///
    /// The header is written in place the first time; after that only the small first frame is made anew. Large bodies
    /// and attachments are shared.
    public func send(
        on socket: borrowing Socket,
        to peer: Peer?,
        header other: Header? = nil
    ) throws(BusError) -> Socket.Outcome {
        if let peer {
            let outcome = try socket.address(peer)
            guard outcome == .sent else { return outcome }
        }
        var remaining = attachments.count + (second == nil ? 0 : 1)
        var head = other ?? header
        // What the frames are, no caller can change.
        head.flags.remove([.bodyFrame, .attachments])
        head.flags.formUnion(header.flags.intersection([.bodyFrame, .attachments]))
        let outcome = try socket.send(first.withLock { $0.share(with: head) }, more: remaining > 0)
        guard outcome == .sent else { return outcome }
        if let second {
            remaining -= 1
            _ = try socket.send(second.share(), more: remaining > 0)
        }
        for attachment in attachments {
            remaining -= 1
            _ = try socket.send(attachment.share(), more: remaining > 0)
        }
        return .sent
    }

    /// Whether it is small enough for a BATCH.
    public var isSmall: Bool {
        guard second == nil, attachments.isEmpty else { return false }
        return first.withLock { first in first.message.count <= Limits.batchedMessage }
    }

    /// Adds it with another header to a BATCH that has room for it. Only if it ``isSmall``.
    public func append(to batch: inout BatchWriter, header: Header) {
        first.withLock { first in
            first.message.withBytes { batch.append(header, $0.extracting(droppingFirst: Header.size)) }
        }
    }

    /// A copy of the body.
    public func body() -> [UInt8] { second?.bytes() ?? first.withLock { $0.message.bytes(from: Header.size) } }

    /// Lends the body.
    public func withBody<Result: Sendable>(_ read: (RawSpan) -> Result) -> Result {
        if let second { return second.withBytes { read($0) } }
        return first.withLock { first in
            first.message.withBytes { read($0.extracting(droppingFirst: Header.size)) }
        }
    }

    /// Numbers of the tenant and the session that a job body names; see `JobBody.origin(_:)`.
    public var origin: (tenant: UInt64, session: UInt64) { withBody { JobBody.origin($0) } }

    /// Attachments of the message.
    public var attachmentFrames: [SharedFrame] { attachments }

    /// Bytes that it holds.
    public var count: Int {
        first.withLock { first in first.message.count } + (second?.count ?? 0) + attachments.reduce(0) { $0 + $1.count }
    }
}

extension Message {
    /// One frame of a header and the body behind it.
    static func joining(_ header: Header, _ body: [UInt8]) -> Message {
        Message(size: Header.size + body.count) { target in
            header.write(to: target)
            body.withUnsafeBytes { body in
                UnsafeMutableRawBufferPointer(rebasing: target[Header.size...]).copyMemory(from: body)
            }
        }
    }
}
