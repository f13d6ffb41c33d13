internal import Text

/// The languages that a request for a translation names, and what for: "from English to Japanese", 把这段英文译成中文.
struct LanguageMentions {
    private(set) var target: Tongue?
    private(set) var source: Tongue?
    /// Further languages to translate into: "into French and German".
    private(set) var others: [Tongue] = []

    private enum Use {
        case target
        /// "In German" is where the text goes, unless something else says where it goes: "the text in German into English".
        case place
        case source
        case unsaid
    }

    private struct Mention {
        let tongue: Tongue
        let range: Range<Int>
        var use: Use
    }

    /// Characters that are looked at: a request is short.
    private static let longest = 400
    /// Characters before a name in which a word may say what it is for.
    private static let window = 24
    private static let hanWindow = 8

    /// Reads the words of a request.
    init(_ request: String) {
        let text = Array(Normalizer.fold(String(request.prefix(Self.longest))))
        if let (from, to) = Self.pair(text) {
            source = from
            target = to
            return
        }
        var mentions = Self.mentions(text)
        for number in mentions.indices {
            let start = number > 0 ? mentions[number - 1].range.upperBound : 0
            mentions[number].use = Self.use(text, mentions[number].range, from: start)
        }
        // "French and German": the second is for what the first is for.
        for number in mentions.indices.dropFirst() where mentions[number].use == .unsaid {
            let between = text[mentions[number - 1].range.upperBound..<mentions[number].range.lowerBound]
            let joint = String(between).split(whereSeparator: \.isWhitespace).joined()
            if ["and", "和", "与", "及", "、", ",", "&", "以及"].contains(joint) {
                mentions[number].use = mentions[number - 1].use
            }
        }
        // "Polish it" is no Polish.
        mentions.removeAll { $0.use == .unsaid && $0.tongue.code == "pl" }
        let isDirected = mentions.contains { $0.use == .target }
        for number in mentions.indices where mentions[number].use == .place {
            mentions[number].use = isDirected ? .source : .target
        }
        let targets = mentions.filter { $0.use == .target }.map(\.tongue)
        let unsaid = mentions.filter { $0.use == .unsaid }.map(\.tongue)
        source = mentions.first { $0.use == .source }?.tongue
        if let first = targets.first {
            target = first
            others = targets.dropFirst().filter { $0 != first }
            if source == nil { source = unsaid.first { $0 != first } }
        } else if unsaid.count > 1 {
            source = unsaid.first
            target = unsaid.last
        } else if let only = unsaid.first, source == nil {
            source = only
        }
    }

    /// 中译英, 日翻中
    private static func pair(_ text: [Character]) -> (Tongue, Tongue)? {
        for index in text.indices.dropFirst().dropLast() where "译翻譯".contains(text[index]) {
            guard let from = Tongue.short(text[index - 1]), let to = Tongue.short(text[index + 1]) else { continue }
            return (from, to)
        }
        return nil
    }

    private static func mentions(_ text: [Character]) -> [Mention] {
        var taken = [Bool](repeating: false, count: text.count)
        var found: [Mention] = []
        for (name, tongue) in Tongue.byName where name.count <= text.count {
            for start in 0...(text.count - name.count) where text[start] == name[0] && !taken[start] {
                let range = start..<start + name.count
                guard text[range].elementsEqual(name) else { continue }
                let isLatin = name[0].isASCII
                if isLatin, start > 0, text[start - 1].isASCII, text[start - 1].isLetter { continue }
                if isLatin, range.upperBound < text.count, text[range.upperBound].isASCII,
                    text[range.upperBound].isLetter
                {
                    continue
                }
                for index in range { taken[index] = true }
                found.append(Mention(tongue: tongue, range: range, use: .unsaid))
            }
        }
        return found.sorted { $0.range.lowerBound < $1.range.lowerBound }
    }

    private static let before: [(word: String, use: Use)] = [
        ("into", .target), ("to", .target), ("in", .place), ("as", .target), ("成", .target), ("为", .target),
        ("作", .target), ("到", .target), ("用", .place), ("译", .target), ("翻", .target), ("from", .source),
        ("从", .source),
        ("由", .source), ("把", .source), ("将", .source), ("這", .source), ("这", .source),
    ]
    private static let after = [
        "version", "translation", "please", "word", "for", "equivalent", "怎", "版", "是什么", "咋", "叫", "翻译", "译文",
    ]

    /// What a name is for, by the nearest word before it, then by what follows.
    private static func use(_ text: [Character], _ range: Range<Int>, from start: Int) -> Use {
        let first = max(start, range.lowerBound - window)
        var best: (end: Int, use: Use)?
        for (word, use) in before {
            let letters = Array(word)
            let isLatin = letters[0].isASCII
            let lowest = isLatin ? first : max(first, range.lowerBound - hanWindow)
            var place = range.lowerBound - letters.count
            while place >= lowest {
                if text[place..<place + letters.count].elementsEqual(letters),
                    !isLatin || isAlone(text, place..<place + letters.count)
                {
                    if place + letters.count > best?.end ?? -1 { best = (place + letters.count, use) }
                    break
                }
                place -= 1
            }
        }
        if let best { return best.use }
        let rest = String(text[range.upperBound...].prefix(16).drop { $0.isWhitespace })
        return after.contains { rest.hasPrefix($0) } ? .target : .unsaid
    }

    private static func isAlone(_ text: [Character], _ range: Range<Int>) -> Bool {
        func isLetter(_ index: Int) -> Bool {
            text.indices.contains(index) && text[index].isASCII && text[index].isLetter
        }
        return !isLetter(range.lowerBound - 1) && !isLetter(range.upperBound)
    }
}
