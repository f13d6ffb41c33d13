import Bus
import Wire

/// What is not taken, and why.
extension Dispatcher {
    mutating func refuse(_ header: Header, _ gateway: GatewayLink, _ error: JobError) {
        nack(header, gateway, error)
    }

    /// Asks back: the request is over, and comes again with the skill that is meant.
    mutating func ask(_ header: Header, _ gateway: GatewayLink, _ clarification: Clarification) {
        nack(header, gateway, clarification)
    }

    private mutating func nack(_ header: Header, _ gateway: GatewayLink, _ body: some Encodable) {
        let nack = Header(.nack, job: header.job, generation: header.generation)
        guard let message = try? Outgoing(nack, json: body) else { return }
        actions.append(.toGateway(gateway, message))
    }

    /// Another router had it, and a worker: none has come here in time.
    func notBack(_ skill: String) -> JobError {
        JobError(
            code: JobError.Code.noWorker,
            message: "no worker of skill \(skill) has come back in \(Dispatcher.orphanLimit / 1000) s",
            hint: "start a worker that serves \(skill), then ask again",
            retryable: true
        )
    }

    func unknown(_ skill: String) -> JobError {
        let names = registry.skills.keys.sorted()
        let near = names.min { distance($0, skill) < distance($1, skill) }
        var hint = names.isEmpty ? "no worker has registered yet" : "skills here: \(names.joined(separator: ", "))"
        if let near, distance(near, skill) <= 2 { hint = "did you mean \(near)? \(hint)" }
        return JobError(code: JobError.Code.unknownSkill, message: "there is no skill \"\(skill)\"", hint: hint)
    }

    var plannerBusy: JobError {
        JobError(
            code: JobError.Code.overloaded,
            message: "\(planning.count) requests wait for a plan already",
            hint: "try again a little later, or name the skill",
            retryable: true,
            retryAfter: 1
        )
    }

    func acknowledgementsMissing(_ gateway: GatewayLink) -> JobError {
        JobError(
            code: JobError.Code.overloaded,
            message: "the gateway has not acknowledged the ends of \(gateway.unacknowledged) jobs",
            hint: "its store may be slow or full: look at the gateway's log",
            retryable: true,
            retryAfter: 1
        )
    }

    func overloaded(_ entry: SkillEntry) -> JobError {
        // Bytes may be what is too much, or the time that all of them take.
        let seconds = (Double(entry.backlog.wait(for: entry.queue.count)) / 1000).rounded(.up)
        let isLong = entry.queue.bound < Limits.queuedJobsPerSkill && entry.queue.count >= entry.queue.bound
        let why = isLong ? ", which takes about \(Int(seconds)) s: more is not queued" : " already"
        return JobError(
            code: JobError.Code.overloaded,
            message: "\(entry.queue.count) jobs wait for skill \(entry.id)\(why)",
            hint: "try again a little later, or start another worker of \(entry.id)",
            retryable: true,
            retryAfter: max(seconds, 1)
        )
    }
}

/// Levenshtein's edit distance, for "did you mean". Names are short.
private func distance(_ one: String, _ other: String) -> Int {
    let one = Array(one.utf8.prefix(64))
    let other = Array(other.utf8.prefix(64))
    var row = Array(0...other.count)
    for (i, a) in one.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in other.enumerated() {
            let above = row[j + 1]
            row[j + 1] = min(above + 1, row[j] + 1, diagonal + (a == b ? 0 : 1))
            diagonal = above
        }
    }
    return row[other.count]
}
