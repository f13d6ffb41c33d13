/// How a store comes to be: what each version added to the one before. A step that has been released never changes.
extension Schema {
    /// The first makes an empty store of version 1, each further one the next version of that.
    static let steps = [firstTables, routersAndRetention, deadLetters, privacy, summaries]

    /// Version 2: which router has a request, and what has been deleted for its age.
    private static let routersAndRetention = """
        ALTER TABLE requests ADD COLUMN router BLOB;                        -- instance that it was submitted to last
        ALTER TABLE sessions ADD COLUMN first_seq INTEGER NOT NULL DEFAULT 1;  -- first event that is still held

        CREATE TABLE pruned(
            id    BLOB    PRIMARY KEY,                   -- a session that was deleted
            owner TEXT    NOT NULL,
            time  INTEGER NOT NULL
        ) WITHOUT ROWID;

        """

    private static let firstTables = """
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
