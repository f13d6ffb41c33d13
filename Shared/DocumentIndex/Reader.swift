internal import CLinux
internal import Glibc
internal import Text

extension DocumentIndex {
    /// Searches an index. It never changes the file, and sees what a writer has committed, at every search anew.
    ///
    /// It blocks, briefly, and belongs to one thread at a time.
    public final class Reader {
        private let database: Database
        private var terms = Terms()
        /// Device and inode of the file when it was opened.
        private let identity: [UInt64]
        /// The file.
        public let path: String

        /// Opens an index.
        /// - Throws: `IndexError.notFound` if there is none.
        public init(path: String) throws(IndexError) {
            self.path = path
            guard let identity = Self.identity(of: path) else { throw .notFound(path: path) }
            self.identity = identity
            database = try Database(path, readOnly: true)
            try database.execute(
                "PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 268435456"
            )
            try Schema.check(database, path: path)
        }

        /// Indexes a few documents in memory.
        public init(documents: [Document]) throws(IndexError) {
            path = ":memory:"
            identity = []
            database = try Database(":memory:", readOnly: false)
            let writer = try Writer(memory: database)
            for document in documents { try writer.add(document) }
        }

        private static func identity(of path: String) -> [UInt64]? {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return [UInt64(status.st_dev), UInt64(status.st_ino)]
        }

        /// Whether the path still leads to the file that is open; if not, open it anew.
        public var isCurrent: Bool { identity.isEmpty || Self.identity(of: path) == identity }

        /// Documents in the index.
        public func documentCount() throws(IndexError) -> Int {
            try database.integer("SELECT count(*) FROM documents") ?? 0
        }

        /// The passages that fit a query best, best first. Not every word has to occur.
        /// - Parameters:
        ///   - query: A question, or words; nothing in it is an operator.
        ///   - limit: Passages to return.
        ///   - folder: Only documents below this folder.
        /// - Returns: The passages; none if no word occurs.
        /// - Throws: `IndexError.emptyQuery` if the query has no words.
        public func search(_ query: String, limit: Int = 10, folder: String? = nil) throws(IndexError) -> [Passage] {
            let words = try chosenTerms(query)
            var expressions: [String] = []
            for word in words { expressions.append(try expression(for: word)) }
            var sql = """
                SELECT p.text, p.title, d.path, bm25(search, \(Weight.title), \(Weight.body), \(Weight.characters))
                FROM search JOIN passages p ON p.id = search.rowid JOIN documents d ON d.id = p.document
                WHERE search MATCH ?
                """
            var values: [Database.Value] = [.text(expressions.joined(separator: " OR "))]
            if let folder {
                let prefix = folder.hasSuffix("/") ? folder : folder + "/"
                sql += " AND d.path >= ? AND d.path < ?"
                values += [.text(prefix), .text(prefix.dropLast() + "0")]
            }
            sql += " ORDER BY bm25(search, \(Weight.title), \(Weight.body), \(Weight.characters)), p.id LIMIT ?"
            values.append(.integer(max(1, limit)))
            var found: [(text: String, title: String, source: String, score: Double)] = []
            try database.run(sql, values) { row in
                found.append((row.text(0), row.text(1), row.text(2), -row.double(3)))
            }
            let forms = Set(words.map(\.form))
            return found.map { passage in
                let snippet = Snippet.of(passage.text, forms, &terms)
                return Passage(
                    source: passage.source,
                    title: passage.title,
                    text: passage.text,
                    snippet: snippet,
                    score: passage.score
                )
            }
        }

        private enum Weight {
            static let title = 2.0
            static let body = 1.0
            static let characters = 0.5
        }

        /// The words of a query that are searched: the 16 rarest, each as often as it was written. More of them cost
        /// time and find nothing better.
        private func chosenTerms(_ query: String) throws(IndexError) -> [Terms.Term] {
            let all = terms.terms(in: query)
            guard !all.isEmpty else { throw .emptyQuery }
            let telling = all.filter { !StopWords.contains($0.form) && !Self.isStop($0, in: query) }
            let candidates = telling.isEmpty ? all : telling
            var frequencies: [String: Int] = [:]
            for term in candidates where frequencies[term.form] == nil {
                frequencies[term.form] = try frequency(of: term.form)
            }
            guard frequencies.count > Self.mostTerms else { return Array(candidates.prefix(64)) }
            let rarest = frequencies.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(Self.mostTerms)
            let kept = Set(rarest.map(\.key))
            return Array(candidates.filter { kept.contains($0.form) }.prefix(64))
        }

        private static let mostTerms = 16

        /// Stop words are listed as they are written, not as they are stemmed.
        private static func isStop(_ term: Terms.Term, in query: String) -> Bool {
            let bytes = Array(query.utf8)[term.range]
            return StopWords.contains(String(decoding: bytes, as: UTF8.self))
        }

        private func frequency(of form: String) throws(IndexError) -> Int {
            try database.integer("SELECT doc FROM vocabulary WHERE term = ?", [.text(form)]) ?? 0
        }

        /// A word as FTS5 takes it, quoted. A Han word that no document has as a word is looked for within longer ones.
        private func expression(for term: Terms.Term) throws(IndexError) -> String {
            if term.isHan, try frequency(of: term.form) == 0 || term.form.count == 1 {
                return "characters:" + Self.quoted(term.form.map { String($0) }.joined(separator: " "))
            }
            return "{title body}:" + Self.quoted(term.form)
        }

        private static func quoted(_ text: String) -> String {
            "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
        }
    }
}
