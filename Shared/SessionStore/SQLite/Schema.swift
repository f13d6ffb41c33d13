internal import Glibc

/// The tables, and the steps from an older version of them to a newer one.
enum Schema {
    /// What this version writes.
    static let version: Int64 = 1

    /// Makes an empty store where there is none. It is made beside its place and moved there when it is whole, so that
    /// one sync of the file and one of the folder are enough, and there is never half a store.
    static func create(at path: String, in folder: String) throws(StoreError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_size > 0 { return }
        let draft = path + ".new"
        unlink(draft)
        // Made here so that the mode is right from the start: SQLite gives its other files the same one.
        let file = Glibc.open(draft, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .cannotOpen(path: draft, reason: String(cString: strerror(errno))) }
        defer { Glibc.close(file) }
        try write(draft)
        guard fsync(file) == 0, rename(draft, path) == 0 else {
            throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
        }
        StoreFile.sync(folder: folder)
    }

    /// Ends with its connection, which leaves one file.
    private static func write(_ path: String) throws(StoreError) {
        let connection = try Connection(path: path, readOnly: false)
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
            PRAGMA temp_store=MEMORY;
            PRAGMA wal_autocheckpoint=0;
            PRAGMA cache_size=-8192;
            """
        )
        let found = try connection.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        guard found <= version else { throw .newerSchema(found: found, known: version) }
        return connection
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

    private static let tables = """
        CREATE TABLE sessions(
            number   INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of making; cursor of the list
            id       BLOB    NOT NULL UNIQUE,
            owner    TEXT    NOT NULL,
            created  INTEGER NOT NULL,                   -- milliseconds since 1970, as every time here
            updated  INTEGER NOT NULL,
            next_seq INTEGER NOT NULL DEFAULT 1,         -- number of the session's next event
            title    TEXT    NOT NULL DEFAULT ''
        );
        CREATE INDEX sessions_of_owner ON sessions(owner, number);

        CREATE TABLE requests(
            number       INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of acceptance
            id           BLOB    NOT NULL UNIQUE,
            session      INTEGER NOT NULL REFERENCES sessions(number),
            owner        TEXT    NOT NULL,
            state        TEXT    NOT NULL DEFAULT 'open',
            generation   INTEGER NOT NULL DEFAULT 1,
            enqueued     INTEGER NOT NULL,                   -- waits for the earlier ones of its session
            cancelling   INTEGER NOT NULL DEFAULT 0,
            ends_alone   INTEGER NOT NULL,                   -- ends when the last follower leaves
            timeout      INTEGER NOT NULL,
            created      INTEGER NOT NULL,
            ended        INTEGER,
            accepted_seq INTEGER NOT NULL,
            terminal_seq INTEGER,                            -- set once
            text         TEXT    NOT NULL,
            answer       TEXT,
            input        BLOB    NOT NULL,
            plan         BLOB
        );
        CREATE INDEX requests_of_session ON requests(session, number);
        CREATE INDEX open_of_session ON requests(session) WHERE state = 'open';
        CREATE INDEX open_of_owner ON requests(owner) WHERE state = 'open';

        CREATE TABLE attachments(
            request    INTEGER NOT NULL REFERENCES requests(number),
            position   INTEGER NOT NULL,
            name       TEXT    NOT NULL,
            media_type TEXT    NOT NULL,
            data       BLOB    NOT NULL,
            UNIQUE(request, position)
        );

        CREATE TABLE events(
            session    INTEGER NOT NULL REFERENCES sessions(number),
            seq        INTEGER NOT NULL,
            request    INTEGER NOT NULL,
            job        BLOB,
            generation INTEGER,
            attempt    INTEGER,
            job_seq    INTEGER,
            type       TEXT    NOT NULL,
            body       BLOB    NOT NULL,                 -- the event as it is sent
            PRIMARY KEY(session, seq)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX once ON events(job, generation, attempt, job_seq) WHERE job_seq > 0;

        CREATE TABLE jobs(
            id           BLOB    PRIMARY KEY,
            request      INTEGER NOT NULL REFERENCES requests(number),
            skill        TEXT    NOT NULL,
            worker       TEXT    NOT NULL DEFAULT '',
            generation   INTEGER NOT NULL,               -- with the next two: the last that was stored of it
            attempt      INTEGER NOT NULL,
            last_seq     INTEGER NOT NULL,
            attempts     INTEGER NOT NULL,
            granted      INTEGER NOT NULL DEFAULT 0,     -- a job that must not run twice may have been started
            started      INTEGER NOT NULL,
            ended        INTEGER,
            outcome      TEXT,
            terminal_seq INTEGER,
            log          INTEGER                         -- order of ending; cursor of the skill log
        ) WITHOUT ROWID;
        CREATE INDEX jobs_of_request ON jobs(request);
        CREATE UNIQUE INDEX skill_log ON jobs(log) WHERE log IS NOT NULL;

        CREATE TABLE idempotency(
            owner   TEXT    NOT NULL,
            key     TEXT    NOT NULL,
            hash    BLOB    NOT NULL,
            request BLOB    NOT NULL,
            created INTEGER NOT NULL,
            PRIMARY KEY(owner, key)
        ) WITHOUT ROWID;

        """
}

/// The folder and the file of a store, made for nobody but the user, and the lock that keeps a second process out.
final class StoreFile: Sendable {
    let path: String
    private let lock: Int32

    init(folder: String) throws(StoreError) {
        func reason() -> String { String(cString: strerror(errno)) }
        try StoreFile.makeFolder(folder)
        path = folder + "/sessions.db"
        let lockPath = folder + "/sessions.lock"
        lock = Glibc.open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw .cannotOpen(path: lockPath, reason: reason()) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let why = reason()
            Glibc.close(lock)
            throw isTaken ? .inUse(path: folder) : .cannotOpen(path: lockPath, reason: why)
        }
        do throws(StoreError) {
            try Schema.create(at: path, in: folder)
        } catch {
            Glibc.close(lock)
            throw error
        }
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

    private static func makeFolder(_ folder: String) throws(StoreError) {
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
