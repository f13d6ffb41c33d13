/// Why bytes are not a message. Each case names what was wrong; none of them is fatal to the receiver.
public enum WireError: Error, Equatable, Sendable {
    /// The frame ends before what it must hold.
    case truncated(needed: Int, got: Int)
    /// The first four bytes are not the magic of this protocol.
    case notSkillbus
    /// Another protocol version.
    case version(theirs: UInt8, ours: UInt8)
    /// A type that this build does not know.
    case unknownType(UInt8, mayIgnore: Bool)
    /// More or fewer frames than type and flags call for.
    case frameCount(expected: Int, got: Int)
    /// Something is larger than its limit.
    case tooLarge(what: String, limit: Int, got: Int)
    /// Text that is not UTF-8.
    case notUTF8(what: String)
    /// A body that is not the JSON that it should be.
    case body(type: String, reason: String)
    /// An event record of a kind that this build does not know.
    case unknownEventKind(UInt8)
}

extension WireError: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        switch self {
        case .truncated(let needed, let got): "message ends early: \(needed) bytes needed, \(got) there"
        case .notSkillbus: "not a Skillbus message (wrong magic)"
        case .version(let theirs, let ours): "protocol version \(theirs) is not spoken here (this is version \(ours))"
        case .unknownType(let type, _): "unknown message type \(type)"
        case .frameCount(let expected, let got): "\(got) frames where \(expected) belong"
        case .tooLarge(let what, let limit, let got): "\(what) has \(got) bytes, the limit is \(limit)"
        case .notUTF8(let what): "\(what) is not valid UTF-8"
        case .body(let type, let reason): "bad body of \(type): \(reason)"
        case .unknownEventKind(let kind): "unknown event kind \(kind)"
        }
    }
}
