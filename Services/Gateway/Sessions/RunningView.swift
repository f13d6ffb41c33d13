internal import SessionStore
internal import Wire

/// How the steps of one running request look to somebody who comes in the middle: its stored events, folded.
struct RunningView {
    private var steps: [SessionSnapshot.Step] = []

    /// Takes in the next event of the request.
    mutating func add(_ event: SessionEvent) {
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
        let index = steps.firstIndex { $0.id == id } ?? append(id, event.skill ?? "")
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
        case SessionEvent.Kind.delta:
            steps[index].state = "running"
            steps[index].text += event.data["text"]?.string ?? ""
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

    private mutating func append(_ id: String, _ skill: String) -> Int {
        steps.append(SessionSnapshot.Step(id: id, skill: skill, state: "waiting", text: ""))
        return steps.count - 1
    }
}

extension SessionSnapshot {
    /// The snapshot of a session as the store has it.
    init(id: Identifier, _ record: SessionRecord) {
        var views: [String: RunningView] = [:]
        for stored in record.openEvents {
            guard let event = try? JSONBody.decode(SessionEvent.self, from: stored.json), let request = event.request
            else { continue }
            views[request, default: RunningView()].add(event)
        }
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
            messages: said.sorted { $0.seq < $1.seq }.map(\.message),
            running: record.requests.filter { $0.state == .open }.map { request in
                Running(
                    request: request.id,
                    text: request.text,
                    steps: views[request.id.description]?.current ?? []
                )
            }
        )
    }
}
