/// English abbreviations with a full stop. ICU's own list lacks some of the most usual, such as `Dr.` and `St.`.
enum Abbreviations {
    /// Whether the token (with its full stop) never ends a sentence: a title, `e.g.`, an initial.
    static func neverEnds(_ token: ArraySlice<UInt8>) -> Bool {
        guard token.count >= 2, token.last == 0x2E else { return false }
        // The initial of a name. "I." is more often a sentence's end: "It is I."
        if token.count == 2, let letter = token.first, 0x41...0x5A ~= letter, letter != 0x49 { return true }
        return titles.contains(key(token)) || needsNumber(token)
    }

    /// Whether the token abbreviates something only before a number: `No. 5`, but `He said no.`
    static func needsNumber(_ token: ArraySlice<UInt8>) -> Bool { beforeNumbers.contains(key(token)) }

    /// Whether the token may end a sentence and may also stand within one: `Inc.`, `U.S.`, `etc.`
    static func mayEnd(_ token: ArraySlice<UInt8>) -> Bool {
        if ambiguous.contains(key(token)) { return true }
        // Letters with full stops in between: U.S., a.m., Ph.D., N.A.T.O.
        let parts = token.split(separator: 0x2E)
        return parts.count >= 2
            && parts.allSatisfy { part in
                part.count <= 2 && part.allSatisfy { 0x61...0x7A ~= $0 | 0x20 }
            }
    }

    /// Whether a word with a capital plainly begins a sentence.
    static func begins(_ word: ArraySlice<UInt8>) -> Bool {
        guard let first = word.first, 0x41...0x5A ~= first else { return false }
        let lower = String(decoding: word.map { $0 | 0x20 }, as: UTF8.self)
        return StopWords.english.contains(lower)
    }

    private static func key(_ token: ArraySlice<UInt8>) -> String {
        String(decoding: token.dropLast().map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static let titles: Set<String> = set(
        """
        dr mr mrs ms mx prof rev fr hon pres gov sen rep gen col maj capt cmdr lt sgt cpl pvt adm st ste mt messrs
        mme mlle sr.dr vs v cf e.g i.e eg ie viz approx resp incl excl esp ca cca supt insp amb sec.gen ph
        """
    )
    private static let beforeNumbers: Set<String> = set(
        "no nos fig figs eq eqs sec sect ch chap vol vols pp p pt para art tab ref refs ex app nr jan feb mar apr jun jul aug sep sept oct nov dec"
    )
    private static let ambiguous: Set<String> = set(
        """
        inc ltd co corp llc plc gmbh bros etc al jr sr esq ave blvd rd sq dept univ assn est ed eds est min max hr hrs
        sec mon tue tues wed thu thur thurs fri sat sun mass calif fla tex ariz wash u.s u.k u.n e.u a.m p.m d.c ph.d
        """
    )

    private static func set(_ words: String) -> Set<String> {
        Set(words.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
