/// A sentence as weighted terms, for likeness.
struct TermVector {
    private let terms: [Int32]
    private let values: [Double]
    private let norm: Double

    /// Counts the terms of a sentence.
    init(_ occurrences: [Int32], weights: [Double]) {
        var terms: [Int32] = []
        var values: [Double] = []
        for term in occurrences.sorted() {
            let weight = weights[Int(term)]
            if terms.last == term {
                values[values.count - 1] += weight
            } else {
                terms.append(term)
                values.append(weight)
            }
        }
        self.terms = terms
        self.values = values
        norm = values.reduce(0) { $0 + $1 * $1 }.squareRoot()
    }

    /// The cosine of the angle between two: 1 for the same words, 0 for none in common.
    func cosine(_ other: TermVector) -> Double {
        guard norm > 0, other.norm > 0 else { return 0 }
        var product = 0.0
        var left = 0
        var right = 0
        while left < terms.count, right < other.terms.count {
            if terms[left] == other.terms[right] {
                product += values[left] * other.values[right]
                left += 1
                right += 1
            } else if terms[left] < other.terms[right] {
                left += 1
            } else {
                right += 1
            }
        }
        return product / (norm * other.norm)
    }
}
