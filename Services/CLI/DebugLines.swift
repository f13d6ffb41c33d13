internal import SessionClient
internal import Wire

/// What `--debug` shows of a request, on standard error: before each call of a skill why it was chosen, with which
/// arguments, and how well the others fit; then what it thinks.
struct DebugLines {
    private var planned: Set<String> = []

    /// The option of commands that show it.
    static let help = "show why which skill is called, on standard error"

    /// The lines for the next event of a request.
    mutating func lines(_ event: SessionEvent) -> [String] {
        switch event.type {
        case SessionEvent.Kind.plan: return plan(event.data)
        case SessionEvent.Kind.started:
            let name = "\(event.step ?? "") \(event.skill ?? "")"
            let engine = event.data["engine"]?.string ?? ""
            let isEarly = planned.isEmpty
            let who =
                planned.contains(event.step ?? "")
                ? "" : isEarly ? ", asked which skill is meant," : ", called by another skill,"
            return ["\(name)\(who) starts on \(event.data["worker"]?.string ?? "") (\(engine))"]
        case SessionEvent.Kind.thinking:
            return ["\(event.step ?? "") \(event.skill ?? "") thinks: \(event.data["text"]?.string ?? "")"]
        case SessionEvent.Kind.jobFinished where event.data["cached"]?.bool == true:
            return ["\(event.step ?? "") \(event.skill ?? "") was answered before: from the cache"]
        default: return []
        }
    }

    private mutating func plan(_ data: JSONValue) -> [String] {
        let steps = data["steps"]?.array ?? []
        planned.formUnion(steps.compactMap { $0["id"]?.string })
        let mode = data["mode"]?.string ?? ""
        var lines = ["plan: \(mode), \(steps.count) step\(steps.count == 1 ? "" : "s")"]
        if let decision = data["decision"], let by = decision["by"]?.string {
            lines.append("chosen by \(by)\((decision["reason"]?.string).map { ": \($0)" } ?? "")")
        }
        let scores = data["scores"]?.array ?? []
        if scores.isEmpty { lines.append("scores: none, the skill was named") }
        for score in scores {
            let value = ((score["score"]?.number ?? 0) * 1000).rounded() / 1000
            let reasons = (score["reasons"]?.array ?? []).compactMap(\.string).joined(separator: "; ")
            lines.append("score \(value) \(score["skill"]?.string ?? "")\(reasons.isEmpty ? "" : ": \(reasons)")")
        }
        for step in steps {
            let after = (step["after"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            let arguments = step["arguments"].flatMap { try? JSONBody.encode($0) } ?? Array("{}".utf8)
            let when = after.isEmpty ? "" : " after \(after)"
            let name = "\(step["id"]?.string ?? "") \(step["skill"]?.string ?? "")"
            lines.append("\(name)\(when), arguments \(String(decoding: arguments, as: UTF8.self))")
        }
        return lines
    }
}
