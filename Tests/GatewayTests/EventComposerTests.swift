import SessionStore
import Telemetry
import Testing
import Wire

@testable import Gateway

@Suite struct EventComposerTests {
    let session = Identifier.timeOrdered(milliseconds: 1)
    let request = Identifier.timeOrdered(milliseconds: 2)
    var composer: EventComposer { EventComposer(session: session, request: request) }

    private func compose(_ report: Occurrence.Report, number: UInt64 = 1) throws -> SessionEvent {
        let execution = Execution(job: request.job(step: 2), generation: 1, attempt: 3)
        let items = composer.items(
            [.job(execution, skill: "e", sequence: number, report)],
            at: Timestamp(milliseconds: 0)
        )
        guard case .job(let events) = items.first, let draft = events.events.first else {
            throw JobError(code: "none", message: "\(items)")
        }
        let json = draft.numbered(12)
        #expect(!json.contains(10) && !json.contains(13))
        return try JSONBody.decode(SessionEvent.self, from: json)
    }

    @Test(arguments: [
        "plain", "", "\"quoted\" \\ back", "line\r\nfeed\ttab", "\u{0}\u{1}\u{1f}\u{7f}", "中文 😀 e\u{301}",
        "\r\nid: 999\r\ndata: x", "\u{2028}\u{2029}",
    ])
    func textSurvives(_ text: String) throws {
        let event = try compose(.delta(text))
        #expect(event.data["text"]?.string == text)
        #expect(event.seq == 12 && event.type == "job.delta" && event.step == "s2" && event.attempt == 3)
        #expect(event.time == "1970-01-01T00:00:00.000Z")
        #expect(
            event.session == "\(session)" && event.request == "\(request)" && event.job == "\(request.job(step: 2))"
        )
    }

    @Test func jsonOfASkillStaysOnOneLine() throws {
        let pretty = """
            {
              "output": {"text": "a\\nb", "parts": []},\r
              "engine": "offline", "milliseconds": 3, "cached": true
            }
            """
        let event = try compose(.finished(Array(pretty.utf8), cached: true))
        #expect(event.data["output"]?["text"]?.string == "a\nb")
    }

    @Test func progressHasAFractionOrNull() throws {
        #expect(try compose(.progress(JobProgress(message: "m"))).data == ["message": "m", "fraction": nil])
        #expect(try compose(.progress(JobProgress(message: "m", fraction: 0.25))).data["fraction"]?.number == 0.25)
        #expect(try compose(.progress(JobProgress(message: "m", fraction: .infinity))).data["fraction"]?.number == 1)
        #expect(try compose(.progress(JobProgress(message: "m", fraction: .nan))).type == "job.progress")
    }

    @Test func eventsOfOneAttemptGoTogether() {
        let one = Execution(job: request.job(step: 1), generation: 1, attempt: 1)
        let next = Execution(job: request.job(step: 1), generation: 1, attempt: 2)
        let items = composer.items(
            [
                .job(one, skill: "e", sequence: 1, .started(JobStarted(worker: "w", engine: "x"))),
                .job(one, skill: "e", sequence: 4, .delta("abc")),
                .job(next, skill: "e", sequence: 0, .retrying(JobRetrying(reason: "r", attempt: 2))),
                .job(next, skill: "e", sequence: 1, .failed(JobError(code: "timeout", message: ""))),
                .end(.failed(JobError(code: "timeout", message: "m"))),
            ],
            at: .now
        )
        let jobs = items.compactMap { item in if case .job(let job) = item { job } else { nil } }
        #expect(jobs.map(\.events.count) == [2, 1, 1])
        #expect(jobs.map(\.lastSequence) == [4, 0, 1])
        #expect(jobs.map(\.worker) == ["w", nil, nil])
        #expect(jobs.map(\.outcome) == [nil, nil, "timeout"])
        guard case .end(.failed, let draft, answer: "m") = items.last else {
            Issue.record("\(items)")
            return
        }
        #expect(draft.type == "request.failed")
    }
}

@Suite struct ReportReaderTests {
    private func read(_ build: (inout EventRecordWriter) -> Void) -> (kinds: [String], problem: String?) {
        var writer = EventRecordWriter()
        build(&writer)
        let (reports, problem) = ReportReader.read(writer.bytes.span.bytes)
        return (reports.map { "\($0.report)".prefix { $0 != "(" }.description }, problem)
    }

    @Test func whatIsNoUTF8IsReplaced() {
        var writer = EventRecordWriter()
        writer.append(.delta, [0x61, 0xff, 0xe4, 0xbd])
        let reports = ReportReader.read(writer.bytes.span.bytes).reports
        guard case .delta(let text) = reports.first?.report else {
            Issue.record("\(reports)")
            return
        }
        #expect(text.hasPrefix("a\u{fffd}"))
    }

    @Test func aTerminalRecordThatCannotBeReadEndsTheJob() {
        let (kinds, problem) = read {
            $0.append(.progress, text: "no json")
            $0.append(.finished, text: "[]")
        }
        #expect(kinds == ["thinking", "failed"])
        #expect(problem != nil)
    }

    @Test func aCutMessageGivesWhatIsWhole() {
        var writer = EventRecordWriter()
        writer.append(.delta, text: "whole")
        writer.append(.delta, text: "cut off")
        let cut = Array(writer.bytes.dropLast(3))
        let (reports, problem) = ReportReader.read(cut.span.bytes)
        #expect(reports.count == 1 && problem != nil)
    }
}

@Suite struct HistoryTests {
    @Test func theLastTurnsThatFitComeOldestFirst() throws {
        let plan = try JSONBody.encode(Plan.single("summarize"))
        let records = (1...6).map { HistoryRecord(text: "question \($0)", answer: "answer \($0)", plan: plan) }
        let turns = History.turns(records).turns
        #expect(turns.first?.text == "question 1" && turns.last?.text == "answer 6" && turns.count == 12)
        #expect(turns.last { $0.role == "user" }?.skills == ["summarize"])
    }

    @Test func longTextsAreCutInWholeCharacters() {
        let long = String(repeating: "文", count: 10_000)
        let turns = History.turns([
            HistoryRecord(text: "old", answer: long, plan: nil), HistoryRecord(text: long, answer: long, plan: nil),
        ]).turns
        #expect(turns.reduce(0) { $0 + $1.text.utf8.count } <= History.bytes)
        #expect(turns.allSatisfy { $0.text.allSatisfy { $0 == "文" || "old".contains($0) } })
        #expect(turns.last?.text.isEmpty == false)
    }

    @Test func whatFailedHasNoAnswer() {
        #expect(History.turns([HistoryRecord(text: "q", answer: nil, plan: nil)]).turns.map(\.role) == ["user"])
    }
}
