/// A piece of a document that stands for itself.
public struct TextBlock: Hashable, Sendable {
    /// What a piece is in its document.
    public enum Kind: Sendable, Hashable {
        /// A title.
        case heading
        /// Running text.
        case paragraph
        /// An entry of a list.
        case item
        /// A row of a table.
        case row
    }

    /// What it is.
    public var kind: Kind
    /// Its words, without markup, in one line.
    public var text: String

    /// Makes a block.
    public init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }
}
