/// How many requests may be open at a time.
struct Quota: Sendable {
    /// In a session.
    var perSession = 50
    /// Of a user: of the tenant of a token, or of all where there are no tokens.
    var perOwner = 200
}

/// A number for a tenant, for the bus: it tells whose turn it is, and nobody's name.
enum TenantNumber {
    /// The number of an owner; 0 for the one there is without tokens.
    static func of(_ owner: String) -> UInt64 {
        guard owner != SessionService.owner else { return 0 }
        // FNV-1a.
        return owner.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }
}
