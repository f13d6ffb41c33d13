/// A secret that opens an endpoint. It is only ever written into the header of a request: as text, and wherever a value
/// is printed with all it holds, it is a row of dots.
public struct APIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let secret: String

    /// Takes a key; white space around it is left out.
    /// - Returns: nil for what cannot stand in a header, and for nothing.
    public init?(_ text: String) {
        let key = Array(text.utf8).trimmed
        guard !key.isEmpty, key.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        secret = String(decoding: key, as: UTF8.self)
    }

    /// Dots.
    public var description: String { "•••" }
    /// Dots.
    public var debugDescription: String { description }
    /// Nothing inside.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }

    var bearer: String { "Bearer \(secret)" }
    var bare: String { secret }

    /// The text with dots where the key stands in it: endpoints like to repeat what they refuse.
    func hidden(in text: String) -> String {
        text.contains(secret)
            ? text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: description) : text
    }
}
