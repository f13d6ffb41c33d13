internal import Glibc

/// Where a PostgreSQL is: `postgres://user@host:port/database`, or any other URL that libpq takes.
public struct PostgresAddress: Sendable, Equatable {
    /// The URL, without a password.
    public let text: String
    /// The password; nil where libpq finds it (`PGPASSWORD`, `PGPASSFILE`, `~/.pgpass`) or none is asked for.
    public let password: String?

    /// What is wrong with a URL.
    public struct Invalid: Error, Equatable, CustomStringConvertible {
        /// The sentence.
        public let description: String
    }

    /// Reads a URL. A password in it is taken out.
    /// - Throws: ``Invalid`` for what is no URL of PostgreSQL.
    public init(_ text: String, password: String? = nil) throws(Invalid) {
        guard PostgresAddress.isOne(text) else {
            throw Invalid(description: "\"\(text.prefix(40))\" does not begin with postgres://")
        }
        let (clean, found) = PostgresAddress.split(text)
        self.text = clean
        self.password = password ?? found
    }

    /// Whether a text is meant as one.
    public static func isOne(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// Whether a password stands in the URL, where everybody who lists processes sees it.
    public static func hasPassword(_ text: String) -> Bool { split(text).password != nil }

    /// For people: without anything that may be a secret.
    public var shown: String { String(text.split(separator: "?", maxSplits: 1).first ?? "") }

    private static func split(_ text: String) -> (clean: String, password: String?) {
        var text = text
        var password: String?
        if let query = text.firstIndex(of: "?") {
            var kept: [Substring] = []
            for part in text[text.index(after: query)...].split(separator: "&") {
                if part.hasPrefix("password=") {
                    password = decoded(part.dropFirst("password=".count))
                } else {
                    kept.append(part)
                }
            }
            text = text[..<query] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
        }
        guard let start = text.firstRange(of: "://")?.upperBound else { return (text, password) }
        let end = text[start...].firstIndex { "/?".contains($0) } ?? text.endIndex
        guard let at = text[start..<end].lastIndex(of: "@"), let colon = text[start..<at].firstIndex(of: ":") else {
            return (text, password)
        }
        password = decoded(text[text.index(after: colon)..<at])
        return (String(text[..<colon] + text[at...]), password)
    }

    /// `%40` is `@`.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest.removeFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
