/// The tables of an index.
enum Schema {
    /// Kept in the file as `user_version`. Another number is another format.
    static let version = 1

    private static let tables = """
        CREATE TABLE documents(
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE,
            title TEXT NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL
        );
        CREATE TABLE passages(
            id INTEGER PRIMARY KEY,
            document INTEGER NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            title TEXT NOT NULL,
            text TEXT NOT NULL
        );
        CREATE INDEX passages_by_document ON passages(document);
        CREATE VIRTUAL TABLE search USING fts5(title, body, characters, tokenize = 'unicode61');
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab(search, 'row');
        """

    /// Makes the tables where there are none.
    static func prepare(_ database: Database, path: String) throws(IndexError) {
        let version = try database.integer("PRAGMA user_version") ?? 0
        if version == self.version { return }
        let objects = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
        guard version == 0, objects == 0 else { throw .incompatible(path: path, version: version) }
        try database.execute("BEGIN IMMEDIATE; \(tables) PRAGMA user_version = \(self.version); COMMIT")
    }

    /// Refuses a file that is no index of this version.
    static func check(_ database: Database, path: String) throws(IndexError) {
        let version = try database.integer("PRAGMA user_version") ?? 0
        guard version == self.version else { throw .incompatible(path: path, version: version) }
    }
}
