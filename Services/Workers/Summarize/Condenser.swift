internal import Text

/// Makes a sentence fit: the clauses of it that say most, never a part of a word.
struct Condenser {
    /// Characters that a point may have.
    let limit: Int
    /// How much a clause says.
    let value: (String) -> Double

    /// Clauses that are looked at; what is behind them is no sentence any more.
    private static let mostClauses = 200

    /// The sentence, or the run of its clauses that says most and fits. It is always a part of the sentence as written;
    /// where not even one clause fits, it is cut at the end of a word and ends in `…`.
    func condensed(_ sentence: String) -> String {
        guard exceeds(sentence[...]) else { return sentence }
        let clauses = Self.clauses(of: sentence)
        var best: (text: Substring, value: Double)?
        let values = clauses.map { value(String($0)) }
        for first in clauses.indices {
            var sum = 0.0
            for last in first..<clauses.count {
                let run = Self.trimmed(sentence[clauses[first].startIndex..<clauses[last].endIndex])
                guard !exceeds(run) else { break }
                sum += values[last]
                guard !run.isEmpty, Self.isBalanced(run) else { continue }
                // A sentence says who and what at its start.
                let worth = sum + (first == 0 ? 0.35 * (values.max() ?? 0) : 0)
                if worth > (best?.value ?? 0) { best = (run, worth) }
            }
        }
        // A run that says nearly nothing is worse than the sentence's start.
        if let best, best.text.count * 4 >= min(limit, 40) { return String(best.text) }
        return cut(sentence)
    }

    private func exceeds(_ text: Substring) -> Bool {
        // A character has at least a byte: short texts need no count.
        guard text.utf8.count > limit else { return false }
        return text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex).map { $0 < text.endIndex }
            ?? false
    }

    /// The start of the text up to the end of a word, with a mark that something is missing.
    private func cut(_ text: String) -> String {
        let end = text.index(text.startIndex, offsetBy: max(1, limit - 1), limitedBy: text.endIndex) ?? text.endIndex
        // Words are only looked for near the cut.
        let window = text[..<end]
        let bytes = window.utf8.count
        let start = text.index(end, offsetBy: -min(40, text.distance(from: text.startIndex, to: end)))
        let offset = text[..<start].utf8.count
        let rest = text.index(end, offsetBy: 20, limitedBy: text.endIndex) ?? text.endIndex
        var lastWordEnd: Int?
        for word in WordSegmenter().pieces(in: String(text[start..<rest])) {
            let wordEnd = offset + word.range.upperBound
            guard wordEnd <= bytes else { break }
            lastWordEnd = wordEnd
        }
        var kept = window
        if let lastWordEnd, lastWordEnd > offset, let index = Self.character(in: text, at: lastWordEnd) {
            kept = text[..<index]
        }
        return Self.trimmed(kept) + "…"
    }

    private static func character(in text: String, at offset: Int) -> String.Index? {
        let index = text.utf8.index(text.startIndex, offsetBy: offset)
        // Between two characters, and not inside one.
        return index == text.index(index, offsetBy: 0) ? text[..<index].endIndex : nil
    }

    /// The clauses of a sentence, with the marks that end them.
    private static func clauses(of sentence: String) -> [Substring] {
        var clauses: [Substring] = []
        var start = sentence.startIndex
        var index = start
        while index < sentence.endIndex, clauses.count < mostClauses {
            let mark = sentence[index]
            let next = sentence.index(after: index)
            let ends =
                switch mark {
                case "，", "；", "：", "—", "。", "！", "？", "、", "…": true
                case ",", ";", ":", "!", "?":
                    // Not within a number or an address; Chinese writers leave no space behind these.
                    next == sentence.endIndex || sentence[next].isWhitespace || Script.isHan(sentence[next].firstScalar)
                default: false
                }
            if ends {
                clauses.append(sentence[start..<next])
                start = next
            }
            index = next
        }
        if start < sentence.endIndex, clauses.count < mostClauses { clauses.append(sentence[start...]) }
        return clauses
    }

    /// Without the white space and the marks at the ends that only join clauses.
    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first.isWhitespace || "，、；：,;:—…".contains(first) { text.removeFirst() }
        while let last = text.last, last.isWhitespace || "，、；：,;:—…".contains(last) { text.removeLast() }
        return text
    }

    /// Whether every quotation and bracket that opens in it closes in it.
    private static func isBalanced(_ text: Substring) -> Bool {
        var open = 0
        for character in text {
            switch character {
            case "“", "（", "(", "《", "「", "『", "【", "[": open += 1
            case "”", "）", ")", "》", "」", "』", "】", "]": open -= 1
            default: break
            }
            if open < 0 { return false }
        }
        return open == 0
    }
}

extension Character {
    fileprivate var firstScalar: UInt32 { unicodeScalars.first?.value ?? 0 }
}
