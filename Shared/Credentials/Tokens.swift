internal import CSodium

/// What a token allows.
public enum Scope: String, Sendable, CaseIterable {
    /// Sessions, events, jobs and skills may be looked at.
    case read
    /// Sessions and requests may be made and cancelled.
    case ask
}

/// A token as the gateway knows it: everything but the token itself, of which it has the SHA-256. That is enough for 256
/// random bits, which nobody guesses; a slow hash is for what people think up.
public struct TokenRecord: Sendable, Equatable {
    /// What it is called in lists and logs.
    public let id: String
    /// Whose sessions it sees.
    public let tenant: String
    /// What it allows.
    public let scopes: Set<Scope>
    /// Requests a minute.
    public let rate: Int
    let hash: [UInt8]

    /// The highest rate.
    public static let rates = 1...1_000_000

    var line: String {
        let scopes = Scope.allCases.filter(self.scopes.contains).map(\.rawValue).joined(separator: ",")
        return "\(id) \(Hexadecimal.text(hash)) \(tenant) \(scopes) \(rate)"
    }
}

/// The tokens of a gateway: a file with a line for each, `ID SHA-256 TENANT SCOPES RATE`.
public struct TokenList: Sendable {
    /// In the order of the file.
    public private(set) var records: [TokenRecord] = []

    /// No token: nobody is let in.
    public init() {}

    /// Reads the list.
    /// - Throws: `CredentialError` that names the line, or says that others can get at the file.
    public static func read(_ path: String) throws(CredentialError) -> TokenList {
        var list = TokenList()
        for (number, words) in WordLines(try GuardedFile.read(path, as: .secret)).lines {
            func wrong(_ reason: String) -> CredentialError { .content(path: path, line: number, reason: reason) }
            guard words.count == 5 else { throw wrong("must be \"ID SHA-256 TENANT SCOPES RATE\"") }
            guard let hash = Hexadecimal.bytes(words[1]), hash.count == BearerToken.hashSize else {
                throw wrong("the hash must have 64 hexadecimal digits")
            }
            guard Name.isName(words[0]), Name.isName(words[2]) else {
                throw wrong("id and tenant have letters, digits, \"-\", \"_\" and \".\"")
            }
            let scopes = words[3].split(separator: ",", omittingEmptySubsequences: false).map {
                Scope(rawValue: String($0))
            }
            guard !scopes.contains(nil) else { throw wrong("scopes are read and ask, separated by a comma") }
            guard let rate = Int(words[4]), TokenRecord.rates.contains(rate) else {
                throw wrong("the rate must be a number of requests a minute")
            }
            guard !list.records.contains(where: { $0.id == words[0] }) else { throw wrong("this id is there twice") }
            list.records.append(
                TokenRecord(
                    id: String(words[0]),
                    tenant: String(words[2]),
                    scopes: Set(scopes.compactMap { $0 }),
                    rate: rate,
                    hash: hash
                )
            )
        }
        return list
    }

    /// The record of a token as it was sent; nil for one that is not on the list.
    ///
    /// How long that takes says nothing of the token: which id it names is no secret, and whether its hash is right is
    /// compared in constant time, against something in any case.
    public func record(of token: String) -> TokenRecord? {
        let id = BearerToken.id(of: token)
        let record = records.first { $0.id == id }
        let expected = record?.hash ?? [UInt8](repeating: 0, count: BearerToken.hashSize)
        let hash = BearerToken.hash(token)
        guard sodium_memcmp(hash, expected, expected.count) == 0 else { return nil }
        return record
    }

    /// Makes a token, and writes the list that has it.
    /// - Returns: The token, which is nowhere but here.
    /// - Throws: `CredentialError` for a tenant that is no name, or a file that cannot be written.
    public static func make(
        tenant: String,
        scopes: Set<Scope>,
        rate: Int,
        in path: String
    ) throws(CredentialError) -> (token: String, record: TokenRecord) {
        guard Name.isName(tenant) else {
            throw .invalid("\"\(tenant)\" is no name for a tenant: it has letters, digits, \"-\", \"_\" and \".\"")
        }
        guard !scopes.isEmpty, TokenRecord.rates.contains(rate) else {
            throw .invalid("a token needs a scope, and a rate of \(TokenRecord.rates) requests a minute")
        }
        if let slash = path.lastIndex(of: "/") { try GuardedFile.makeFolder(String(path[..<slash])) }
        return try GuardedFile.locked(path) { () throws(CredentialError) in
            var list = GuardedFile.exists(path) ? try TokenList.read(path) : TokenList()
            var made = BearerToken.make()
            while list.records.contains(where: { $0.id == made.id }) { made = BearerToken.make() }
            let record = TokenRecord(
                id: made.id,
                tenant: tenant,
                scopes: scopes,
                rate: rate,
                hash: BearerToken.hash(made.token)
            )
            list.records.append(record)
            try list.write(to: path)
            return (made.token, record)
        }
    }

    /// Takes a token off the list.
    /// - Throws: `CredentialError`, also when there is no such id.
    public static func revoke(_ id: String, in path: String) throws(CredentialError) {
        try GuardedFile.locked(path) { () throws(CredentialError) in
            var list = try TokenList.read(path)
            let count = list.records.count
            list.records.removeAll { $0.id == id }
            guard list.records.count < count else { throw .invalid("there is no token \"\(id)\" in \(path)") }
            try list.write(to: path)
        }
    }

    /// Whether there is a list.
    public static func exists(_ path: String) -> Bool { GuardedFile.exists(path) }

    private func write(to path: String) throws(CredentialError) {
        let head = """
            # Tokens of the gateway: ID SHA-256 TENANT SCOPES RATE. The tokens themselves are not here.
            # As long as this file is there, every client needs one. After a change send the gateway SIGHUP.

            """
        try GuardedFile.write(head + records.map { $0.line + "\n" }.joined(), to: path)
    }
}

/// A token as a client sends it: `skillbus_ID_SECRET`, with 32 random bytes for a secret.
public enum BearerToken {
    static let hashSize = Int(crypto_hash_sha256_BYTES)
    private static let prefix = "skillbus_"

    static func make() -> (id: String, token: String) {
        let id = Hexadecimal.text(random(4))
        return (id, "\(prefix)\(id)_\(Hexadecimal.text(random(32)))")
    }

    static func hash(_ token: String) -> [UInt8] {
        let bytes = Array(token.utf8)
        var hash = [UInt8](repeating: 0, count: hashSize)
        crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
        return hash
    }

    /// The part that is no secret; nil of what has another form.
    static func id(of token: String) -> String? {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "skillbus" ? String(parts[1]) : nil
    }

    private static func random(_ count: Int) -> [UInt8] {
        // Ends the process where the system has no random numbers to give: there is no token without them.
        precondition(Sodium.isReady, "libsodium does not start")
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return bytes
    }

    /// Writes a token to a file that only this user can read.
    /// - Throws: `CredentialError` when it cannot be written.
    public static func write(_ token: String, to path: String) throws(CredentialError) {
        try GuardedFile.write(token + "\n", to: path)
    }

    /// Reads a file with a token for a client, who may be asked for it again and again.
    /// - Throws: `CredentialError` for a file that others can read, or that holds none.
    public static func read(_ path: String) throws(CredentialError) -> String {
        let words = WordLines(try GuardedFile.read(path, as: .secret)).lines.flatMap(\.words)
        guard words.count == 1, let word = words.first else {
            throw .content(path: path, line: 0, reason: "must hold one token and nothing else")
        }
        return String(word)
    }
}
