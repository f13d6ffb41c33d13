/// Takes Markdown's marks out of a line: emphasis, code, links, pictures, escapes; and folds white space.
enum InlineMarkup {
    private static let special: Set<UInt8> = [0x2A, 0x5F, 0x60, 0x5B, 0x5D, 0x7E, 0x3C, 0x5C, 0x09, 0x0A, 0x0D]

    static func removed(from line: [UInt8]) -> [UInt8] {
        var previous: UInt8 = 0
        let isPlain = line.allSatisfy { byte in
            defer { previous = byte }
            return !(special.contains(byte) || byte == 0x20 && previous == 0x20)
        }
        if isPlain { return line }
        var text: [UInt8] = []
        text.reserveCapacity(line.count)
        var offset = 0
        while offset < line.count {
            let byte = line[offset]
            switch byte {
            case 0x5C where offset + 1 < line.count && isPunctuation(line[offset + 1]):
                text.append(line[offset + 1])
                offset += 2
            case 0x60:  // `
                offset += 1
            case 0x2A, 0x5F, 0x7E:  // * _ ~
                let run = line[offset...].prefix { $0 == byte }.count
                if isMark(byte, run: run, in: line, at: offset) {
                    offset += run
                } else {
                    text.append(contentsOf: line[offset..<offset + run])
                    offset += run
                }
            case 0x21 where offset + 1 < line.count && line[offset + 1] == 0x5B && link(line, at: offset + 1) != nil:
                offset += 1
            case 0x5B:  // [
                if let (label, end) = link(line, at: offset) {
                    text.append(contentsOf: removed(from: Array(line[label])))
                    offset = end
                } else {
                    text.append(byte)
                    offset += 1
                }
            case 0x3C:  // <https://…> and <b>
                if let end = tagEnd(line, at: offset) {
                    offset = end
                } else {
                    text.append(byte)
                    offset += 1
                }
            case 0x09, 0x0A, 0x0D, 0x20:
                if text.last != 0x20 { text.append(0x20) }
                offset += 1
            default:
                text.append(byte)
                offset += 1
            }
        }
        return text
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        0x21...0x2F ~= byte || 0x3A...0x40 ~= byte || 0x5B...0x60 ~= byte || 0x7B...0x7E ~= byte
    }

    /// Whether a run of `*`, `_` or `~` is markup: it touches a word on one side, and `_` does not stand inside one.
    private static func isMark(_ mark: UInt8, run: Int, in line: [UInt8], at offset: Int) -> Bool {
        guard run <= 3, mark != 0x7E || run == 2 else { return false }
        let before = offset > 0 ? line[offset - 1] : 0x20
        let after = offset + run < line.count ? line[offset + run] : 0x20
        if before == 0x20, after == 0x20 { return false }
        guard mark == 0x5F else { return true }
        return !(isWordByte(before) && isWordByte(after))
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte >= 0x80 || 0x30...0x39 ~= byte || 0x61...0x7A ~= byte | 0x20
    }

    /// The label of a link or reference that begins at an offset, and where it ends.
    private static func link(_ line: [UInt8], at start: Int) -> (label: Range<Int>, end: Int)? {
        let limit = min(line.count, start + 2048)
        var depth = 0
        for offset in start..<limit {
            if line[offset] == 0x5B { depth += 1 }
            guard line[offset] == 0x5D else { continue }
            depth -= 1
            guard depth == 0 else { continue }
            guard offset + 1 < line.count, line[offset + 1] == 0x28 else { return nil }
            var open = 0
            for end in offset + 1..<min(line.count, offset + 2048) {
                if line[end] == 0x28 { open += 1 }
                if line[end] == 0x29 { open -= 1 }
                if open == 0 { return (start + 1..<offset, end + 1) }
            }
            return nil
        }
        return nil
    }

    /// The end of an HTML tag or an address in angle brackets.
    private static func tagEnd(_ line: [UInt8], at start: Int) -> Int? {
        guard start + 1 < line.count else { return nil }
        let first = line[start + 1]
        guard 0x61...0x7A ~= first | 0x20 || first == 0x2F else { return nil }
        guard let end = line[start..<min(line.count, start + 512)].firstIndex(of: 0x3E) else { return nil }
        // "a <b and c> d" is text: a tag has no more than a name before its first space.
        let name = line[start + 1..<end].prefix { $0 != 0x20 }
        let isTag = name.count == end - start - 1 || line[start..<end].contains(0x3D)
        return isTag ? end + 1 : nil
    }
}
