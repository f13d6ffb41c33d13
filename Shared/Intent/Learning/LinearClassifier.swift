internal import Glibc

/// A support vector machine for each class against the others, linear, with squared hinge loss.
///
/// Trained by dual coordinate descent with shrinking: C.-J. Hsieh et al., "A Dual Coordinate Descent Method for
/// Large-scale Linear SVM", ICML 2008, algorithm 3, which is also what LIBLINEAR does by default.
struct LinearClassifier: Sendable {
    /// Weights of all classes for a feature, one after the other: a text is scored with one walk through each of its rows.
    private var weights: [SIMD16<Int8>]
    /// What the weights of a class are multiples of.
    private var scales: [Float]
    private var biases: [Float]
    /// Rows of so many vectors.
    private let width: Int

    /// How many classes there are.
    var classCount: Int { biases.count }

    /// Less of a mean text changes nothing.
    private static let leastShare: Float = 0.05

    /// How hard a class is learned.
    struct Settings {
        /// The price of a mistake.
        var cost: Float = 2
        /// How much more a text of the class itself counts than one of all the others.
        var ownWeight: Float = 5
        /// How often the texts are gone through at most.
        var rounds = 40
        /// The violation at which nothing more is to be gained.
        var tolerance: Float = 0.1
        /// How much of a class's mean text is added to what was learned of its only text; of one of many texts, the less.
        /// Where there is little to learn from, the cosine with that is the better guide.
        var meanShare: Float = 8
    }

    /// Learns from texts and the class of each. With profiles, one a class, the first text of a class describes it, and the
    /// profile stands for that in the class's mean text.
    init(
        _ texts: [Vocabulary.Vector],
        profiles: [Vocabulary.Vector] = [],
        classes: [Int32],
        classCount: Int,
        featureCount: Int,
        settings: Settings = Settings()
    ) {
        width = (classCount + 15) / 16
        weights = Array(repeating: SIMD16(), count: featureCount * width)
        scales = Array(repeating: 0, count: classCount)
        biases = Array(repeating: 0, count: classCount)
        let problem = Problem(texts, featureCount: featureCount)
        for number in 0..<classCount {
            var (learned, bias) = problem.solve(classes: classes, positive: Int32(number), settings)
            let own = classes.indices.filter { classes[$0] == Int32(number) }
            let share = settings.meanShare / Float(max(own.count, 1))
            if share >= Self.leastShare {
                let profile = profiles.indices.contains(number) ? [profiles[number]] : []
                let mean = profile + own.dropFirst(profile.count).map { texts[$0] }
                bias = Self.blend(&learned, bias, with: mean, share)
            }
            let most = learned.reduce(Float(0)) { max($0, abs($1)) }
            guard most > 0 else {
                biases[number] = bias
                continue
            }
            let scale = most / 127
            for (feature, weight) in learned.enumerated() where weight != 0 {
                weights[feature * width + number / 16][number % 16] = Int8((weight / scale).rounded())
            }
            scales[number] = scale
            biases[number] = bias
        }
    }

    /// Adds the mean of a class's texts to its weights. The scale stays: its own texts are at 1, and what it has nothing in
    /// common with is at the bias, -1.
    /// - Returns: The bias.
    private static func blend(
        _ weights: inout [Float],
        _ bias: Float,
        with own: [Vocabulary.Vector],
        _ share: Float
    ) -> Float {
        var mean: [Int32: Float] = [:]
        for text in own {
            for (feature, value) in zip(text.features, text.values) {
                mean[feature, default: 0] += value / Float(own.count)
            }
        }
        let square = mean.values.reduce(0) { $0 + $1 * $1 }
        let scale = 2 / (2 + share * square)
        for feature in weights.indices { weights[feature] *= scale }
        for (feature, value) in mean { weights[Int(feature)] += value * share * scale }
        return (bias + 1) * scale - 1
    }

    /// How far on its side each class sees a text.
    func scores(_ text: Vocabulary.Vector) -> [Float] {
        var sums = [SIMD16<Float>](repeating: SIMD16(), count: width)
        for (feature, value) in zip(text.features, text.values) {
            let row = Int(feature) * width
            for place in 0..<width { sums[place] += SIMD16<Float>(weights[row + place]) * value }
        }
        return biases.indices.map { sums[$0 / 16][$0 % 16] * scales[$0] + biases[$0] }
    }
}

/// The texts of all classes, in one piece.
private struct Problem {
    private let starts: [Int]
    private let features: [Int32]
    private let values: [Float]
    private let squares: [Float]
    private let featureCount: Int

    init(_ texts: [Vocabulary.Vector], featureCount: Int) {
        var starts = [0]
        var features: [Int32] = []
        var values: [Float] = []
        var squares: [Float] = []
        for text in texts {
            features += text.features
            values += text.values
            starts.append(features.count)
            // The bias is a feature of value one.
            squares.append(text.values.reduce(1) { $0 + $1 * $1 })
        }
        self.starts = starts
        self.features = features
        self.values = values
        self.squares = squares
        self.featureCount = featureCount
    }

    /// The weights and the bias of one class against the others.
    func solve(
        classes: [Int32],
        positive: Int32,
        _ settings: LinearClassifier.Settings
    ) -> ([Float], Float) {
        let count = classes.count
        var weights = [Float](repeating: 0, count: featureCount)
        var bias: Float = 0
        var alpha = [Float](repeating: 0, count: count)
        var order = Array(0..<count)
        var active = count
        var random = SplitMix(seed: 0x5EED ^ UInt64(bitPattern: Int64(positive)))
        var upper = Float.infinity
        weights.withUnsafeMutableBufferPointer { weights in
            features.withUnsafeBufferPointer { features in
                values.withUnsafeBufferPointer { values in
                    for _ in 0..<settings.rounds {
                        var most = -Float.infinity
                        var least = Float.infinity
                        for place in 0..<active { order.swapAt(place, place + random.below(active - place)) }
                        var place = 0
                        while place < active {
                            let text = order[place]
                            let sign: Float = classes[text] == positive ? 1 : -1
                            var sum = bias
                            for entry in starts[text]..<starts[text + 1] {
                                sum += weights[Int(features[entry])] * values[entry]
                            }
                            let diagonal =
                                0.5 / (settings.cost * (sign > 0 ? settings.ownWeight : 1))
                            let gradient = sign * sum - 1 + alpha[text] * diagonal
                            var projected = gradient
                            if alpha[text] == 0 {
                                if gradient > upper {
                                    active -= 1
                                    order.swapAt(place, active)
                                    continue
                                }
                                projected = min(gradient, 0)
                            }
                            most = max(most, projected)
                            least = min(least, projected)
                            if abs(projected) > 1e-12 {
                                let old = alpha[text]
                                alpha[text] = max(old - gradient / (squares[text] + diagonal), 0)
                                let step = (alpha[text] - old) * sign
                                bias += step
                                for entry in starts[text]..<starts[text + 1] {
                                    weights[Int(features[entry])] += step * values[entry]
                                }
                            }
                            place += 1
                        }
                        if most - least <= settings.tolerance {
                            if active == count { break }
                            active = count
                            upper = .infinity
                            continue
                        }
                        upper = most > 0 ? most : .infinity
                    }
                }
            }
        }
        return (Array(weights), bias)
    }
}

/// Random numbers that are the same each time.
struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Key.mix(state, 0)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }
}
