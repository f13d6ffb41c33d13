/// Tells thoughts that stand in the answer itself, between `<think>` and `</think>`, from the answer.
///
/// A tag counts at the start of the answer and at the start of a line, so that an answer about such tags stays whole. What
/// may be the start of a tag waits for its rest; nothing else does.
struct ThoughtSplitter: Sendable {
    /// A piece of either.
    enum Part: Equatable, Sendable {
        case thinking(String)
        case text(String)
        /// A closing tag without an opening one, which then stood in the prompt: all the text before was a thought.
        case thoughtEnded
    }

    private enum Mode { case start, answer, thinking }

    private static let names = ["think", "thinking", "thought", "reasoning"].map { Array($0.utf8) }
    private var mode = Mode.start
    private var isAtLineStart = true
    /// Whether there was a thought already: then the empty lines before the answer belong to neither.
    private var hasThought = false
    private var pending: [UInt8] = []

    /// Takes the next piece of the content.
    mutating func feed(_ text: String) -> [Part] {
        var bytes = Array(text.utf8)
        if pending.isEmpty, mode == .answer, !bytes.contains(0x3C) {
            noteEnd(bytes[...])
            return text.isEmpty ? [] : [.text(text)]
        }
        if !pending.isEmpty {
            bytes = pending + bytes
            pending = []
        }
        return split(bytes, isLast: false)
    }

    /// Takes the end of the content.
    mutating func end() -> [Part] {
        let bytes = pending
        pending = []
        return split(bytes, isLast: true)
    }

    private mutating func split(_ bytes: [UInt8], isLast: Bool) -> [Part] {
        var parts: [Part] = []
        var position = 0
        while position < bytes.count {
            switch mode {
            case .start:
                let first = bytes[position...].firstIndex { !Self.isSpace($0) } ?? bytes.count
                guard first < bytes.count else {
                    if !isLast {
                        pending = Array(bytes[position...])
                    } else if !hasThought {
                        add(bytes[position...], to: &parts)
                    }
                    return parts
                }
                switch Self.tag(bytes[first...], isClosing: false, isLast: isLast) {
                case .whole(let end):
                    mode = .thinking
                    position = end
                case .beginning:
                    pending = Array(bytes[position...])
                    return parts
                case .none:
                    mode = .answer
                    isAtLineStart = true
                    if hasThought { position = first }
                }
            case .answer:
                guard let mark = bytes[position...].firstIndex(of: 0x3C) else {
                    add(bytes[position...], to: &parts)
                    return parts
                }
                add(bytes[position..<mark], to: &parts)
                position = mark
                let opening = isAtLineStart ? Self.tag(bytes[mark...], isClosing: false, isLast: isLast) : .none
                let closing = isAtLineStart ? Self.tag(bytes[mark...], isClosing: true, isLast: isLast) : .none
                switch (opening, closing) {
                case (.whole(let end), _):
                    mode = .thinking
                    position = end
                case (_, .whole(let end)):
                    if !hasThought { parts.append(.thoughtEnded) }
                    hasThought = true
                    mode = .start
                    position = end
                case (.beginning, _), (_, .beginning):
                    pending = Array(bytes[mark...])
                    return parts
                default:
                    add(bytes[mark...mark], to: &parts)
                    position = mark + 1
                }
            case .thinking:
                guard let mark = bytes[position...].firstIndex(of: 0x3C) else {
                    think(bytes[position...], &parts)
                    return parts
                }
                think(bytes[position..<mark], &parts)
                position = mark
                switch Self.tag(bytes[mark...], isClosing: true, isLast: isLast) {
                case .whole(let end):
                    position = end
                    mode = .start
                    hasThought = true
                case .beginning:
                    pending = Array(bytes[mark...])
                    return parts
                case .none:
                    think(bytes[mark...mark], &parts)
                    position = mark + 1
                }
            }
        }
        return parts
    }

    private enum Match { case none, beginning, whole(Int) }

    /// Whether a tag begins here, and where it ends.
    private static func tag(_ bytes: ArraySlice<UInt8>, isClosing: Bool, isLast: Bool) -> Match {
        var begins = false
        for name in names {
            let tag = [0x3C] + (isClosing ? [0x2F] : []) + name + [0x3E]
            var matched = 0
            for (byte, wanted) in zip(bytes, tag) {
                guard byte == wanted || (0x41...0x5A ~= byte && byte | 0x20 == wanted) else { break }
                matched += 1
            }
            if matched == tag.count { return .whole(bytes.startIndex + matched) }
            if matched == bytes.count, !isLast { begins = true }
        }
        return begins ? .beginning : .none
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

    private mutating func noteEnd(_ bytes: ArraySlice<UInt8>) {
        guard let last = bytes.last(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
        isAtLineStart = last == 0x0A || last == 0x0D
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>, to parts: inout [Part]) {
        guard !bytes.isEmpty else { return }
        noteEnd(bytes)
        let piece = String(decoding: bytes, as: UTF8.self)
        if case .text(let before)? = parts.last {
            parts[parts.count - 1] = .text(before + piece)
        } else {
            parts.append(.text(piece))
        }
    }

    private func think(_ bytes: ArraySlice<UInt8>, _ parts: inout [Part]) {
        guard !bytes.isEmpty else { return }
        let piece = String(decoding: bytes, as: UTF8.self)
        if case .thinking(let before)? = parts.last {
            parts[parts.count - 1] = .thinking(before + piece)
        } else {
            parts.append(.thinking(piece))
        }
    }
}
