/// Reads the points of a summary out of what a model writes, however it marks them, and no more of them than wanted.
struct PointReader {
    /// The points so far.
    private(set) var points: [String] = []
    private let most: Int
    private let longest: Int
    private var line = ""

    /// - Parameters:
    ///   - most: points that are wanted at most.
    ///   - longest: characters of one.
    init(most: Int, longest: Int) {
        self.most = most
        self.longest = longest
    }

    /// Whether there are as many as wanted.
    var isFull: Bool { points.count >= most }

    /// Takes the next piece and returns the points that it completes.
    mutating func feed(_ piece: String) -> [String] {
        var new: [String] = []
        for character in piece {
            if character.isNewline {
                if let point = take() { new.append(point) }
            } else {
                line.append(character)
            }
        }
        return new
    }

    /// Takes the end.
    mutating func end() -> [String] { take().map { [$0] } ?? [] }

    private mutating func take() -> String? {
        let text = Self.bare(line)
        line = ""
        // A line that announces points, or a heading, is none.
        guard !isFull, !text.isEmpty, text.last != ":", text.last != "：" else { return nil }
        let point = text.count > longest ? text.prefix(max(1, longest - 1)) + "…" : text
        guard !points.contains(point) else { return nil }
        points.append(point)
        return point
    }

    /// Without a bullet, a number, or marks of emphasis around it.
    private static func bare(_ line: String) -> String {
        var text = line[...].trimmed
        guard !text.hasPrefix("#"), !text.hasPrefix("```") else { return "" }
        for mark in ["- ", "* ", "• ", "– ", "· "] where text.hasPrefix(mark) {
            text = text.dropFirst(mark.count).trimmed
            break
        }
        if text == "-" || text == "*" || text == "•" { return "" }
        if let first = text.first, "•·●".contains(first) { text = text.dropFirst().trimmed }
        let digits = text.prefix { $0.isNumber && $0.isASCII }
        if 1...2 ~= digits.count, let mark = text[digits.endIndex...].first, ".)、．）".contains(mark) {
            let rest = text[digits.endIndex...].dropFirst()
            // "3.5 million" is no third point.
            if "、．）".contains(mark) || rest.first?.isWhitespace == true { text = rest.trimmed }
        }
        if text.count > 4, text.hasPrefix("**"), text.hasSuffix("**") { text = text.dropFirst(2).dropLast(2) }
        return String(text)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
