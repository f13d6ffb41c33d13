/// Slips of the finger.
public enum Slip {
    /// Whether two words differ by one: a letter more, less or other, or two neighbours exchanged. The same word is none.
    public static func separates<Letters: BidirectionalCollection>(_ a: Letters, _ b: Letters) -> Bool
    where Letters.Element: Equatable {
        guard abs(a.count - b.count) <= 1 else { return false }
        var restOfA = a[...]
        var restOfB = b[...]
        while let first = restOfA.first, first == restOfB.first {
            restOfA = restOfA.dropFirst()
            restOfB = restOfB.dropFirst()
        }
        while let last = restOfA.last, last == restOfB.last {
            restOfA = restOfA.dropLast()
            restOfB = restOfB.dropLast()
        }
        if restOfA.isEmpty, restOfB.isEmpty { return false }
        if restOfA.count <= 1, restOfB.count <= 1 { return true }
        return restOfA.count == 2 && restOfB.count == 2 && restOfA.elementsEqual(restOfB.reversed())
    }
}
