/// What of a session may go to outside parties. The order is that of strictness: the lesser is the stricter.
public enum PrivacyPolicy: String, Codable, Sendable, CaseIterable, Comparable {
    /// Nothing leaves. What needs an outside party fails, or is done without it.
    case localOnly = "local-only"
    /// The user is asked, once for each party and request.
    case ask
    /// What a skill announces goes out without a question.
    case allow

    /// The number that stands for it in a job body.
    var number: UInt8 {
        switch self {
        case .localOnly: 0
        case .ask: 1
        case .allow: 2
        }
    }

    /// The policy that a number in a job body stands for; the strictest for one that is not known.
    init(number: UInt8) {
        switch number {
        case 1: self = .ask
        case 2: self = .allow
        default: self = .localOnly
        }
    }

    /// Whether one is stricter than the other.
    public static func < (one: PrivacyPolicy, other: PrivacyPolicy) -> Bool { one.number < other.number }
}

/// What a skill is about to send to an outside party: the record of a disclosure, and of the question whether it may.
public struct Disclosure: Codable, Hashable, Sendable {
    /// Who gets it, such as `api.example.org`.
    public var party: String
    /// How much, in bytes.
    public var bytes: Int
    /// What for, in words for people.
    public var purpose: String

    /// Makes a record.
    public init(party: String, bytes: Int, purpose: String) {
        self.party = party
        self.bytes = bytes
        self.purpose = purpose
    }

    /// Whether it can be shown and kept: a name of 1 to 256 bytes without control characters, and a purpose of no more.
    public var isValid: Bool {
        Disclosure.isParty(party) && purpose.utf8.count <= Limits.shortString && bytes >= 0
    }

    /// Whether a text can be the name of a party.
    public static func isParty(_ name: String) -> Bool {
        1...Limits.shortString ~= name.utf8.count && !name.utf8.contains { $0 < 32 || $0 == 127 }
    }
}
