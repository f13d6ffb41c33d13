/// The key of a gateway or a worker, with that of its router.
public struct ClientKey: Sendable {
    /// Its own.
    public let pair: KeyPair
    /// By which it knows the router.
    public let router: PublicKey

    /// A key.
    public init(pair: KeyPair, router: PublicKey) {
        self.pair = pair
        self.router = router
    }

    /// Reads `NAME.key` of a gateway or worker.
    /// - Throws: `CredentialError` for a file that others can read, or that is none.
    public static func read(_ path: String) throws(CredentialError) -> ClientKey {
        let (pair, router) = try KeyFile.read(path)
        guard let router else { throw .content(path: path, line: 0, reason: "has no line \"router KEY\"") }
        return ClientKey(pair: pair, router: router)
    }
}

/// A file with a secret key: `public KEY`, `secret KEY` and, of those that connect, `router KEY`.
public enum KeyFile {
    /// Reads the router's own key.
    /// - Throws: `CredentialError` for a file that others can read, or that is none.
    public static func readRouter(_ path: String) throws(CredentialError) -> KeyPair { try read(path).pair }

    static func read(_ path: String) throws(CredentialError) -> (pair: KeyPair, router: PublicKey?) {
        var secret: SecretKey?
        var open: PublicKey?
        var router: PublicKey?
        for (number, words) in WordLines(try GuardedFile.read(path, as: .secret)).lines {
            func wrong(_ reason: String) -> CredentialError { .content(path: path, line: number, reason: reason) }
            guard words.count == 2, let bytes = Hexadecimal.bytes(words[1]), bytes.count == PublicKey.size else {
                throw wrong("must be \"public\", \"secret\" or \"router\", and a key of 64 hexadecimal digits")
            }
            switch words[0] {
            case "public": open = PublicKey(bytes: bytes)
            case "router": router = PublicKey(bytes: bytes)
            case "secret":
                secret = try SecretKey { target in for (index, byte) in bytes.enumerated() { target[index] = byte } }
            default: throw wrong("does not begin with \"public\", \"secret\" or \"router\"")
            }
        }
        guard let secret else { throw .content(path: path, line: 0, reason: "has no line \"secret KEY\"") }
        let pair = try KeyPair(secret)
        guard open == nil || open == pair.publicKey else {
            throw .content(path: path, line: 0, reason: "the public key is not that of the secret one")
        }
        return (pair, router)
    }

    static func write(_ pair: KeyPair, router: PublicKey?, of what: String, to path: String) throws(CredentialError) {
        var text = "# The secret key of \(what). Whoever has this file can act as it.\n"
        text += "public \(pair.publicKey)\nsecret \(pair.secretKey.withBytes { Hexadecimal.text($0) })\n"
        if let router { text += "router \(router)\n" }
        try GuardedFile.write(text, to: path)
    }
}

/// The folder with the keys of one bus: `router.key`, a `NAME.key` for each gateway and worker, and `allowed`.
public struct KeyFolder: Sendable {
    /// The folder.
    public let path: String
    /// The router's key.
    public var routerFile: String { file("router") }
    /// Whom the router lets in.
    public var listFile: String { "\(path)/allowed" }

    /// A folder, which need not be there.
    public init(_ path: String) { self.path = path }

    /// The list of those let in that belongs to a router's key, unless another is named: beside it.
    public static func list(besideKey path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "allowed" }
        return "\(path[..<slash])/allowed"
    }

    /// The file of a key.
    public func file(_ name: String) -> String { "\(path)/\(name).key" }

    /// Whether it has a router's key.
    public var hasKeys: Bool { GuardedFile.exists(routerFile) }

    /// Whether it has a key of that name.
    public func hasKey(_ name: String) -> Bool { GuardedFile.exists(file(name)) }

    /// Makes the first keys: the router's, one for gateways, one for workers with any skill.
    /// - Returns: The files that were written.
    /// - Throws: `CredentialError`, also when there are keys already.
    public func makeFirst() throws(CredentialError) -> [String] {
        try GuardedFile.makeFolder(path)
        return try GuardedFile.locked(listFile) { () throws(CredentialError) in
            for taken in [routerFile, listFile] where GuardedFile.exists(taken) {
                throw .invalid("\(taken) is there already: `skillbus keys new NAME` adds a key")
            }
            let router = try KeyPair.make()
            let gateway = try KeyPair.make()
            let worker = try KeyPair.make()
            let list = AllowList([
                .init(name: "gateway", key: gateway.publicKey, role: .gateway),
                .init(name: "worker", key: worker.publicKey, role: .worker, skills: .any),
            ])
            try list.write(to: listFile)
            try KeyFile.write(gateway, router: router.publicKey, of: "a Skillbus gateway", to: file("gateway"))
            try KeyFile.write(worker, router: router.publicKey, of: "a Skillbus worker", to: file("worker"))
            // Last: it is by this one that others see that there are keys.
            try KeyFile.write(router, router: nil, of: "a Skillbus router", to: routerFile)
            return [routerFile, listFile, file("gateway"), file("worker")]
        }
    }

    /// Makes one more key and lets it in.
    /// - Returns: Its file.
    /// - Throws: `CredentialError`, also for a name that is taken.
    public func make(
        _ name: String,
        as role: AllowList.Role,
        skills: AllowList.Skills = .only([])
    ) throws(CredentialError) -> String {
        guard Name.isName(name) else {
            throw .invalid("\"\(name)\" is no name for a key: it has letters, digits, \"-\", \"_\" and \".\"")
        }
        let router = try KeyFile.readRouter(routerFile)
        return try GuardedFile.locked(listFile) { () throws(CredentialError) in
            var list = try AllowList.read(listFile)
            let pair = try KeyPair.make()
            let entry = AllowList.Entry(name: name, key: pair.publicKey, role: role, skills: skills)
            guard !GuardedFile.exists(file(name)), list.add(entry) else {
                throw .invalid("there is a key \"\(name)\" already: choose another name, or remove that one")
            }
            let what = "the Skillbus \(role.rawValue) \(name)"
            try KeyFile.write(pair, router: router.publicKey, of: what, to: file(name))
            try list.write(to: listFile)
            return file(name)
        }
    }

    /// Lets a key in no longer, and deletes its file if it is here.
    /// - Throws: `CredentialError`, also when there is no such key.
    public func remove(_ name: String) throws(CredentialError) {
        try GuardedFile.locked(listFile) { () throws(CredentialError) in
            var list = try AllowList.read(listFile)
            guard list.remove(named: name) else { throw .invalid("there is no key \"\(name)\" in \(listFile)") }
            try list.write(to: listFile)
            try GuardedFile.remove(file(name))
        }
    }
}
