internal import Text

/// Finds the places where a text may part into what to do and what to do it with. Which of them is right is for the
/// scores to say; here are only the marks: fences, lines, a colon, quotation marks, first and last sentences.
///
/// Works on bytes and looks at no more than the ends of a long text.
struct InstructionSplitter {
    struct Candidate {
        let instruction: String
        let material: Range<Int>
        /// How sure the mark is.
        let bonus: Double
        /// Whether it stands before the rest like a heading, in a few words: nothing else of the text is as likely.
        var isHeading = false
        /// Whether only the end of a sentence parts the two.
        var isSentence = false
    }

    /// Longest instruction, in bytes.
    private static let instructionLimit = 600
    /// Words or Han characters of a heading.
    private static let headingLength = 8
    /// From which bonus on there is a mark between the two, and not only the end of a sentence.
    private static let mark = 0.06
    /// Texts up to this many words or Han characters are not cut at sentences.
    static let sentenceCutLength = 24
    private static let pageLength = 60
    /// A text that is cut nowhere is read up to this many bytes from either end.
    private static let wholeLimit = 1500
    /// More than words have, with the marks around them.
    private static let bytesPerWord = 64

    let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The whole text, without its middle if it is long.
    var whole: String {
        guard bytes.count > 2 * Self.wholeLimit else { return text(0..<bytes.count) }
        let head = characterStart(atOrBefore: Self.wholeLimit)
        let tail = characterStart(atOrBefore: bytes.count - Self.wholeLimit)
        return text(0..<head) + "\n" + text(tail..<bytes.count)
    }

    /// Words and Han characters, counted up to a bound.
    static func visualLength(_ bytes: ArraySlice<UInt8>, limit: Int = 400) -> Int {
        var count = 0
        var isInWord = false
        // A word without an end is no reason to read all of it.
        for byte in bytes.prefix(limit * bytesPerWord) {
            if byte < 0x80 {
                let isLetter = 0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte || byte == 0x27
                if isLetter, !isInWord { count += 1 }
                isInWord = isLetter
            } else if byte >= 0xE3 {
                count += 1
                isInWord = false
            } else if byte >= 0xC0 {
                if !isInWord { count += 1 }
                isInWord = true
            }
            if count >= limit { break }
        }
        return count
    }

    var visualLength: Int { Self.visualLength(bytes[...]) }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Whether a part has more words or Han characters than a wish usually has.
    func isLong(_ range: Range<Int>) -> Bool {
        Self.visualLength(bytes[range], limit: Self.pageLength) >= Self.pageLength
    }

    /// The text of a range without white space, line marks and quotation marks at its ends.
    func material(_ range: Range<Int>) -> String? {
        let trimmed = trim(range)
        return trimmed.isEmpty ? nil : text(trimmed)
    }

    func candidates() -> [Candidate] {
        var found: [Candidate] = []
        if let fence = fence() { found.append(fence) }
        found += lines()
        if let colon = colon() { found.append(colon) }
        if let quotation = quotation() { found.append(quotation) }
        if let dash = dash() { found.append(dash) }
        if visualLength > Self.sentenceCutLength { found += sentences() }
        return found
    }

    private func candidate(
        _ instruction: Range<Int>,
        _ material: Range<Int>,
        _ bonus: Double,
        isSentence: Bool = false
    ) -> Candidate? {
        let instruction = trim(instruction)
        let material = trim(material)
        guard !instruction.isEmpty, !material.isEmpty, instruction.count <= Self.instructionLimit else { return nil }
        let isHeading =
            instruction.upperBound <= material.lowerBound
            && Self.visualLength(bytes[instruction], limit: Self.headingLength + 1) <= Self.headingLength
            && Self.visualLength(bytes[material], limit: Self.sentenceCutLength) >= Self.sentenceCutLength
        return Candidate(
            instruction: text(instruction),
            material: material,
            bonus: bonus,
            isHeading: bonus >= Self.mark && isHeading,
            isSentence: isSentence
        )
    }

    // MARK: Marks

    private func fence() -> Candidate? {
        guard let open = find([0x60, 0x60, 0x60], in: 0..<bytes.count) else { return nil }
        guard let lineEnd = bytes[open...].firstIndex(of: 0x0A),
            let close = find([0x60, 0x60, 0x60], in: lineEnd..<bytes.count)
        else { return nil }
        let before = trim(0..<open)
        let after = trim(min(close + 3, bytes.count)..<bytes.count)
        let material = trim(lineEnd..<close)
        guard before.count + after.count <= Self.instructionLimit, !before.isEmpty || !after.isEmpty,
            !material.isEmpty
        else { return nil }
        return Candidate(
            instruction: text(before) + "\n" + text(after),
            material: material,
            bonus: 0.3,
            isHeading: true
        )
    }

    /// The first line, or the last one.
    private func lines() -> [Candidate] {
        let all = trim(0..<bytes.count)
        guard let first = bytes[all].firstIndex(of: 0x0A), let last = bytes[all].lastIndex(of: 0x0A) else { return [] }
        // An empty line sets the first or last one off. Neither end of the text is a line end, so both have neighbours.
        let isFirstAlone = bytes[first + 1] == 0x0A
        let isLastAlone = bytes[last - 1] == 0x0A
        return [
            candidate(all.lowerBound..<first, first..<all.upperBound, isFirstAlone ? 0.11 : 0.06),
            candidate(last..<all.upperBound, all.lowerBound..<last, isLastAlone ? 0.1 : 0.05),
        ].compactMap { $0 }
    }

    /// "Summarise this: ..."
    private func colon() -> Candidate? {
        let head = 0..<min(bytes.count, 400)
        var position = head.lowerBound
        while position < head.upperBound {
            defer { position += 1 }
            if bytes[position] == 0x0A, position > 0 { return nil }
            let isWide =
                bytes[position] == 0xEF && position + 2 < bytes.count && bytes[position + 1] == 0xBC
                && bytes[position + 2] == 0x9A
            guard isWide || bytes[position] == 0x3A else { continue }
            let after = position + (isWide ? 3 : 1)
            guard after < bytes.count else { return nil }
            // 8:30 and http://
            let isTime = !isWide && position > 0 && isDigit(bytes[position - 1]) && isDigit(bytes[after])
            guard !isTime, bytes[after] != 0x2F else { continue }
            guard Self.visualLength(bytes[..<position]) <= 40 else { return nil }
            return candidate(0..<position, after..<bytes.count, 0.12)
        }
        return nil
    }

    /// "... -- in a nutshell, please", ……——请总结
    private func dash() -> Candidate? {
        let tail = characterStart(atOrBefore: max(0, bytes.count - 300))..<bytes.count
        for mark in [[0x20, 0x2D, 0x2D, 0x20], [0xE2, 0x80, 0x94, 0xE2, 0x80, 0x94], [0x20, 0xE2, 0x80, 0x94, 0x20]] {
            let mark = mark.map(UInt8.init)
            guard let position = findLast(mark, in: tail), position > 0 else { continue }
            return candidate(position + mark.count..<bytes.count, 0..<position, 0.1)
        }
        return nil
    }

    /// A long quotation, with the instruction around it.
    private func quotation() -> Candidate? {
        let head = 0..<min(bytes.count, Self.instructionLimit)
        for (open, close) in Self.quotationMarks {
            guard let start = find(open, in: head) else { continue }
            let from = start + open.count
            guard let end = findLast(close, in: from..<bytes.count), end > from,
                bytes.count - end + start <= Self.instructionLimit,
                Self.visualLength(bytes[from..<end], limit: 12) >= 12
            else { continue }
            let outside = text(trim(0..<start)) + " " + text(trim(end + close.count..<bytes.count))
            return Candidate(instruction: outside, material: trim(from..<end), bonus: 0.15)
        }
        return nil
    }

    private static let quotationMarks: [(open: [UInt8], close: [UInt8])] = [
        ([0xE2, 0x80, 0x9C], [0xE2, 0x80, 0x9D]), ([0xE3, 0x80, 0x8C], [0xE3, 0x80, 0x8D]), ([0x22], [0x22]),
        ([0xC2, 0xAB], [0xC2, 0xBB]),
    ]

    private func sentences() -> [Candidate] {
        let all = trim(0..<bytes.count)
        var found: [Candidate?] = []
        let head = sentenceEnds(all.lowerBound..<min(all.upperBound, all.lowerBound + Self.instructionLimit))
        if let end = head.first {
            found.append(candidate(all.lowerBound..<end, end..<all.upperBound, 0, isSentence: true))
        }
        let tailStart = characterStart(atOrBefore: max(all.lowerBound, all.upperBound - Self.instructionLimit))
        let tail = sentenceEnds(tailStart..<all.upperBound).filter { !trim($0..<all.upperBound).isEmpty }
        // The last one before the last two: a "thanks" may follow the wish.
        for (back, start) in tail.suffix(2).reversed().enumerated() {
            let bonus = back == 0 ? 0.02 : 0.01
            found.append(candidate(start..<all.upperBound, all.lowerBound..<start, bonus, isSentence: true))
        }
        return found.compactMap { $0 }
    }

    /// Where sentences end, after their mark.
    private func sentenceEnds(_ range: Range<Int>) -> [Int] {
        var ends: [Int] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = bytes[position]
            if byte == 0x2E || byte == 0x21 || byte == 0x3F {
                // A mark before a blank or before Chinese.
                let next = position + 1 < bytes.count ? bytes[position + 1] : 0x20
                if next <= 0x20 || next >= 0xE3 { ends.append(position + 1) }
            } else if byte == 0x0A {
                ends.append(position + 1)
            } else if byte >= 0xE2, position + 2 < bytes.count {
                let scalar =
                    UInt32(byte & 0x0F) << 12 | UInt32(bytes[position + 1] & 0x3F) << 6
                    | UInt32(bytes[position + 2] & 0x3F)
                if Punctuation.isTerminator(scalar) { ends.append(position + 3) }
                position += 2
            }
            position += 1
        }
        return ends
    }

    // MARK: Bytes

    private func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

    private func characterStart(atOrBefore offset: Int) -> Int {
        var offset = min(max(offset, 0), bytes.count)
        while offset > 0, offset < bytes.count, bytes[offset] & 0xC0 == 0x80 { offset -= 1 }
        return offset
    }

    private func find(_ mark: [UInt8], in range: Range<Int>) -> Int? {
        guard range.count >= mark.count, let first = mark.first else { return nil }
        var position = range.lowerBound
        while position + mark.count <= range.upperBound {
            if bytes[position] == first, bytes[position..<position + mark.count].elementsEqual(mark) { return position }
            position += 1
        }
        return nil
    }

    private func findLast(_ mark: [UInt8], in range: Range<Int>) -> Int? {
        guard range.count >= mark.count else { return nil }
        var position = range.upperBound - mark.count
        while position >= range.lowerBound {
            if bytes[position..<position + mark.count].elementsEqual(mark) { return position }
            position -= 1
        }
        return nil
    }

    private func trim(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end {
            if bytes[start] <= 0x20 || bytes[start] == 0x3E {
                start += 1
            } else if end - start >= 3, isWideSpace(start) {
                start += 3
            } else {
                break
            }
        }
        while end > start {
            if bytes[end - 1] <= 0x20 {
                end -= 1
            } else if end - start >= 3, isWideSpace(end - 3) {
                end -= 3
            } else {
                break
            }
        }
        return start..<end
    }

    private func isWideSpace(_ position: Int) -> Bool {
        bytes[position] == 0xE3 && bytes[position + 1] == 0x80 && bytes[position + 2] == 0x80
    }
}

/// Text in quotation marks: it is spoken of, and never votes.
enum Quotation {
    private static let closing: [Unicode.Scalar: Unicode.Scalar] = [
        "\u{201C}": "\u{201D}", "\u{300C}": "\u{300D}", "\u{300E}": "\u{300F}", "\u{AB}": "\u{BB}", "\"": "\"",
        "\u{300A}": "\u{300B}",
    ]

    /// The text with what is quoted left out, and the longest quotation; nil if nothing is quoted, or nothing else said.
    static func masked(_ text: String) -> (outside: String, longest: String)? {
        guard text.unicodeScalars.contains(where: { closing[$0] != nil }) else { return nil }
        var outside = String.UnicodeScalarView()
        var longest = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        // Where one mark is not closed, no later one of its kind is.
        var unclosed: Set<Unicode.Scalar> = []
        while let first = rest.first {
            var end: String.UnicodeScalarView.Index?
            if let close = closing[first], !unclosed.contains(close) {
                end = rest.dropFirst().firstIndex(of: close)
                if end == nil { unclosed.insert(close) }
            }
            if let end {
                let inside = rest[rest.index(after: rest.startIndex)..<end]
                // The title of a work is no material.
                if first != "\u{300A}", inside.count > longest.count { longest = String.UnicodeScalarView(inside) }
                outside.append(" ")
                rest = rest[rest.index(after: end)...]
            } else {
                outside.append(first)
                rest = rest.dropFirst()
            }
        }
        let left = String(outside)
        guard InstructionSplitter.visualLength(Array(left.utf8)[...]) >= 2 else { return nil }
        return (left, String(longest))
    }
}
