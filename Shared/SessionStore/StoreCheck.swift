internal import Glibc

/// What a look at a whole store found: how much there is in it, and what is wrong with it.
public struct StoreReport: Sendable, Equatable, Codable {
    /// Something that must not be.
    public struct Problem: Sendable, Equatable, Codable {
        /// Which rule is broken: stable, for programs.
        public var rule: String
        /// What breaks it, for people.
        public var detail: String
    }

    /// The file, or the address of the database.
    public var path: String
    /// The version that wrote it.
    public var version: Int64
    /// The version that this program writes. An older store is brought up to it at the next start.
    public var current: Int64
    /// Sessions.
    public var sessions = 0
    /// Requests.
    public var requests = 0
    /// Requests that have not ended.
    public var open = 0
    /// Events.
    public var events = 0
    /// Bytes of the file that hold something.
    public var bytes: Int64 = 0
    /// What is wrong, at most ``StoreReport/limit`` of each kind; empty for a sound store.
    public var problems: [Problem] = []

    /// Problems of one kind that are listed.
    public static let limit = 20
}

extension SQLiteSessionStore {
    /// Looks at the whole store in a folder, as of one moment, and changes nothing. A gateway may be running on it.
    ///
    /// It takes as long as reading the file does.
    /// - Throws: `StoreError` when there is none, it cannot be read, or it is of a later version.
    public static func check(folder: String) throws(StoreError) -> StoreReport {
        let path = folder + "/sessions.db"
        guard access(path, F_OK) == 0 else { throw .cannotOpen(path: path, reason: String(cString: strerror(errno))) }
        let connection = try Schema.openForReading(path)
        return try connection.look { connection throws(StoreError) in try connection.check(path) }
    }
}
