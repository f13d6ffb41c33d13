internal import Wire

/// Puts calls of tools together from their pieces, by number, by id, or by order, whichever the endpoint keeps to.
struct ToolCallAssembler: Sendable {
    private struct Call {
        var index: Int?
        var id: String
        var name: String
        var arguments: String
    }
    private var calls: [Call] = []

    /// Calls of one answer: one that makes more is out of its mind.
    private static let most = 128

    /// Whether any has begun.
    var isEmpty: Bool { calls.isEmpty }

    /// Takes the next piece. False when there are too many.
    mutating func take(_ piece: CallPiece) -> Bool {
        guard let position = place(of: piece) else {
            guard calls.count < Self.most else { return false }
            calls.append(Call(index: piece.index, id: piece.id, name: piece.name, arguments: piece.arguments))
            return true
        }
        // Names and ids may come again with every piece.
        if calls[position].id.isEmpty { calls[position].id = piece.id }
        if calls[position].name.isEmpty { calls[position].name = piece.name }
        calls[position].arguments += piece.arguments
        return true
    }

    /// The call that a piece goes on with; nil for a new one.
    private func place(of piece: CallPiece) -> Int? {
        if !piece.id.isEmpty {
            if let known = calls.lastIndex(where: { $0.id == piece.id }) { return known }
            // The id may come after the first piece. Another id with the same number is another call.
            guard let index = piece.index else { return nil }
            return calls.lastIndex { $0.index == index && $0.id.isEmpty }
        }
        if let index = piece.index { return calls.lastIndex { $0.index == index } }
        guard let last = calls.last else { return nil }
        if piece.name.isEmpty || last.name.isEmpty { return calls.count - 1 }
        // A name without number and id: the next call, unless the one before has not come whole and has the same.
        return piece.name == last.name && !Self.isWhole(last.arguments) ? calls.count - 1 : nil
    }

    private static func isWhole(_ arguments: String) -> Bool {
        !arguments.isEmpty && (try? JSONBody.decode(JSONValue.self, from: arguments.utf8)) != nil
    }

    /// The calls so far. `isComplete`: whether the answer came to its end and was not cut.
    func calls(areComplete: Bool) -> [ToolCall] {
        calls.enumerated().map { number, call in
            let id = call.id.isEmpty ? "call_\(number)_\(String(UInt64.random(in: 0 ... .max), radix: 36))" : call.id
            return ToolCall(
                id: id,
                name: call.name,
                arguments: call.arguments,
                isComplete: areComplete && !call.name.isEmpty
            )
        }
    }
}
