/// Whose keys the router lets in, and as what: one line for each.
///
///     gateway KEY NAME
///     worker  KEY NAME SKILL,SKILL      (or * for any skill)
public struct AllowList: Sendable, Equatable {
    /// What a key is for.
    public enum Role: String, Sendable {
        /// Submits requests.
        case gateway
        /// Registers skills.
        case worker
    }

    /// The skills that a worker may register.
    public enum Skills: Sendable, Equatable, CustomStringConvertible {
        /// Whatever it brings.
        case any
        /// These ids.
        case only([String])

        /// Whether one is among them.
        public func contains(_ id: String) -> Bool {
            switch self {
            case .any: true
            case .only(let ids): ids.contains(id)
            }
        }

        /// As in the file.
        public var description: String {
            switch self {
            case .any: "*"
            case .only(let ids): ids.joined(separator: ",")
            }
        }

        /// Reads `*` or ids separated by commas; nil for anything else.
        public init?(_ text: some StringProtocol) {
            let text = String(text)
            if text == "*" {
                self = .any
                return
            }
            let ids: [String] = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard ids.allSatisfy({ Name.isName($0) }) else { return nil }
            self = .only(ids)
        }
    }

    /// One key.
    public struct Entry: Sendable, Equatable {
        /// What people call it.
        public var name: String
        /// The key.
        public var key: PublicKey
        /// What it is for.
        public var role: Role
        /// What it may register; nothing for a gateway.
        public var skills: Skills

        /// A key.
        public init(name: String, key: PublicKey, role: Role, skills: Skills = .only([])) {
            self.name = name
            self.key = key
            self.role = role
            self.skills = skills
        }

        var line: String {
            role == .worker ? "\(role.rawValue) \(key) \(name) \(skills)" : "\(role.rawValue) \(key) \(name)"
        }
    }

    /// In the order of the file.
    public private(set) var entries: [Entry] = []

    /// A list. Of several entries with one key or name the first counts.
    public init(_ entries: [Entry] = []) { for entry in entries { _ = add(entry) } }

    /// Adds a key; false if its name or itself is there already.
    public mutating func add(_ entry: Entry) -> Bool {
        guard !entries.contains(where: { $0.key == entry.key || $0.name == entry.name }) else { return false }
        entries.append(entry)
        return true
    }

    /// Takes out a key by its name; false if there is none.
    public mutating func remove(named name: String) -> Bool {
        let count = entries.count
        entries.removeAll { $0.name == name }
        return entries.count < count
    }

    /// Reads a list.
    /// - Throws: `CredentialError` that names the line, or says that others can write to the file.
    public static func read(_ path: String) throws(CredentialError) -> AllowList {
        var list = AllowList()
        for (number, words) in WordLines(try GuardedFile.read(path, as: .list)).lines {
            func wrong(_ reason: String) -> CredentialError { .content(path: path, line: number, reason: reason) }
            guard let role = Role(rawValue: String(words[0])) else {
                throw wrong("must begin with \"gateway\" or \"worker\"")
            }
            let count = role == .worker ? 4 : 3
            guard words.count == count else {
                throw wrong("must be \"\(role == .worker ? "worker KEY NAME SKILLS" : "gateway KEY NAME")\"")
            }
            guard let key = PublicKey(words[1]) else { throw wrong("the key must have 64 hexadecimal digits") }
            guard Name.isName(words[2]) else { throw wrong("a name has letters, digits, \"-\", \"_\" and \".\"") }
            guard let skills = role == .worker ? Skills(words[3]) : .only([]) else {
                throw wrong("skills must be ids separated by commas, or *")
            }
            guard list.add(Entry(name: String(words[2]), key: key, role: role, skills: skills)) else {
                throw wrong("this name or this key is there twice")
            }
        }
        return list
    }

    /// Writes the list.
    func write(to path: String) throws(CredentialError) {
        let head = """
            # Keys that the router lets in: "gateway KEY NAME", "worker KEY NAME SKILL,SKILL" (* for any skill).
            # After a change send the router SIGHUP.

            """
        try GuardedFile.write(head + entries.map { $0.line + "\n" }.joined(), to: path)
    }
}

/// Names of keys, tenants and skills in these files.
public enum Name {
    /// 1 to 64 letters, digits, `-`, `_` and `.`, and no file name that leads elsewhere.
    public static func isName(_ text: some StringProtocol) -> Bool {
        guard 1...64 ~= text.utf8.count, text.utf8.first != 46 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122, 45, 46, 95: true
            default: false
            }
        }
    }
}
