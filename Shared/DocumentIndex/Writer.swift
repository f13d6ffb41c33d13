internal import CLinux
internal import Glibc

extension DocumentIndex {
    /// The one that may change an index. While it lives, no other can be made for the same file.
    ///
    /// It blocks: use it on a thread of its own.
    public final class Writer {
        /// The file.
        public let path: String
        private let database: Database
        private let lock: WriterLock?
        private var terms = Terms()
        /// Documents that are written in one transaction.
        private static let batch = 200

        /// Opens an index, and makes it where there is none: with its folder, readable only by its owner.
        /// - Throws: `IndexError.busy` while another process writes it.
        public init(path: String) throws(IndexError) {
            self.path = path
            if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
                try Self.makeFolder(String(path[..<slash]))
            }
            lock = try WriterLock(path: path)
            let isNew = access(path, F_OK) != 0
            if isNew {
                let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { throw .folder(path: path, reason: String(cString: strerror(errno))) }
                fchmod(descriptor, 0o600)
                close(descriptor)
            }
            database = try Database(path, readOnly: false)
            try database.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
                PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000
                """
            )
            try Schema.prepare(database, path: path)
        }

        /// An index in memory.
        init(memory database: Database) throws(IndexError) {
            path = ":memory:"
            lock = nil
            self.database = database
            try database.execute("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY")
            try Schema.prepare(database, path: path)
        }

        private static func makeFolder(_ path: String) throws(IndexError) {
            var built = path.hasPrefix("/") ? "" : "."
            for part in path.split(separator: "/") {
                built += "/" + part
                if mkdir(built, 0o700) != 0, errno != EEXIST {
                    throw .folder(path: built, reason: String(cString: strerror(errno)))
                }
            }
        }

        /// Brings the index up to date with a folder: new and changed documents are read, those that are gone from it
        /// are removed, the rest is not touched. Documents of other folders stay.
        /// - Parameters:
        ///   - folder: The folder; everything below it that can be read as a document is taken in.
        ///   - progress: Called after each file; returning false stops, and keeps what is done.
        /// - Returns: What was done.
        /// - Throws: `IndexError` when the folder cannot be read or the index cannot be written.
        public func index(
            folder: String,
            progress: (Progress) -> Bool = { _ in true }
        ) throws(IndexError) -> Report {
            guard let resolved = realpath(folder, nil) else {
                throw .folder(path: folder, reason: String(cString: strerror(errno)))
            }
            let root = String(cString: resolved)
            free(resolved)
            let (files, skipped) = try DocumentFile.all(in: root)
            var report = Report(skipped: skipped)
            var known = try knownDocuments(under: root)
            try database.execute("BEGIN IMMEDIATE")
            do {
                for (index, file) in files.enumerated() {
                    try update(file, known.removeValue(forKey: file.path), &report)
                    if (index + 1) % Self.batch == 0 { try database.execute("COMMIT; BEGIN IMMEDIATE") }
                    guard progress(Progress(done: index + 1, total: files.count, path: file.path)) else {
                        try database.execute("COMMIT")
                        return report
                    }
                }
                for gone in known.values {
                    try remove(gone.id)
                    report.removed += 1
                }
                try database.execute("COMMIT")
            } catch {
                try? database.execute("ROLLBACK")
                throw error
            }
            if report.added + report.updated + report.removed > 0 {
                try database.execute("INSERT INTO search(search) VALUES('optimize')")
            }
            // Readers may hold the log: then a later run, or the last connection, empties it.
            try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return report
        }

        /// Takes in a document that is no file; one with the same source is replaced.
        public func add(_ document: Document) throws(IndexError) {
            try database.execute("BEGIN IMMEDIATE")
            do {
                if let old = try database.integer("SELECT id FROM documents WHERE path = ?", [.text(document.source)]) {
                    try remove(old)
                }
                let text = DocumentText.plain(document.text, title: document.title)
                _ = try insert(text, path: document.source, size: document.text.utf8.count, modified: 0)
                try database.execute("COMMIT")
            } catch {
                try? database.execute("ROLLBACK")
                throw error
            }
        }

        private struct Known {
            var id: Int
            var size: Int
            var modified: Int
        }

        private func knownDocuments(under root: String) throws(IndexError) -> [String: Known] {
            var known: [String: Known] = [:]
            let prefix = root == "/" ? "/" : root + "/"
            // "0" is the character after "/": the range is every path below the folder.
            let end = prefix.dropLast() + "0"
            try database.run(
                "SELECT id, path, size, modified FROM documents WHERE path >= ? AND path < ?",
                [.text(prefix), .text(String(end))]
            ) { row in
                known[row.text(1)] = Known(id: row.integer(0), size: row.integer(2), modified: row.integer(3))
            }
            return known
        }

        private func update(_ file: DocumentFile, _ known: Known?, _ report: inout Report) throws(IndexError) {
            if let known, known.size == file.size, known.modified == file.modified {
                report.unchanged += 1
                return
            }
            let text: DocumentText
            do {
                text = try file.read()
            } catch {
                report.skipped.append(.init(path: file.path, reason: error.reason))
                if let known { try remove(known.id) }
                return
            }
            if let known { try remove(known.id) }
            report.passages += try insert(text, path: file.path, size: file.size, modified: file.modified)
            if known == nil { report.added += 1 } else { report.updated += 1 }
        }

        private func insert(_ document: DocumentText, path: String, size: Int, modified: Int) throws(IndexError) -> Int
        {
            try database.run(
                "INSERT INTO documents(path, title, size, modified) VALUES (?, ?, ?, ?)",
                [.text(path), .text(document.title), .integer(size), .integer(modified)]
            )
            let id = database.lastRow
            let passages = PassageSplitter.split(document.sections)
            for passage in passages {
                let title = [document.title, passage.heading].filter { !$0.isEmpty }.joined(separator: " › ")
                try database.run(
                    "INSERT INTO passages(document, title, text) VALUES (?, ?, ?)",
                    [.integer(id), .text(title), .text(passage.text)]
                )
                let row = database.lastRow
                let (titleWords, titleCharacters) = terms.indexed(title)
                let (words, characters) = terms.indexed(passage.text)
                try database.run(
                    "INSERT INTO search(rowid, title, body, characters) VALUES (?, ?, ?, ?)",
                    [
                        .integer(row), .text(titleWords), .text(words),
                        .text(titleCharacters.isEmpty ? characters : "\(titleCharacters) x \(characters)"),
                    ]
                )
            }
            return passages.count
        }

        private func remove(_ document: Int) throws(IndexError) {
            try database.run(
                "DELETE FROM search WHERE rowid IN (SELECT id FROM passages WHERE document = ?)",
                [.integer(document)]
            )
            try database.run("DELETE FROM documents WHERE id = ?", [.integer(document)])
        }
    }
}

/// Held by the writer of an index: the kernel lets go of it when the process ends, however it ends.
private final class WriterLock {
    private let descriptor: Int32

    init(path: String) throws(IndexError) {
        descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .folder(path: path, reason: String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            // `deinit` closes it: it runs for what was complete when its making failed.
            let code = errno
            if code == EWOULDBLOCK { throw .busy(path: path) }
            throw .folder(path: path, reason: String(cString: strerror(code)))
        }
    }

    deinit { close(descriptor) }
}
