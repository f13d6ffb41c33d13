internal import Text

/// What a file says, without its markup.
struct DocumentText: Equatable {
    /// The text under one heading.
    struct Section: Equatable {
        var heading: String
        var text: String
    }

    var title: String
    var sections: [Section]

    /// Plain text: the title is the file's name.
    static func plain(_ text: String, title: String) -> DocumentText {
        DocumentText(title: title, sections: [Section(heading: "", text: text)])
    }

    // MARK: Markdown

    /// Markdown: its first heading is the title, further headings cut it. Markup within lines is taken away where it
    /// would stand in the way of reading.
    static func markdown(_ text: String, title: String) -> DocumentText {
        var result = DocumentText(title: "", sections: [])
        var headings: [(level: Int, text: String)] = []
        var lines: [Substring] = []
        var fence: Substring?
        func flush() {
            let text = lines.joined(separator: "\n")
            if text.contains(where: { !$0.isWhitespace }) {
                let path = headings.map(\.text).joined(separator: " › ")
                result.sections.append(Section(heading: path, text: text))
            }
            lines = []
        }
        var all = text.split(omittingEmptySubsequences: false) { $0.isNewline }[...]
        if all.first == "---", let end = all.dropFirst().firstIndex(of: "---") {
            for line in all[..<end] where line.hasPrefix("title:") {
                result.title = line.dropFirst(6).trimmed(" \"'")
            }
            all = all[(end + 1)...]
        }
        for (index, line) in zip(all.indices, all) {
            let bare = line.drop { $0 == " " }
            if let open = fence {
                if bare.hasPrefix(open) { fence = nil } else { lines.append(line) }
                continue
            }
            if bare.hasPrefix("```") || bare.hasPrefix("~~~") {
                fence = bare.prefix(3)
                continue
            }
            var heading = headingOf(bare)
            // A line of text over a line of = or - is a heading too.
            if heading == nil, index + 1 < all.endIndex, !bare.isEmpty, lines.last?.isEmpty ?? true {
                let next = all[index + 1].trimmed(" ")
                if next.count > 2, next.allSatisfy({ $0 == "=" }) { heading = (1, String(bare)) }
                if next.count > 2, next.allSatisfy({ $0 == "-" }) { heading = (2, String(bare)) }
            }
            if let heading {
                flush()
                let name = inline(heading.text)
                if result.title.isEmpty {
                    result.title = name
                } else {
                    headings.removeAll { $0.level >= heading.level }
                    headings.append((heading.level, name))
                }
                continue
            }
            if bare.count > 2, bare.allSatisfy({ "=-*_ ".contains($0) }) { continue }
            lines.append(Substring(inline(String(line))))
        }
        flush()
        if result.title.isEmpty { result.title = title }
        return result
    }

    private static func headingOf(_ line: Substring) -> (level: Int, text: String)? {
        let level = line.prefix { $0 == "#" }.count
        guard 1...6 ~= level, line.dropFirst(level).first == " " else { return nil }
        return (level, line.dropFirst(level).trimmed(" #"))
    }

    /// `[text](address)` becomes text, emphasis and code marks go.
    private static func inline(_ line: String) -> String {
        guard line.utf8.contains(where: { $0 == 0x5B || $0 == 0x2A || $0 == 0x60 || $0 == 0x3C }) else { return line }
        var result = ""
        var rest = line[...]
        while let character = rest.first {
            switch character {
            case "`": rest.removeFirst()
            case "*" where rest.hasPrefix("**"): rest.removeFirst(2)
            case "!" where rest.hasPrefix("!["): rest.removeFirst()
            case "[":
                if let close = rest.firstIndex(of: "]"), rest[rest.index(after: close)...].first == "(",
                    let end = rest[close...].firstIndex(of: ")")
                {
                    result += rest[rest.index(after: rest.startIndex)..<close]
                    rest = rest[rest.index(after: end)...]
                } else {
                    result.append(character)
                    rest.removeFirst()
                }
            default:
                result.append(character)
                rest.removeFirst()
            }
        }
        return result
    }

    // MARK: HTML

    private static let blocks: Set<String> = [
        "p", "div", "br", "li", "tr", "td", "th", "table", "ul", "ol", "section", "article", "header", "footer", "h1",
        "h2", "h3",
        "h4", "h5", "h6", "pre", "blockquote", "dt", "dd", "hr", "title", "figcaption", "main", "nav", "aside",
        "option",
    ]
    private static let hidden: Set<String> = ["script", "style", "noscript", "template", "svg", "nav"]
    private static let entities: [String: Character] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "mdash": "—", "ndash": "–",
        "hellip": "…",
        "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "copy": "©", "reg": "®", "middot": "·", "times": "×",
        "deg": "°",
        "euro": "€", "bull": "•", "laquo": "«", "raquo": "»", "eacute": "é", "egrave": "è", "agrave": "à", "auml": "ä",
        "ouml": "ö",
        "uuml": "ü", "szlig": "ß", "ccedil": "ç",
    ]

    /// HTML: tags go, block elements end lines, what browsers do not show is left out.
    static func html(_ text: String, title: String) -> DocumentText {
        var result = DocumentText(title: "", sections: [])
        var heading = ""
        var body = ""
        var collected: String?
        func flush() {
            if body.contains(where: { !$0.isWhitespace }) {
                result.sections.append(Section(heading: heading, text: body))
            }
            body = ""
        }
        func put(_ text: some StringProtocol) {
            if collected != nil { collected? += text } else { body += text }
        }
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            put(decoded(rest[..<open]))
            rest = rest[open...]
            if rest.hasPrefix("<!--") {
                rest = rest.range(of: "-->").map { rest[$0.upperBound...] } ?? ""
                continue
            }
            let inside = rest.dropFirst()
            guard let next = inside.first, next.isLetter || next == "/" || next == "!" || next == "?" else {
                put("<")
                rest = inside
                continue
            }
            guard let close = inside.firstIndex(of: ">") else { break }
            let tag = inside[..<close]
            rest = inside[inside.index(after: close)...]
            let isEnd = tag.hasPrefix("/")
            let name = String(tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }).lowercased()
            if hidden.contains(name), !isEnd, !tag.hasSuffix("/") {
                rest = skip(to: "</\(name)", in: rest)
            } else if name == "title" || ["h1", "h2", "h3", "h4"].contains(name) {
                if !isEnd {
                    collected = ""
                } else if let text = collected {
                    collected = nil
                    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    if name == "title" {
                        result.title = words
                    } else {
                        flush()
                        if result.title.isEmpty {
                            result.title = words
                        } else if words != result.title {
                            heading = words
                        }
                    }
                }
            } else if blocks.contains(name) {
                put(name == "br" || name == "td" || name == "th" ? "\n" : "\n\n")
            }
        }
        put(decoded(rest.hasPrefix("<") ? "" : rest))
        if let collected { body += collected }
        flush()
        if result.title.isEmpty { result.title = title }
        return result
    }

    private static func skip(to end: String, in text: Substring) -> Substring {
        var rest = text
        while let mark = rest.firstIndex(of: "<") {
            if rest[mark...].prefix(end.count).lowercased() == end { return rest[mark...] }
            rest = rest[rest.index(after: mark)...]
        }
        return ""
    }

    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(0x26) else { return String(text) }
        var result = ""
        var rest = text
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            let name = rest[rest.index(after: mark)...].prefix(10).prefix { $0 != ";" && $0 != "&" && !$0.isWhitespace }
            let after = rest.index(mark, offsetBy: name.count + 1)
            guard after < rest.endIndex, rest[after] == ";", let character = entity(name) else {
                result.append("&")
                rest = rest[rest.index(after: mark)...]
                continue
            }
            result.append(character)
            rest = rest[rest.index(after: after)...]
        }
        return result + rest
    }

    private static func entity(_ name: Substring) -> Character? {
        if let known = entities[String(name)] { return known }
        guard name.first == "#" else { return nil }
        let digits = name.dropFirst()
        let value = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init).map(Character.init)
    }
}

extension StringProtocol {
    /// Without the given characters at both ends.
    func trimmed(_ characters: String) -> String {
        var rest = self[...]
        while let first = rest.first, characters.contains(first) { rest = rest.dropFirst() }
        while let last = rest.last, characters.contains(last) { rest = rest.dropLast() }
        return String(rest)
    }

    /// Where a string of ASCII first occurs.
    func range(of needle: String) -> Range<Index>? {
        guard let first = needle.first else { return nil }
        var start = startIndex
        while let mark = self[start...].firstIndex(of: first) {
            if self[mark...].hasPrefix(needle) { return mark..<index(mark, offsetBy: needle.count) }
            start = index(after: mark)
        }
        return nil
    }
}
