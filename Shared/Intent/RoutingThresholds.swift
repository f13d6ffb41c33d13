internal import Glibc
public import Wire

/// From which score on a skill is meant, where that is not left to what suits most: fitted from labelled utterances by
/// ``IntentModel/fitted(to:)``, and kept as JSON.
public struct RoutingThresholds: Codable, Hashable, Sendable {
    /// The chance that a text is for any skill, from a learner's figures; nil for the usual one.
    public var scope: LogisticRegression?
    /// The least score; nil for the usual one.
    public var least: Double?
    /// The least score of single skills, by id.
    public var skills: [String: Double]

    /// How near the scores of two skills are when the user is asked which is meant; nil for the usual distance, 0 never asks.
    public var margin: Double?

    /// Makes thresholds; none by itself.
    public init(
        scope: LogisticRegression? = nil,
        least: Double? = nil,
        skills: [String: Double] = [:],
        margin: Double? = nil
    ) {
        self.scope = scope
        self.least = least
        self.skills = skills
        self.margin = margin
    }
}

extension RoutingThresholds {
    /// What a file with thresholds may have at most, in bytes.
    private static let limit = 1 << 20

    /// Reads a file of JSON.
    /// - Throws: `WireError` that says what is wrong with it.
    public init(file path: String) throws(WireError) {
        guard let file = fopen(path, "re") else {
            throw .body(type: path, reason: "cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: Self.limit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        guard count <= Self.limit else { throw .tooLarge(what: path, limit: Self.limit, got: count) }
        self = try JSONBody.decode(RoutingThresholds.self, from: Array(bytes[..<count]))
    }
}
