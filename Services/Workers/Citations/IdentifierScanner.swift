internal import Text

/// Finds what names a work: DOIs, arXiv ids, ISBNs whose check digit is right, and web addresses.
enum IdentifierScanner {
    /// What a line has, each once, in no order that means anything.
    static func identifiers(in line: String) -> [Reference.Identifier] {
        // Most lines have none, and expressions are slow.
        let folded = Normalizer.fold(line)
        var found: [Reference.Identifier] = []
        func add(_ identifier: Reference.Identifier) {
            if !found.contains(identifier) { found.append(identifier) }
        }
        if line.contains("10.") {
            for match in line.matches(of: /10\.[0-9]{4,9}\/[^\s"<>，。；、）》]+/) {
                let doi = trimmed(match.0).lowercased()
                if doi.split(separator: "/").count > 1 { add(.doi(doi)) }
            }
        }
        if folded.contains("arxiv") {
            let pattern = /arxiv(?:\.org\/(?:abs|pdf)\/|:\s*)([0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?|[a-z\-]+\/[0-9]{7})/
            for match in folded.matches(of: pattern) { add(.arXiv(String(match.1))) }
        }
        if folded.contains("isbn") {
            for match in folded.matches(of: /isbn(?:-1[03])?[:\s]*([0-9][0-9 \-]{8,16}[0-9x])/) {
                let digits = match.1.filter { $0 != " " && $0 != "-" }.uppercased()
                if isISBN(digits) { add(.isbn(digits)) }
            }
        }
        if line.contains("://") || folded.contains("www.") {
            for match in line.matches(of: /(?:https?:\/\/|www\.)[^\s<>"'`\]{}，。、；：！？（）《》“”]+/) {
                let url = trimmed(match.0)
                let isNamed = url.contains(/doi\.org\/10\.|arxiv\.org\/(?:abs|pdf)\//)
                if !isNamed, url.count > 10 { add(.url(url)) }
            }
        }
        return found
    }

    /// Without the marks of the sentence around it; a closing bracket stays where it was opened inside.
    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let last = text.last {
            if ".,;:!?*_'".contains(last) {
                text = text.dropLast()
            } else if last == ")", text.count(where: { $0 == ")" }) > text.count(where: { $0 == "(" }) {
                text = text.dropLast()
            } else if last == "]", text.count(where: { $0 == "]" }) > text.count(where: { $0 == "[" }) {
                text = text.dropLast()
            } else {
                break
            }
        }
        return String(text)
    }

    /// Whether the check digit fits.
    static func isISBN(_ digits: String) -> Bool {
        let values = digits.compactMap { $0 == "X" ? 10 : $0.wholeNumberValue }
        guard values.count == digits.count else { return false }
        switch values.count {
        case 10:
            let sum = values.enumerated().reduce(0) { $0 + (10 - $1.offset) * $1.element }
            return !values.dropLast().contains(10) && sum % 11 == 0
        case 13:
            let sum = values.enumerated().reduce(0) { $0 + ($1.offset % 2 == 0 ? 1 : 3) * $1.element }
            return !values.contains(10) && sum % 10 == 0
        default: return false
        }
    }
}
