/// Header fields in their order; names are looked up without regard to case.
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Sendable, Equatable {
        /// The name as it was written.
        public var name: String
        /// The value without white space around it.
        public var value: String
    }
    /// All fields.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// The given fields.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The first field's value; setting one removes all others of the name.
    public subscript(name: String) -> String? {
        get { fields.first { equalIgnoringCase($0.name, name) }?.value }
        set {
            fields.removeAll { equalIgnoringCase($0.name, name) }
            if let newValue { fields.append(Field(name: name, value: newValue)) }
        }
    }

    /// The values of all fields of a name.
    public func all(_ name: String) -> [String] {
        fields.lazy.filter { equalIgnoringCase($0.name, name) }.map(\.value)
    }

    /// Appends a field.
    public mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}

/// Whether two texts are the same apart from the case of ASCII letters.
func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
}

private func lowercased(_ byte: UInt8) -> UInt8 { 65...90 ~= byte ? byte + 32 : byte }
