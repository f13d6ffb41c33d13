internal import CStemmer

/// Stems of words: `connections`, `connected` and `connect` have one. Porter's second English algorithm, of Snowball.
public struct Stemmer: Sendable {
    /// For English.
    public static let english = Stemmer(algorithm: "english")

    /// Longer words are no words, and stay as they are.
    private static let longest = 64
    private let pool: Pool

    private init(algorithm: String) {
        pool = Pool { sb_stemmer_new(algorithm, "UTF_8") }
    }

    /// The stem of a folded word (see ``Normalizer/fold(_:)``). Words with other than Latin letters stay as they are.
    public func stem(_ word: String) -> String {
        let bytes = word.utf8
        guard 3...Self.longest ~= bytes.count, bytes.allSatisfy({ $0 < 0x80 }) else { return word }
        let stem = pool.with { stemmer in
            let source = Array(bytes)
            guard let result = sb_stemmer_stem(stemmer, source, Int32(source.count)) else { return word }
            let length = Int(sb_stemmer_length(stemmer))
            return String(decoding: UnsafeBufferPointer(start: result, count: max(0, length)), as: UTF8.self)
        }
        return stem ?? word
    }
}
