/// The languages that are told apart, by script.
public enum Language: String, Sendable, Hashable, CaseIterable {
    /// Chinese, simplified or traditional.
    case chinese = "zh"
    /// English. Other languages in Latin letters that are too short to tell count as English.
    case english = "en"
    /// Any other.
    case other

    /// Bytes that are looked at: the start of a text shows its language.
    private static let sample = 64 * 1024

    /// The language that most of a text is in.
    ///
    /// Chinese when it has as many Han characters as Latin words: so an English text with some Chinese names stays
    /// English, and a Chinese one full of English terms stays Chinese.
    public static func of(_ text: String) -> Language {
        var han = 0
        var kana = 0
        var hangul = 0
        var latin = 0
        var letters = 0
        var words = 0
        var functionWords = 0
        var word: [UInt8] = []
        var rest = sample
        func endWord() {
            guard !word.isEmpty else { return }
            words += 1
            if StopWords.containsEnglish(folded: String(decoding: word, as: UTF8.self)) { functionWords += 1 }
            word.removeAll(keepingCapacity: true)
        }
        for scalar in text.unicodeScalars {
            let value = scalar.value
            rest -= UTF8.width(scalar)
            if rest < 0 { break }
            if Script.isLatin(value) {
                latin += 1
                if value < 0x80 { word.append(UInt8(value) | 0x20) } else { word.append(0x7E) }
                continue
            }
            if value == 0x27 || value == 0x2019 {
                if !word.isEmpty { word.append(0x27) }
                continue
            }
            endWord()
            if value < 0x80 {
                continue
            } else if Script.isHan(value) {
                han += 1
            } else if Script.isKana(value) {
                kana += 1
            } else if Script.isHangul(value) {
                hangul += 1
            } else if scalar.properties.isAlphabetic {
                letters += 1
            }
        }
        endWord()
        if kana * 8 > han + kana { return kana + han >= words ? .other : .english }
        let others = letters + hangul
        if han > 0, han >= words, han >= others / 2 { return .chinese }
        if latin == 0 || others > latin { return .other }
        return words >= 30 && functionWords * 12 < words ? .other : .english
    }
}
