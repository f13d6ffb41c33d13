internal import Glibc

/// The chance of one of two outcomes from a few figures: a logistic regression, fitted by gradient descent with a little
/// shrinking. Figures are brought to mean 0 and deviation 1 first, so that one step width suits them all.
public struct LogisticRegression: Sendable, Codable, Hashable {
    /// What each figure is multiplied with.
    public private(set) var weights: [Double]
    /// What is added.
    public private(set) var bias: Double

    /// Takes known weights.
    public init(weights: [Double], bias: Double) {
        self.weights = weights
        self.bias = bias
    }

    /// Fits to examples; both outcomes count the same in sum, however many there are of each.
    public init(_ rows: [[Double]], outcomes: [Bool]) {
        let width = rows.first?.count ?? 0
        let count = Double(max(rows.count, 1))
        let means = (0..<width).map { column in rows.reduce(0) { $0 + $1[column] } / count }
        let deviations = (0..<width).map { column in
            max(
                1e-6,
                (rows.reduce(0) { $0 + ($1[column] - means[column]) * ($1[column] - means[column]) } / count)
                    .squareRoot()
            )
        }
        let scaled = rows.map { row in (0..<width).map { (row[$0] - means[$0]) / deviations[$0] } }
        let yes = Double(max(outcomes.count { $0 }, 1))
        let no = Double(max(outcomes.count { !$0 }, 1))
        var weights = [Double](repeating: 0, count: width)
        var bias = 0.0
        for _ in 0..<800 {
            var slopes = weights.map { -0.002 * $0 }
            var slope = 0.0
            for (row, outcome) in zip(scaled, outcomes) {
                let sum = zip(row, weights).reduce(bias) { $0 + $1.0 * $1.1 }
                let error = ((outcome ? 1 : 0) - 1 / (1 + exp(-sum))) * (outcome ? 0.5 / yes : 0.5 / no)
                for column in 0..<width { slopes[column] += error * row[column] }
                slope += error
            }
            for column in 0..<width { weights[column] += 2 * slopes[column] }
            bias += 2 * slope
        }
        self.weights = (0..<width).map { weights[$0] / deviations[$0] }
        self.bias = bias - (0..<width).reduce(0) { $0 + weights[$1] * means[$1] / deviations[$1] }
    }

    /// The chance, 0 to 1.
    public func probability(_ row: [Double]) -> Double {
        1 / (1 + exp(-zip(row, weights).reduce(bias) { $0 + $1.0 * $1.1 }))
    }
}
