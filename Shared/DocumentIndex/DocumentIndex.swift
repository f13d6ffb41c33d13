/// An index of documents in one SQLite file: one writer at a time fills it, any number of readers search it.
///
/// Words are cut, folded and stemmed by the `Text` module before SQLite sees them, since SQLite's own tokenizers do not
/// find Chinese words.
public enum DocumentIndex {
    /// Where the index lies unless told otherwise.
    public static func defaultPath(stateFolder: String) -> String { stateFolder + "/knowledge.sqlite" }

    /// A piece of a document that answers a query.
    public struct Passage: Hashable, Sendable {
        /// Path of the document.
        public var source: String
        /// Title of the document, with the heading that the passage stands under.
        public var title: String
        /// The passage, whole.
        public var text: String
        /// The part of it that has most of the query's words.
        public var snippet: String
        /// How well it fits: greater is better, only comparable within one search.
        public var score: Double

        /// Makes a passage.
        public init(source: String, title: String, text: String, snippet: String, score: Double) {
            self.source = source
            self.title = title
            self.text = text
            self.snippet = snippet
            self.score = score
        }
    }

    /// A document that is given as text, not as a file.
    public struct Document: Hashable, Sendable {
        /// Its name, returned as the source of its passages.
        public var source: String
        /// Its title, or nothing.
        public var title: String
        /// Its text.
        public var text: String

        /// Makes a document.
        public init(source: String, title: String = "", text: String) {
            self.source = source
            self.title = title
            self.text = text
        }
    }

    /// How far an indexing run is.
    public struct Progress: Sendable {
        /// Files that are done.
        public var done: Int
        /// Files that were found.
        public var total: Int
        /// The file that was done last.
        public var path: String
    }

    /// What an indexing run did.
    public struct Report: Hashable, Sendable {
        /// A file that is not in the index.
        public struct Skipped: Hashable, Sendable {
            /// Its path.
            public var path: String
            /// Why, in words.
            public var reason: String
        }

        /// Documents that were not in the index before.
        public var added = 0
        /// Documents that had changed.
        public var updated = 0
        /// Documents that had not changed.
        public var unchanged = 0
        /// Documents that were in the index and are gone from the folder.
        public var removed = 0
        /// Passages of the added and updated documents.
        public var passages = 0
        /// Files that could not be read as documents.
        public var skipped: [Skipped] = []
    }
}

/// Why an index cannot be written or searched.
public enum IndexError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no index at the path.
    case notFound(path: String)
    /// The folder does not exist or cannot be read.
    case folder(path: String, reason: String)
    /// Another process is writing the index.
    case busy(path: String)
    /// The file is no index of this program, or of a newer version of it.
    case incompatible(path: String, version: Int)
    /// SQLite refused.
    case database(operation: String, code: Int32, reason: String)
    /// The query has no words.
    case emptyQuery

    /// One sentence that says what to do.
    public var description: String {
        switch self {
        case .notFound(let path): "there is no index at \(path); make one with: skillbus index FOLDER"
        case .folder(let path, let reason): "cannot read the folder \(path): \(reason)"
        case .busy(let path): "another process is writing the index \(path); try again when it has ended"
        case .incompatible(let path, let version):
            "\(path) has the format \(version), this program knows \(Schema.version); move the file away and index again"
        case .database(let operation, let code, let reason): "index: \(operation) failed: \(reason) (SQLite \(code))"
        case .emptyQuery: "the query is empty: it has no word to search for"
        }
    }
}
