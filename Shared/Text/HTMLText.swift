/// The text of an HTML page: without tags, scripts and styles, with entities decoded, and as Markdown where the structure
/// matters (headings, lists), so that one reader follows.
enum HTMLText {
    /// Tags that end a line.
    private static let blocks: Set<String> = [
        "p", "div", "br", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "table", "section", "article",
        "header", "footer", "blockquote", "pre", "hr", "dt", "dd", "dl", "title", "body", "main", "aside", "nav",
        "figure",
        "figcaption", "form", "option", "head", "html", "thead", "tbody", "caption",
    ]
    /// Elements whose content is not for readers.
    private static let hidden: Set<String> = [
        "script", "style", "template", "noscript", "svg", "math", "iframe", "head",
    ]
    /// Other tags that tell HTML from text with angle brackets.
    private static let inline: Set<String> = [
        "b", "i", "a", "em", "strong", "span", "img", "code", "td", "th", "u", "sup", "sub",
    ]

    /// Whether the bytes are HTML: they begin with a known tag, or have at least two closing tags of known elements.
    static func looksLikeHTML(_ bytes: [UInt8]) -> Bool {
        var closing = 0
        var offset = 0
        let limit = min(bytes.count, 64 * 1024)
        var onlySpace = true
        while offset < limit {
            let byte = bytes[offset]
            if byte == 0x3C {
                let (name, isClosing) = tagName(bytes, at: offset)
                let isKnown =
                    blocks.contains(name) || hidden.contains(name) || inline.contains(name) || name == "!doctype"
                if isKnown, onlySpace { return true }
                if isKnown, isClosing { closing += 1 }
                if closing == 2 { return true }
            }
            if byte > 0x20 { onlySpace = false }
            offset += 1
        }
        return false
    }

    /// The text of HTML.
    static func text(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 2)
        var offset = 0
        func newLine() { if text.last != 0x0A { text.append(0x0A) } }
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == 0x26, let (entity, length) = entity(bytes, at: offset) {
                text.append(contentsOf: entity)
                offset += length
            } else if byte == 0x3C, let end = tagEnd(bytes, at: offset) {
                let (name, isClosing) = tagName(bytes, at: offset)
                offset = end
                if hidden.contains(name), !isClosing {
                    offset = elementEnd(bytes, from: offset, name: name)
                } else if name.count == 2, name.first == "h", name != "hr", blocks.contains(name), !isClosing {
                    newLine()
                    text.append(contentsOf: "\n# ".utf8)
                } else if name == "li", !isClosing {
                    newLine()
                    text.append(contentsOf: "- ".utf8)
                } else if name == "td" || name == "th" {
                    if isClosing { text.append(contentsOf: " | ".utf8) }
                } else if name == "br" {
                    text.append(0x0A)
                } else if blocks.contains(name) {
                    newLine()
                    text.append(0x0A)
                }
            } else {
                // Line ends of the source are white space.
                text.append(byte == 0x0A || byte == 0x0D || byte == 0x09 ? 0x20 : byte)
                offset += 1
            }
        }
        return text
    }

    private static func tagName(_ bytes: [UInt8], at start: Int) -> (name: String, isClosing: Bool) {
        var offset = start + 1
        let isClosing = offset < bytes.count && bytes[offset] == 0x2F
        if isClosing { offset += 1 }
        var name: [UInt8] = []
        while offset < bytes.count, name.count < 12 {
            let byte = bytes[offset] | 0x20
            let isPart = 0x61...0x7A ~= byte || 0x30...0x39 ~= bytes[offset] || bytes[offset] == 0x21
            guard isPart else { break }
            name.append(bytes[offset] == 0x21 ? 0x21 : byte)
            offset += 1
        }
        return (String(decoding: name, as: UTF8.self), isClosing)
    }

    /// The offset behind a tag or comment; nil where `<` is only a character.
    private static func tagEnd(_ bytes: [UInt8], at start: Int) -> Int? {
        guard start + 1 < bytes.count else { return nil }
        let first = bytes[start + 1]
        guard 0x61...0x7A ~= first | 0x20 || first == 0x2F || first == 0x21 || first == 0x3F else { return nil }
        if bytes[start...].starts(with: "<!--".utf8) {
            var offset = start + 4
            while offset + 2 < bytes.count {
                if bytes[offset] == 0x2D, bytes[offset + 1] == 0x2D, bytes[offset + 2] == 0x3E { return offset + 3 }
                offset += 1
            }
            return bytes.count
        }
        var quote: UInt8?
        // No tag is longer than this; what is, is text with a bracket in it.
        let limit = min(bytes.count, start + 8192)
        for offset in start + 1..<limit {
            let byte = bytes[offset]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == 0x3E {
                return offset + 1
            } else if byte == 0x3C {
                return nil
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            }
        }
        return nil
    }

    /// The offset behind the closing tag of a hidden element; the end where it is never closed.
    private static func elementEnd(_ bytes: [UInt8], from start: Int, name: String) -> Int {
        var offset = start
        while let next = bytes[offset...].firstIndex(of: 0x3C) {
            let (found, isClosing) = tagName(bytes, at: next)
            if isClosing, found == name { return tagEnd(bytes, at: next) ?? bytes.count }
            // A head that is never closed ends where the body begins.
            if name == "head", found == "body" { return next }
            offset = next + 1
        }
        return bytes.count
    }

    private static let named: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "ensp": " ", "emsp": " ",
        "thinsp": " ",
        "mdash": "—", "ndash": "–", "hellip": "…", "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "laquo": "«",
        "raquo": "»", "copy": "©", "reg": "®", "trade": "™", "deg": "°", "middot": "·", "bull": "•", "times": "×",
        "plusmn": "±", "euro": "€", "pound": "£", "yen": "¥", "cent": "¢", "sect": "§", "para": "¶", "micro": "µ",
        "frac12": "½", "eacute": "é", "egrave": "è", "agrave": "à", "aacute": "á", "ccedil": "ç", "ouml": "ö",
        "uuml": "ü",
        "auml": "ä", "szlig": "ß", "ntilde": "ñ", "shy": "", "zwnj": "", "zwj": "",
    ]

    private static func entity(_ bytes: [UInt8], at start: Int) -> (text: String.UTF8View, length: Int)? {
        guard let end = bytes[start..<min(bytes.count, start + 12)].firstIndex(of: 0x3B), end > start + 1 else {
            return nil
        }
        let name = String(decoding: bytes[start + 1..<end], as: UTF8.self)
        let length = end + 1 - start
        guard name.first == "#" else { return named[name].map { ($0.utf8, length) } }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let value = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let value, let scalar = Unicode.Scalar(value), value >= 0x20 else { return nil }
        return (String(Character(scalar)).utf8, length)
    }
}
