internal import Text

/// Simplified forms of single Han characters, in a table: routing reads many short texts, for which ICU's rules are slow.
enum SimplifiedHan {
    private static let block: ClosedRange<UInt32> = 0x4E00...0x9FFF

    /// The simplified form of a character; any other scalar as it is.
    static func of(_ scalar: UInt32) -> UInt32 {
        guard block.contains(scalar) else { return scalar }
        return UInt32(table[Int(scalar - block.lowerBound)])
    }

    private static let table: [UInt16] = {
        let given = block.map { UInt16($0) }
        // A line each, so that characters cannot act on one another.
        let lines = given.map { Unicode.Scalar($0).map(String.init) ?? "" }.joined(separator: "\n")
        let simplified = ChineseScript.simplified(lines).split(separator: "\n", omittingEmptySubsequences: false)
        guard simplified.count == given.count else { return given }
        return zip(given, simplified).map { character, line in
            guard line.unicodeScalars.count == 1, let scalar = line.unicodeScalars.first, scalar.value <= 0xFFFF else {
                return character
            }
            return UInt16(scalar.value)
        }
    }()
}
