internal import Text

/// Something that people say, and what is answered.
struct Topic: Sendable {
    /// Rows of words, in any order of the message. `^` at the start: only at the beginning; `$` at the end: only at the end;
    /// `=`: the whole message.
    var cues: [String]
    var chineseCues: [String]
    var english: [String]
    var chinese: [String]
    /// Whether each turn should get the next of the answers: jokes.
    var rotates = false
}

/// Recognises small talk by its words.
enum Listener {
    /// Bytes of a message that are looked at: who says hello does so at the start, and a text is no small talk.
    private static let longest = 4096

    /// The topic that most of the message is about.
    static func topic(of text: String) -> Topic? {
        let message = Message(text)
        var best: (score: Double, topic: Topic)?
        for topic in SmallTalk.topics {
            let english = topic.cues.map { message.score(english: $0) }.max() ?? 0
            let chinese = topic.chineseCues.map { message.score(chinese: $0) }.max() ?? 0
            let score = max(english, chinese)
            if score > 0, score > best?.score ?? 0 { best = (score, topic) }
        }
        return best?.topic
    }

    /// Whether the message asks for more of the same.
    static func asksForMore(_ text: String) -> Bool {
        let message = Message(text)
        let english = ["another one", "another", "one more", "more please", "=more", "again", "next one"]
        let chinese = ["再来一个", "再讲一个", "再说一个", "再来", "还有吗", "换一个", "继续"]
        return english.contains { message.score(english: $0) > 0 }
            || chinese.contains { message.score(chinese: $0) > 0 }
    }

    /// A message as it is compared: folded words, and its Han characters in simplified form.
    private struct Message {
        let words: [String]
        let han: String
        let length: Int

        init(_ text: String) {
            // A message that was cut is none of those that are known as a whole: it has too many words.
            let start = String(decoding: text.utf8.prefix(Listener.longest), as: UTF8.self)
            let folded = Normalizer.fold(start).replacing("\u{2019}", with: "'")
            words = WordSegmenter().words(in: folded).filter { !$0.isHan }.map(\.text)
            han = String(
                ChineseScript.simplified(folded).filter { $0.unicodeScalars.contains { Script.isHan($0.value) } }
            )
            length = words.count + han.count
        }

        /// How many letters of the message a row of words takes; 0 if it does not occur.
        func score(english cue: String) -> Double {
            var parts = cue.split(separator: " ").map(String.init)
            guard var first = parts.first, !words.isEmpty else { return 0 }
            let isWhole = first.hasPrefix("=")
            let isStart = first.hasPrefix("^")
            if isWhole || isStart { first.removeFirst() }
            parts[0] = first
            guard parts.count <= words.count, !isWhole || (parts.count == words.count && han.isEmpty) else { return 0 }
            let starts = isStart || isWhole ? 0...0 : 0...(words.count - parts.count)
            for start in starts {
                var exact = 0
                var letters = 0
                for (offset, part) in parts.enumerated() {
                    let word = words[start + offset]
                    // Short words are too near to each other.
                    guard word == part || part.utf8.count >= 5 && Slip.separates(word.utf8, part.utf8) else { break }
                    exact += 1
                    letters += part.count
                }
                if exact == parts.count {
                    return Double(letters) + Double(parts.count) + (isWhole ? 20 : isStart ? 1 : 0)
                }
            }
            return 0
        }

        func score(chinese cue: String) -> Double {
            guard !han.isEmpty else { return 0 }
            if cue.hasPrefix("=") {
                let bare = cue.dropFirst()
                return han == bare ? Double(bare.count) * 4 + 20 : 0
            }
            if cue.hasPrefix("^") {
                let bare = cue.dropFirst()
                return han.hasPrefix(bare) ? Double(bare.count) * 4 + 1 : 0
            }
            return han.contains(cue) ? Double(cue.count) * 4 : 0
        }
    }
}
