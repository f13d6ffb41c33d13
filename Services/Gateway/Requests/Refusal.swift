internal import Wire

/// The body of a NACK: why the router does not take a request, and the skills to choose from where it asks back.
struct Refusal: Decodable, Equatable {
    private struct Candidates: Decodable {
        var candidates: [Plan.Candidate]?
    }
    /// As many are passed on at most.
    private static let limit = 10

    let error: JobError
    let candidates: [Plan.Candidate]

    init(_ error: JobError, candidates: [Plan.Candidate] = []) {
        self.error = error
        self.candidates = candidates
    }

    init(from decoder: any Decoder) throws {
        error = try JobError(from: decoder)
        let isQuestion = error.code == JobError.Code.ambiguous
        let named = isQuestion ? try? Candidates(from: decoder).candidates : nil
        candidates = Array((named ?? []).prefix(Refusal.limit))
    }
}
