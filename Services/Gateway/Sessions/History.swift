internal import SessionStore
internal import Wire

/// The turns that go along with a request, so that "again, but shorter" can be understood.
enum History {
    /// Requests that are looked back at.
    static let requests = 6
    /// Bytes of all texts together: they ride in every job.
    static let bytes = 16 * 1024
    /// Bytes of one text; the last request's may take twice that, since it is what a follow-up is about.
    static let textBytes = 4 * 1024

    /// The last turns that fit, oldest first, and the number of the request that they begin with.
    static func turns(_ records: [HistoryRecord]) -> (turns: [JobInput.Turn], first: Int64?) {
        var turns: [JobInput.Turn] = []
        var first: Int64?
        var left = bytes
        for (age, record) in records.reversed().enumerated() {
            let limit = min(left, age == 0 ? 2 * textBytes : textBytes)
            let plan = record.plan.flatMap { try? JSONBody.decode(Plan.self, from: $0) }
            let user = JobInput.Turn(role: "user", text: cut(record.text, limit), skills: plan?.steps.map(\.skill))
            left -= user.text.utf8.count
            var pair = [user]
            if let answer = record.answer, !answer.isEmpty, left > 0 {
                let assistant = JobInput.Turn(role: "assistant", text: cut(answer, min(left, limit)))
                left -= assistant.text.utf8.count
                pair.append(assistant)
            }
            turns = pair + turns
            first = record.number
            guard left > 0 else { break }
        }
        return (turns, first)
    }

    /// The start of a text, in whole characters.
    static func cut(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.utf8.startIndex, offsetBy: max(0, limit))
        while end > text.startIndex, end.samePosition(in: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
