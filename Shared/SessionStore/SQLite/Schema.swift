internal import Glibc

/// The tables, and the steps from an older version of them to a newer one.
enum Schema {
    /// What this version writes: it has as many steps.
    static let version = Int64(steps.count)

    /// Makes an empty store where there is none. It is made beside its place and moved there when it is whole, so that
    /// one sync of the file and one of the folder are enough, and there is never half a store.
    /// Tests give an older version.
    static func create(at path: String, in folder: String, version: Int64 = version) throws(StoreError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_size > 0 { return }
        let draft = path + ".new"
        unlink(draft)
        // Made here so that the mode is right from the start: SQLite gives its other files the same one.
        let file = Glibc.open(draft, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .cannotOpen(path: draft, reason: String(cString: strerror(errno))) }
        defer { Glibc.close(file) }
        try write(draft, version)
        guard fsync(file) == 0, rename(draft, path) == 0 else {
            throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        StoreFile.sync(folder: folder)
    }

    /// Ends with its connection, which leaves one file.
    private static func write(_ path: String, _ version: Int64) throws(StoreError) {
        let connection = try Connection(path: path, readOnly: false)
        let tables = steps.prefix(Int(version)).joined()
        try connection.execute(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN; \(tables) PRAGMA user_version=\(version); COMMIT;"
        )
        try connection.execute("PRAGMA journal_mode=WAL")
    }

    /// Opens the database for writing, with the settings that the promises need.
    static func open(_ path: String) throws(StoreError) -> Connection {
        let connection = try Connection(path: path, readOnly: false)
        try connection.execute(
            """
            PRAGMA journal_mode=WAL;
            PRAGMA synchronous=FULL;
            PRAGMA foreign_keys=ON;
            PRAGMA secure_delete=ON;
            PRAGMA temp_store=MEMORY;
            PRAGMA wal_autocheckpoint=0;
            PRAGMA cache_size=-8192;
            """
        )
        try migrate(connection)
        return connection
    }

    /// The version of a store.
    /// - Throws: `StoreError` for one of a later version, and for a database that is none of ours.
    static func version(of connection: Connection) throws(StoreError) -> Int64 {
        let found = try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        guard found <= version else { throw .newerSchema(found: found, known: version) }
        guard found > 0 else { throw .corrupt("it has no version, so it is no session store") }
        return found
    }

    /// Brings an older store up to this version, all or nothing.
    private static func migrate(_ connection: Connection) throws(StoreError) {
        let found = try version(of: connection)
        guard found < version else { return }
        let missing = steps.dropFirst(Int(found)).joined()
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE; \(missing) PRAGMA user_version=\(version); COMMIT;")
        } catch {
            if !connection.isInAutocommit { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    /// Opens the database for reading only. Never does it checkpoint: two connections that do can lose pages in the
    /// SQLite versions that Debian 12 has (the WAL-reset bug of 3.7.0 to 3.51.2).
    static func openForReading(_ path: String) throws(StoreError) -> Connection {
        let connection = try Connection(path: path, readOnly: true)
        try connection.execute(
            "PRAGMA wal_autocheckpoint=0; PRAGMA query_only=ON; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096;"
        )
        return connection
    }

    /// Writes one page, with what it holds already.
    static func touch(_ connection: Connection) throws(StoreError) {
        try connection.execute("BEGIN IMMEDIATE; PRAGMA user_version=\(version); COMMIT;")
    }
}

/// The folder and the file of a store, made for nobody but the user, and the lock that keeps a second process out.
final class StoreFile: Sendable {
    let path: String
    private let lock: Int32

    init(folder: String) throws(StoreError) {
        path = folder + "/sessions.db"
        lock = try StateFolder.open(folder, lock: "sessions.lock")
        // If this fails, `deinit` closes the lock: it runs for what was complete when its making failed.
        try Schema.create(at: path, in: folder)
    }

    deinit { Glibc.close(lock) }

    /// Lets another process in, once nothing is written any more.
    func release() { flock(lock, LOCK_UN) }

    /// Makes the entries of new files in the folder durable.
    static func sync(folder: String) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        Glibc.close(descriptor)
    }
}

/// A folder that one process has for itself.
public enum StateFolder {
    /// Makes the folder if it is missing, and keeps other processes out until this one ends.
    /// - Throws: `StoreError.inUse` when another one has it.
    public static func lock(_ folder: String) throws(StoreError) { _ = try open(folder, lock: "gateway.lock") }

    /// Makes the folder and takes the lock.
    /// - Returns: A descriptor; the lock is held until that is closed.
    static func open(_ folder: String, lock name: String) throws(StoreError) -> Int32 {
        try make(folder)
        let path = "\(folder)/\(name)"
        let lock = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .cannotOpen(path: path, reason: String(cString: strerror(errno))) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let why = String(cString: strerror(errno))
            Glibc.close(lock)
            throw isTaken ? .inUse(path: folder) : .cannotOpen(path: path, reason: why)
        }
        return lock
    }

    private static func make(_ folder: String) throws(StoreError) {
        var made = ""
        for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
            made += folder.hasPrefix("/") || !made.isEmpty ? "/\(part)" : String(part)
            guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            // A parent that may be passed but not written to is no fault as long as it is there.
            guard access(made, F_OK) != 0 else { continue }
            throw .cannotOpen(path: made, reason: String(cString: strerror(errno)))
        }
    }
}
