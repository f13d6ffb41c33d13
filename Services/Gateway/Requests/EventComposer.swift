internal import SessionStore
internal import Telemetry
internal import Wire

/// Makes the events of one request: the JSON that every follower gets (docs/api.md).
struct EventComposer: Sendable {
    private let session: String
    private let request: String

    init(session: Identifier, request: Identifier) {
        self.session = session.description
        self.request = request.description
    }

    /// `request.accepted`.
    func accepted(
        text: String,
        attachments: [(name: String, mediaType: String, bytes: Int)],
        retryOf: Identifier? = nil,
        at time: Timestamp
    ) -> EventDraft {
        draft(SessionEvent.Kind.accepted, time, room: text.utf8.count) { json in
            json.raw(#"{"text":"#)
            json.string(text)
            json.raw(#","attachments":["#)
            for (index, attachment) in attachments.enumerated() {
                json.raw(index == 0 ? #"{"name":"# : #",{"name":"#)
                json.string(attachment.name)
                json.raw(#","mediaType":"#)
                json.string(attachment.mediaType)
                json.raw(#","bytes":"#)
                json.number(attachment.bytes)
                json.raw("}")
            }
            json.raw("]")
            if let retryOf {
                json.raw(#","retryOf":"#)
                json.plain(retryOf.description)
            }
            json.raw("}")
        }
    }

    /// `request.plan`.
    func plan(_ plan: Plan, at time: Timestamp) -> EventDraft {
        draft(SessionEvent.Kind.plan, time) { json in json.value(plan) }
    }

    /// `clarify`.
    private func clarify(_ candidates: [Plan.Candidate], at time: Timestamp) -> EventDraft {
        draft(SessionEvent.Kind.clarify, time) { json in
            json.raw(#"{"candidates":"#)
            json.value(candidates)
            json.raw("}")
        }
    }

    /// What is to be stored for what has happened, in order.
    func items(_ occurrences: [Occurrence], at time: Timestamp) -> [EventBatch.Item] {
        var items: [EventBatch.Item] = []
        var open: JobEvents?
        func close() {
            if let job = open { items.append(.job(job)) }
            open = nil
        }
        for occurrence in occurrences {
            switch occurrence {
            case .job(let execution, let skill, let sequence, let report):
                // What the router says of an attempt has no number, so it does not go with what has.
                if let job = open, job.execution != execution || (job.lastSequence == 0) != (sequence == 0) { close() }
                var job = open ?? JobEvents(execution: execution, skill: skill, lastSequence: sequence)
                job.lastSequence = sequence
                job.events.append(event(report, of: execution, skill: skill, at: time))
                if case .started(let started) = report { job.worker = started.worker }
                job.outcome = report.outcome ?? job.outcome
                open = job
            case .plan(let plan):
                close()
                items.append(.plan((try? JSONBody.encode(plan)) ?? [], self.plan(plan, at: time)))
            case .clarify(let candidates):
                close()
                items.append(.note(clarify(candidates, at: time)))
            case .cancelRequested:
                close()
                items.append(.cancelRequested)
            case .generation(let number):
                close()
                items.append(.generation(number))
            case .router(let router):
                close()
                items.append(.router(router))
            case .grant(let execution, let skill):
                close()
                items.append(.grant(execution, skill: skill))
            case .end(let end):
                close()
                items.append(.end(end.state, event(end, at: time), answer: end.answer))
            }
        }
        close()
        return items
    }

    private func event(_ end: Occurrence.End, at time: Timestamp) -> EventDraft {
        switch end {
        case .finished(let output, let errors):
            draft(SessionEvent.Kind.finished, time, room: output.text.utf8.count) { json in
                json.raw(#"{"output":"#)
                json.value(output)
                if !errors.isEmpty {
                    json.raw(#","errors":"#)
                    json.value(errors)
                }
                json.raw("}")
            }
        case .failed(let error):
            draft(SessionEvent.Kind.failed, time) { json in json.error(error) }
        case .incomplete(let error, let output):
            draft(SessionEvent.Kind.failed, time, room: output.text.utf8.count) { json in
                json.raw(#"{"error":"#)
                json.value(error)
                json.raw(#","output":"#)
                json.value(output)
                json.raw("}")
            }
        case .cancelled(let reason):
            draft(SessionEvent.Kind.cancelled, time) { json in
                json.raw(#"{"reason":"#)
                json.string(reason)
                json.raw("}")
            }
        }
    }

    private func event(
        _ report: Occurrence.Report,
        of execution: Execution,
        skill: String,
        at time: Timestamp
    ) -> EventDraft {
        let job = (execution, skill)
        switch report {
        case .started(let started):
            return draft(SessionEvent.Kind.started, time, job) { json in
                json.raw(#"{"worker":"#)
                json.string(started.worker)
                json.raw(#","engine":"#)
                json.string(started.engine)
                json.raw("}")
            }
        case .thinking(let text):
            return draft(SessionEvent.Kind.thinking, time, job, room: text.utf8.count) { json in json.text(text) }
        case .progress(let progress):
            return draft(SessionEvent.Kind.progress, time, job) { json in
                json.raw(#"{"message":"#)
                json.string(progress.message)
                json.raw(#","fraction":"#)
                json.number(progress.fraction.map { min(max($0, 0), 1) })
                json.raw("}")
            }
        case .delta(let text):
            return draft(SessionEvent.Kind.delta, time, job, room: text.utf8.count) { json in json.text(text) }
        case .partial(let output):
            return draft(SessionEvent.Kind.partial, time, job, room: output.count) { json in
                json.raw(#"{"output":"#)
                json.json(output)
                json.raw("}")
            }
        case .retrying(let retrying):
            return draft(SessionEvent.Kind.retrying, time, job) { json in
                json.raw(#"{"reason":"#)
                json.string(retrying.reason)
                json.raw(#","attempt":"#)
                json.number(retrying.attempt)
                json.raw("}")
            }
        case .finished(let finished, _):
            return draft(SessionEvent.Kind.jobFinished, time, job, room: finished.count) { json in json.json(finished) }
        case .failed(let error):
            return draft(SessionEvent.Kind.jobFailed, time, job) { json in json.error(error) }
        case .disclosure(let disclosure):
            return draft(SessionEvent.Kind.disclosure, time, job) { json in json.json(disclosure) }
        case .approval(let disclosure):
            return draft(SessionEvent.Kind.approval, time, job) { json in
                json.question(ApprovalQuestion(skill: skill, disclosure))
            }
        }
    }

    private func draft(
        _ type: String,
        _ time: Timestamp,
        _ job: (execution: Execution, skill: String)? = nil,
        room: Int = 0,
        data: (inout JSONText) -> Void
    ) -> EventDraft {
        var json = JSONText(capacity: 360 + room)
        json.raw(#"{"time":"#)
        json.plain(time.description)
        json.raw(#","session":"#)
        json.plain(session)
        json.raw(#","request":"#)
        json.plain(request)
        if let (execution, skill) = job {
            json.raw(#","job":"#)
            json.plain(execution.job.description)
            json.raw(#","step":"s"#)
            json.number(execution.job.step)
            json.raw(#"","skill":"#)
            json.string(skill)
            json.raw(#","attempt":"#)
            json.number(execution.attempt)
        }
        json.raw(#","type":"#)
        json.plain(type)
        json.raw(#","data":"#)
        data(&json)
        json.raw("}")
        return EventDraft(type: type, json: json.bytes)
    }
}

extension JSONText {
    fileprivate mutating func text(_ text: String) {
        raw(#"{"text":"#)
        string(text)
        raw("}")
    }

    fileprivate mutating func question(_ question: ApprovalQuestion) {
        raw(#"{"question":"#)
        string(question.words)
        raw(#","choices":"#)
        value(ApprovalChoice.allCases)
        raw(#","party":"#)
        string(question.disclosure.party)
        raw(#","bytes":"#)
        number(question.disclosure.bytes)
        raw(#","purpose":"#)
        string(question.disclosure.purpose)
        raw("}")
    }

    fileprivate mutating func error(_ error: JobError) {
        raw(#"{"error":"#)
        value(error)
        raw("}")
    }
}

extension Occurrence.Report {
    /// For the skill log; nil for what does not end a job.
    fileprivate var outcome: String? {
        switch self {
        case .finished(_, let cached): cached ? "cached" : "finished"
        case .failed(let error): error.code
        default: nil
        }
    }
}

extension Occurrence.End {
    /// What counts as said by the assistant.
    fileprivate var answer: String {
        switch self {
        case .finished(let output, _), .incomplete(_, let output): output.text
        case .failed(let error): error.message
        case .cancelled: ""
        }
    }
}
