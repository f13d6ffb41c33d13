internal import Text

/// What a translation must have of its source unchanged: code, addresses, placeholders, numbers, and its structure.
struct Fidelity {
    private let verbatim: [String]
    private let numbers: [String]
    private let structure: Structure
    private let source: String

    /// Notes what a source has.
    init(_ source: String) {
        self.source = source
        var rest = source
        let code = Self.code(in: source)
        for span in code { rest = rest.replacing(span, with: " ") }
        let addresses = Self.addresses(in: rest)
        for address in addresses { rest = rest.replacing(address, with: " ") }
        let placeholders = rest.matches(of: /\{\{?[A-Za-z0-9_.]{1,40}\}?\}|%[sd@]|\$[A-Z][A-Z0-9_]+/).map {
            String($0.0)
        }
        var seen: Set<String> = []
        verbatim = (code + addresses + placeholders).filter { seen.insert($0).inserted }
        numbers = Self.numbers(in: rest).filter { $0.count > 1 && seen.insert("#" + $0).inserted }
        structure = Structure(source)
    }

    /// What a translation lost, in words; empty for nothing.
    func losses(in translation: String, _ words: TranslateWords) -> [String] {
        var lost: [String] = verbatim.filter { !translation.contains($0) }.map { $0.hasPrefix("`") ? $0 : "`\($0)`" }
        if !numbers.isEmpty {
            let there = Set(Self.numbers(in: translation))
            let figures = Set(there.map(Self.significant))
            // 25,000 is 2.5万, and 1.5 million is 150万.
            let hasLarge =
                translation.contains { "万亿千萬億".contains($0) } || source.contains { "万亿千萬億".contains($0) }
                || source.contains(/(?i)million|billion|thousand/)
                || translation.contains(/(?i)mil|bil|tausend|thousand/)
            lost += numbers.filter { number in
                !there.contains(number) && !(hasLarge && figures.contains(Self.significant(number)))
            }
        }
        if Structure(translation) != structure { lost.append(words.structure) }
        if source.count(where: \.isLetter) >= 20, translation.trimmed == source.trimmed { lost.append(words.unchanged) }
        return lost.count > 8 ? Array(lost.prefix(8)) + ["…"] : lost
    }

    /// Inline code with its marks.
    private static func code(in text: String) -> [String] {
        let bytes = Array(text.utf8)
        var spans: [String] = []
        var place = 0
        func run(at start: Int) -> Int { bytes[start...].prefix { $0 == 0x60 }.count }
        while let start = bytes[place...].firstIndex(of: 0x60) {
            let length = run(at: start)
            var search = start + length
            var end: Int?
            while search < bytes.count, let next = bytes[search...].firstIndex(of: 0x60) {
                let other = run(at: next)
                search = next + other
                if other == length {
                    end = search
                    break
                }
            }
            if let end { spans.append(bytes.text(start..<end)) }
            place = end ?? start + length
            if place >= bytes.count { break }
        }
        return spans
    }

    /// Web and mail addresses.
    private static func addresses(in text: String) -> [String] {
        var found = text.matches(
            of: /(?:https?:\/\/|ftp:\/\/|mailto:|www\.)[^\s<>"'`()\[\]{}，。、；：！？（）《》“”]+/
        ).map { String($0.0) }
        found += text.matches(of: /[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+/).map { String($0.0) }
        return found.map { address in
            var address = address[...]
            while let last = address.last, ".,;:!?*_".contains(last) { address = address.dropLast() }
            return String(address)
        }
    }

    /// The digits of each number, without the marks between them, which differ from language to language, and without
    /// zeros in front. Spelling them out is the translator's choice only for single digits.
    private static func numbers(in text: String) -> [String] {
        Normalizer.halfWidth(text).matches(of: /[0-9]+(?:[.,'’\u{00A0}\u{202F}][0-9]+)*/).map { match in
            let digits = match.0.filter { $0.isASCII && $0.isNumber }
            let bare = digits.drop { $0 == "0" }
            return bare.isEmpty ? "0" : String(bare)
        }
    }

    private static func significant(_ digits: String) -> String {
        String(digits.reversed().drop { $0 == "0" }.reversed())
    }
}

/// How many lines of each kind a Markdown text has.
private struct Structure: Equatable {
    var headings = 0
    var items = 0
    var rows = 0

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let bare = line.drop { $0 == " " || $0 == "\t" || $0 == ">" }
            if bare.hasPrefix("#"), bare.drop(while: { $0 == "#" }).first == " " {
                headings += 1
            } else if bare.hasPrefix("- ") || bare.hasPrefix("* ") || bare.hasPrefix("+ ") {
                items += 1
            } else if bare.hasPrefix("|") {
                rows += 1
            } else {
                let digits = bare.prefix { $0.isASCII && $0.isNumber }
                let mark = bare.dropFirst(digits.count).prefix(2)
                if !digits.isEmpty, mark == ". " || mark == ") " { items += 1 }
            }
        }
    }
}

extension String {
    /// Without white space at the ends.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.prefix(start.count - start.reversed().prefix { $0.isWhitespace }.count))
    }
}
