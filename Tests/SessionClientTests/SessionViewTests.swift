import SessionClient
import Testing
import Wire

struct SessionViewTests {
    private func view(_ events: [SessionEvent]) -> SessionView {
        var view = SessionView()
        for event in events { view.apply(event) }
        return view
    }

    @Test("Skills to choose from are there at the end, and so is what a failed request had made")
    func choice() throws {
        let candidates: JSONValue = [
            "candidates": [["skill": "a", "displayName": "Skill A", "score": 0.75], ["skill": "b"], ["score": 1]]
        ]
        let view = view([
            sessionEvent(1, "request.accepted", ["text": "shorten it", "attachments": []]),
            sessionEvent(2, "clarify", candidates),
            sessionEvent(3, "request.failed", ["error": ["code": "ambiguous", "message": "which?"]]),
            sessionEvent(4, "clarify", ["candidates": []]),
        ])
        let request = try #require(view[request: "r1"])
        #expect(request.state == .failed && request.error?.code == "ambiguous" && request.output == nil)
        #expect(request.candidates.map(\.skill) == ["a", "b"])
        #expect(request.candidates.map(\.displayName) == ["Skill A", "b"])
        #expect(request.candidates.map(\.score) == [0.75, nil])

        let partial = self.view([
            sessionEvent(
                1,
                "request.failed",
                ["error": ["code": "timeout", "message": "m"], "output": ["text": "found", "parts": []]]
            )
        ])
        #expect(partial.requests.first?.output?.text == "found")
        #expect(partial.requests.first?.error?.code == "timeout")
    }

    @Test("The choice of the user is a request of its own")
    func again() {
        var request = NewRequest("shorten it")
        request.canClarify = true
        let next = request.again(with: "a")
        #expect(next.skill == "a" && next.text == "shorten it" && !next.canClarify)
        #expect(next.idempotencyKey != request.idempotencyKey)
    }

    private let plan: JSONValue = [
        "mode": "chain",
        "steps": [
            ["id": "s1", "skill": "knowledge", "after": [], "arguments": [:]],
            ["id": "s2", "skill": "summarize", "after": ["s1"], "arguments": [:]],
        ],
    ]

    @Test("A request from beginning to end")
    func whole() throws {
        let view = view([
            sessionEvent(
                1,
                "request.accepted",
                ["text": "hello", "attachments": [["name": "a.txt", "mediaType": "text/plain", "bytes": 3]]]
            ),
            sessionEvent(2, "request.plan", plan),
            sessionEvent(
                3,
                "job.started",
                step: "s1",
                skill: "knowledge",
                attempt: 1,
                ["worker": "w1", "engine": "offline"]
            ),
            sessionEvent(
                4,
                "job.progress",
                step: "s1",
                skill: "knowledge",
                attempt: 1,
                ["message": "reading", "fraction": 0.5]
            ),
            sessionEvent(5, "job.delta", step: "s1", skill: "knowledge", attempt: 1, ["text": "pass"]),
            sessionEvent(6, "job.delta", step: "s1", skill: "knowledge", attempt: 1, ["text": "age"]),
        ])
        let request = try #require(view[request: "r1"])
        #expect(request.text == "hello")
        #expect(request.attachments.map(\.name) == ["a.txt"])
        #expect(request.mode == .chain)
        #expect(request.steps.map(\.id) == ["s1", "s2"])
        #expect(request.lastSteps.map(\.id) == ["s2"])
        #expect(request.steps[0].text == "passage")
        #expect(request.steps[0].state == .running)
        #expect(request.steps[0].worker == "w1")
        #expect(request.steps[0].fraction == 0.5)
        #expect(request.steps[1].state == .waiting)
        #expect(view.isBusy)
    }

    @Test("What an attempt streamed is void after it is tried again, and late events of it change nothing")
    func retrying() throws {
        let view = view([
            sessionEvent(1, "request.accepted", ["text": "x"]),
            sessionEvent(2, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "half"]),
            sessionEvent(
                3,
                "job.retrying",
                step: "s1",
                skill: "a",
                attempt: 1,
                ["reason": "worker lost", "attempt": 2]
            ),
            sessionEvent(4, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "late"]),
            sessionEvent(5, "job.delta", step: "s1", skill: "a", attempt: 2, ["text": "whole"]),
        ])
        let step = try #require(view.requests.first?.steps.first)
        #expect(step.text == "whole")
        #expect(step.attempt == 2)
        #expect(step.state == .running)
    }

    @Test("After a new router has taken a job over, attempts count from 1 again, and the text begins anew")
    func takenOver() throws {
        let events = [
            sessionEvent(1, "request.accepted", ["text": "x"]),
            sessionEvent(2, "job.started", step: "s1", skill: "a", attempt: 2, ["worker": "w", "engine": "offline"]),
            sessionEvent(3, "job.delta", step: "s1", skill: "a", attempt: 2, ["text": "half"]),
            sessionEvent(4, "job.started", step: "s1", skill: "a", attempt: 1, ["worker": "v", "engine": "offline"]),
            sessionEvent(5, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "who"]),
            sessionEvent(6, "job.started", step: "s1", skill: "a", attempt: 1, ["worker": "u", "engine": "offline"]),
            sessionEvent(7, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "whole"]),
        ]
        let step = try #require(view(events).requests.first?.steps.first)
        #expect(step.text == "whole")
        #expect(step.attempt == 1)
        #expect(step.worker == "u")
    }

    @Test("The end of a step counts, of whichever attempt")
    func endOfAnotherAttempt() throws {
        let view = view([
            sessionEvent(1, "request.accepted", ["text": "x"]),
            sessionEvent(2, "job.delta", step: "s1", skill: "a", attempt: 3, ["text": "half"]),
            sessionEvent(
                3,
                "job.finished",
                step: "s1",
                skill: "a",
                attempt: 1,
                ["output": ["text": "whole", "parts": []], "engine": "offline", "milliseconds": 12]
            ),
        ])
        let step = try #require(view.requests.first?.steps.first)
        #expect(step.text == "whole")
        #expect(step.state == .finished)
    }

    @Test("The terminal event's output counts, and nothing after it")
    func terminal() throws {
        let view = view([
            sessionEvent(1, "request.accepted", ["text": "x"]),
            sessionEvent(2, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "al"]),
            sessionEvent(
                3,
                "job.finished",
                step: "s1",
                skill: "a",
                attempt: 1,
                ["output": ["text": "all", "parts": []], "engine": "offline", "cached": true, "milliseconds": 12]
            ),
            sessionEvent(4, "request.finished", ["output": ["text": "all", "parts": []]]),
            sessionEvent(5, "request.failed", ["error": ["code": "x", "message": "y"]]),
        ])
        let request = try #require(view.requests.first)
        #expect(request.state == .finished)
        #expect(request.output?.text == "all")
        #expect(request.error == nil)
        #expect(request.steps[0].text == "all")
        #expect(request.steps[0].isCached)
        #expect(request.steps[0].milliseconds == 12)
        #expect(!view.isBusy)
    }

    @Test("Failure, cancel and unknown types")
    func others() throws {
        let view = view([
            sessionEvent(1, "request.accepted", request: "a", ["text": "x"]),
            sessionEvent(2, "request.something_new", request: "a", ["what": "ever"]),
            sessionEvent(3, "job.something_new", request: "a", step: "s1", skill: "k", attempt: 1, [:]),
            sessionEvent(4, "request.failed", request: "a", ["error": ["code": "no_worker", "message": "none"]]),
            sessionEvent(5, "request.accepted", request: "b", ["text": "y"]),
            sessionEvent(6, "request.cancelled", request: "b", ["reason": "user"]),
        ])
        #expect(view.requests.map(\.state) == [.failed, .cancelled])
        #expect(view.requests[0].error?.code == "no_worker")
        #expect(view.requests[0].steps[0].state == .cancelled)
        #expect(view.requests[1].reason == "user")
        #expect(view.lastSeq == 6)
    }

    @Test("An event that comes twice counts once; a gap is kept, and a restored store counts on")
    func twiceAndGap() {
        var view = SessionView()
        let delta = sessionEvent(1, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "x"])
        view.apply(delta)
        view.apply(delta)
        #expect(view.requests.first?.steps.first?.text == "x")
        view.apply(gapEvent(2, 9))
        view.apply(sessionEvent(10, "job.delta", step: "s1", skill: "a", attempt: 1, ["text": "y"]))
        #expect(view.gaps == [2...9])
        #expect(view.requests.first?.steps.first?.text == "xy")
        view.apply(gapEvent(5, 10))
        view.apply(sessionEvent(5, "request.accepted", request: "new", ["text": "z"]))
        #expect(view.lastSeq == 5)
        #expect(view.requests.count == 2)
    }
}

/// Questions whether data may go to outside parties.
struct SessionQuestionTests {
    private func asked(_ seq: UInt64, _ party: String, step: String) -> SessionEvent {
        sessionEvent(
            seq,
            "approval",
            step: step,
            skill: "a",
            attempt: 1,
            ["question": .string("May it go to \(party)?"), "choices": ["allow", "deny"], "party": .string(party)]
        )
    }

    @Test("A question is open until something goes out, its job ends or the request does")
    func open() {
        var view = SessionView()
        view.apply(sessionEvent(1, "request.accepted", ["text": "x"]))
        view.apply(asked(2, "one", step: "s1"))
        view.apply(asked(3, "two", step: "s2"))
        view.apply(asked(4, "three", step: "s3"))
        #expect(view.requests[0].questions.map(\.party) == ["one", "two", "three"])
        #expect(view.requests[0].questions[0].text == "May it go to one?")
        #expect(view.requests[0].questions[0].choices == ["allow", "deny"])
        view.apply(sessionEvent(5, "disclosure", step: "s1", skill: "a", attempt: 1, ["party": "one", "bytes": 1]))
        #expect(view.requests[0].questions.map(\.party) == ["two", "three"])
        let error: JSONValue = ["error": ["code": "not_allowed", "message": "m"]]
        view.apply(sessionEvent(6, "job.failed", step: "s2", skill: "a", attempt: 1, error))
        #expect(view.requests[0].questions.map(\.party) == ["three"])
        view.apply(sessionEvent(7, "request.failed", error))
        #expect(view.requests[0].questions.isEmpty && view.requests[0].disclosures == ["one"])
    }
}
