internal import SessionStore
internal import Wire

/// How the steps of one running request look to somebody who comes in the middle: its stored events, folded.
struct RunningView {
    private var steps: [SessionSnapshot.Step] = []

    /// Takes in what has happened next.
    mutating func add(_ stored: OpenEvent) {
        if stored.type == SessionEvent.Kind.delta, let job = stored.job {
            let step = index(of: "s\(job.step)", skill: "")
            steps[step].state = "running"
            steps[step].text += stored.text
        } else if let event = try? JSONBody.decode(SessionEvent.self, from: stored.json) {
            add(event)
        }
    }

    private mutating func add(_ event: SessionEvent) {
        if event.type == SessionEvent.Kind.plan {
            for step in event.data["steps"]?.array ?? [] {
                guard let id = step["id"]?.string, let skill = step["skill"]?.string else { continue }
                if !steps.contains(where: { $0.id == id }) {
                    steps.append(SessionSnapshot.Step(id: id, skill: skill, state: "waiting", text: ""))
                }
            }
            return
        }
        guard let id = event.step else { return }
        let index = index(of: id, skill: event.skill ?? "")
        switch event.type {
        case SessionEvent.Kind.started:
            steps[index].state = "running"
            steps[index].text = ""
            steps[index].message = nil
            steps[index].fraction = nil
        case SessionEvent.Kind.retrying:
            // What the earlier attempt streamed is void.
            steps[index].state = "waiting"
            steps[index].text = ""
            steps[index].message = event.data["reason"]?.string
            steps[index].fraction = nil
        case SessionEvent.Kind.thinking: steps[index].message = event.data["text"]?.string
        case SessionEvent.Kind.progress:
            steps[index].message = event.data["message"]?.string
            steps[index].fraction = event.data["fraction"]?.number
        case SessionEvent.Kind.partial:
            steps[index].text = event.data["output"]?["text"]?.string ?? steps[index].text
        case SessionEvent.Kind.jobFinished:
            steps[index].state = "finished"
            steps[index].fraction = 1
            steps[index].text = event.data["output"]?["text"]?.string ?? steps[index].text
        case SessionEvent.Kind.jobFailed:
            steps[index].state = "failed"
            steps[index].message = event.data["error"]?["message"]?.string
        default: break
        }
    }

    /// The steps so far: those of the plan, then what they have called.
    var current: [SessionSnapshot.Step] { steps }

    private mutating func index(of id: String, skill: String) -> Int {
        if let known = steps.firstIndex(where: { $0.id == id }) {
            if steps[known].skill.isEmpty { steps[known].skill = skill }
            return known
        }
        steps.append(SessionSnapshot.Step(id: id, skill: skill, state: "waiting", text: ""))
        return steps.count - 1
    }
}

extension SessionSnapshot {
    /// The snapshot of a session as the store has it.
    init(id: Identifier, _ record: SessionRecord) {
        var views: [Identifier: RunningView] = [:]
        for event in record.openEvents { views[event.request, default: RunningView()].add(event) }
        var said: [(seq: UInt64, message: Message)] = []
        for request in record.requests {
            said.append(
                (
                    request.acceptedSequence,
                    Message(role: "user", text: request.text, request: request.id, time: "\(request.created)")
                )
            )
            if let seq = request.terminalSequence, let answer = request.answer, !answer.isEmpty {
                let time = "\(request.ended ?? request.created)"
                said.append((seq, Message(role: "assistant", text: answer, request: request.id, time: time)))
            }
        }
        self.init(
            id: id,
            seq: record.lastSequence,
            privacy: record.privacy,
            summary: record.summary.map { Summary(text: $0.text, requests: $0.turns, time: "\($0.time)") },
            messages: said.sorted { $0.seq < $1.seq }.map(\.message),
            running: record.requests.filter { $0.state == .open }.map { request in
                Running(
                    request: request.id,
                    text: request.text,
                    steps: views[request.id]?.current ?? []
                )
            }
        )
    }
}
