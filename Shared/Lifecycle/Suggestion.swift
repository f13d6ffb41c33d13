/// The name that a mistyped word was most likely meant to be; nil if none is near.
///
/// Near is a third of the word's letters, at least one: inserted, left out, replaced or swapped with a neighbour. A
/// word of two letters or more that begins exactly one name means that one.
public func nearestName(to word: String, in names: [String]) -> String? {
    let typed = Array(word.lowercased())
    guard !typed.isEmpty else { return nil }
    let begun = names.filter { $0.hasPrefix(word) }
    if typed.count >= 2, begun.count == 1 { return begun.first }
    let near = names.map { (name: $0, distance: distance(typed, Array($0))) }
        .filter { $0.distance <= max(1, $0.name.count / 3) }
    return near.min { $0.distance < $1.distance }?.name
}

/// The edits between two words: Damerau's distance, with each pair of letters swapped at most once.
private func distance(_ one: [Character], _ other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for row in 0..<one.count {
        var next = [row + 1]
        for column in 0..<other.count {
            let cost = one[row] == other[column] ? 0 : 1
            var best = min(rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + cost)
            if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                best = min(best, rows[row - 1][column - 1] + 1)
            }
            next.append(best)
        }
        rows.append(next)
    }
    return rows[one.count][other.count]
}
