public import Wire

/// JSON in what a model has written: alone, between fences, or among words that nobody asked for.
public enum AnswerJSON {
    /// Places that are looked at: who writes more brackets than that has written something else.
    private static let places = 64

    /// The first object or list in an answer that is of use. What is not closed at the end was cut, and nothing of it counts.
    /// - Parameters:
    ///   - answer: what the model has written.
    ///   - use: what of it is wanted; nil for JSON that is something else, after which the next is looked for.
    /// - Returns: what `use` made of it; nil where there is none.
    public static func first<Value>(in answer: String, _ use: (JSONValue) -> Value?) -> Value? {
        let bytes = Array(answer.utf8)
        var place = 0
        for _ in 0..<places {
            guard let start = bytes[place...].firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }),
                let end = end(of: bytes, from: start)
            else { return nil }
            let json = try? JSONBody.decode(JSONValue.self, from: bytes[start..<end])
            if let json, let value = use(json) { return value }
            // Brackets among words may have JSON in them; what is JSON of another kind is passed over whole.
            place = json == nil ? start + 1 : end
        }
        return nil
    }

    /// Behind the bracket that closes the one at a place; nil where none does.
    private static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var depth = 0
        var isText = false
        var isEscaped = false
        for place in start..<bytes.count {
            let byte = bytes[place]
            if isEscaped {
                isEscaped = false
            } else if isText {
                isEscaped = byte == UInt8(ascii: "\\")
                isText = byte != UInt8(ascii: "\"")
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
                if depth == 0 { return place + 1 }
            }
        }
        return nil
    }
}
