/// The blocks of Markdown or plain text. Plain text is Markdown without marks, so one reader serves both.
enum MarkdownText {
    /// A line by its look.
    private enum Line {
        case empty
        case fence
        case skipped
        case underline
        case heading(Range<Int>)
        case item(Range<Int>)
        case row(Range<Int>)
        case text(Range<Int>)
    }

    /// Lines without an empty one between them that are looked at together; a paragraph has fewer.
    private static let mostLines = 2000

    static func blocks(in bytes: [UInt8]) -> [TextBlock] {
        var blocks: [TextBlock] = []
        var group: [Range<Int>] = []
        var groupKind = TextBlock.Kind.paragraph
        func add(_ kind: TextBlock.Kind, _ text: [UInt8]) {
            let plain = InlineMarkup.removed(from: text)
            let inside = plain.trimmed(0..<plain.count)
            if !inside.isEmpty { blocks.append(TextBlock(kind: kind, text: plain.text(inside))) }
        }
        func endGroup() {
            for unwrapped in LineWrap.joined(bytes, group) { add(groupKind, unwrapped) }
            group.removeAll(keepingCapacity: true)
            groupKind = .paragraph
        }
        // Marks of fences that nothing closes from here on: looked for once.
        var unclosed: Set<UInt8> = []
        var offset = 0
        while offset < bytes.count, !Task.isCancelled {
            let end = bytes[offset...].firstIndex(of: 0x0A) ?? bytes.count
            let line = offset..<end
            offset = end + 1
            switch look(bytes, line) {
            case .empty, .skipped: endGroup()
            case .fence:
                endGroup()
                let mark = bytes[bytes.trimmed(line).lowerBound]
                if unclosed.contains(mark) { break }
                if let after = fenceEnd(bytes, mark: mark, from: offset) {
                    offset = after
                } else {
                    unclosed.insert(mark)
                }
            case .underline:
                // The line above is a title: it is the last of its group.
                if groupKind == .paragraph, let title = group.popLast() {
                    endGroup()
                    add(.heading, Array(bytes[title]))
                } else {
                    endGroup()
                }
            case .heading(let title):
                endGroup()
                add(.heading, Array(bytes[title]))
            case .row(let row):
                endGroup()
                add(.row, cells(bytes, row))
            case .item(let item):
                endGroup()
                groupKind = .item
                group = [item]
            case .text(let text):
                group.append(text)
                if group.count == mostLines { endGroup() }
            }
        }
        endGroup()
        return blocks
    }

    private static func look(_ bytes: [UInt8], _ line: Range<Int>) -> Line {
        var content = bytes.trimmed(line)
        while content.count > 1, bytes[content.lowerBound] == 0x3E {
            content = bytes.trimmed(content.lowerBound + 1..<content.upperBound)
        }
        guard let first = content.first.map({ bytes[$0] }) else { return .empty }
        let rest = bytes[content]
        switch first {
        case 0x23:  // #
            let level = rest.prefix { $0 == 0x23 }.count
            let start = content.lowerBound + level
            guard level <= 6, start == content.upperBound || bytes[start] == 0x20 else { return .text(content) }
            var title = bytes.trimmed(start..<content.upperBound)
            while let last = title.last, bytes[last] == 0x23 { title = title.lowerBound..<last }
            return .heading(bytes.trimmed(title))
        case 0x60, 0x7E:  // ` ~
            return rest.starts(with: [first, first, first]) ? .fence : .text(content)
        case 0x2D, 0x2A, 0x2B, 0x5F, 0x3D:  // - * + _ =
            if content.count >= 3, rest.allSatisfy({ $0 == first || $0 == 0x20 }) {
                return first == 0x2D || first == 0x3D ? .underline : .skipped
            }
            guard first != 0x5F, first != 0x3D, content.count > 2, bytes[content.lowerBound + 1] == 0x20 else {
                return .text(content)
            }
            return .item(bytes.trimmed(content.lowerBound + 2..<content.upperBound))
        case 0x30...0x39:  // 1. or 1)
            let digits = rest.prefix { 0x30...0x39 ~= $0 }.count
            let mark = content.lowerBound + digits
            guard digits <= 3, mark + 1 < content.upperBound, bytes[mark] == 0x2E || bytes[mark] == 0x29,
                bytes[mark + 1] == 0x20
            else { return .text(content) }
            return .item(bytes.trimmed(mark + 1..<content.upperBound))
        case 0x7C:  // |
            let isRule = rest.allSatisfy { $0 == 0x7C || $0 == 0x2D || $0 == 0x3A || $0 == 0x20 }
            return isRule ? .skipped : .row(content)
        case 0x5B:  // [name]: address
            let isReference = rest.firstIndex(of: 0x5D).map { $0 + 1 < content.upperBound && bytes[$0 + 1] == 0x3A }
            return isReference == true ? .skipped : .text(content)
        case 0xE2:  // • (E2 80 A2)
            guard rest.starts(with: "•".utf8) else { return .text(content) }
            return .item(bytes.trimmed(content.lowerBound + 3..<content.upperBound))
        default: return .text(content)
        }
    }

    /// The offset behind the line that closes a block of code; nil where none does: then it was no block.
    private static func fenceEnd(_ bytes: [UInt8], mark: UInt8, from start: Int) -> Int? {
        var offset = start
        while offset < bytes.count {
            let end = bytes[offset...].firstIndex(of: 0x0A) ?? bytes.count
            let line = bytes.trimmed(offset..<end)
            if line.count >= 3, bytes[line].allSatisfy({ $0 == mark }) { return end + 1 }
            offset = end + 1
        }
        return nil
    }

    private static func cells(_ bytes: [UInt8], _ row: Range<Int>) -> [UInt8] {
        let cells = bytes[row].split(separator: 0x7C).map { cell in
            Array(bytes[bytes.trimmed(cell.startIndex..<cell.endIndex)])
        }
        return Array(cells.filter { !$0.isEmpty }.joined(separator: ", ".utf8))
    }
}
