/// A work that a text refers to, with what the text says of it: every field is taken from there.
struct Reference: Hashable, Sendable {
    /// What names a work everywhere.
    enum Identifier: Hashable, Sendable {
        case doi(String)
        case arXiv(String)
        case isbn(String)
        case url(String)
    }

    /// As it was written, on one line; empty where there is only an identifier or a document.
    var written = ""
    /// What it was called in the text: the 3 of [3].
    var label: String?
    var fields = Fields()
    var identifiers: [Identifier] = []
    /// A document of the user's own: its path.
    var document: String?
    /// Where it is used, in words such as "paragraph 2".
    var uses: [Int] = []
    /// Whether `uses` are numbers of passages, not of paragraphs.
    var usesArePassages = false

    /// The parts of a reference, as they are written; empty for those that are not known.
    struct Fields: Hashable, Sendable {
        var authors: [String] = []
        var year = ""
        var title = ""
        /// Journal, proceedings, publisher, and all that follows: volume, pages.
        var container = ""

        /// Whether it is enough to be written in another order.
        var isEnough: Bool { !authors.isEmpty && !year.isEmpty && !title.isEmpty }
    }
}
