import SessionStore
import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

/// What every store does. Each test runs on each kind of store.
@Suite struct SessionStoreTests {
    @Test(arguments: StoreKind.all) func eventsAreNumberedWithoutGapAndReadAsTheyWereMade(_ kind: StoreKind)
        async throws
    {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, last: 2, count: 2), job(request, last: 3))
        let events = try await session.events()
        #expect(events.map(\.seq) == [1, 2, 3, 4])
        #expect(
            String(decoding: events[1].json, as: UTF8.self) == #"{"seq":2,"type":"job.delta","data":{"text":"1.1.0"}}"#
        )
        #expect(try await session.events(after: 3).map(\.seq) == [4])
        #expect(try await session.events(after: 9).isEmpty)
    }

    @Test(arguments: StoreKind.all) func aPageEndsBeforeItsLimitButHasOneEvent(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, last: 10, count: 10))
        let size = try await session.events()[1].json.count
        #expect(try await session.events(after: 1, maxBytes: 3 * size).map(\.seq) == [2, 3, 4])
        #expect(try await session.events(after: 1, maxBytes: 1).map(\.seq) == [2])
    }

    @Test(arguments: StoreKind.all) func nothingOfAnOlderAttemptIsStored(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, attempt: 1, last: 1))
        #expect(try await session.append(request, job(request, attempt: 2, last: 1)).fenced.isEmpty)
        let late = try await session.append(request, job(request, attempt: 1, last: 2))
        #expect(late.fenced.map(\.attempt) == [1] && late.stored == 0)
        // The generation counts before the attempt.
        #expect(try await session.append(request, job(request, generation: 2, attempt: 1, last: 1)).stored == 1)
        #expect(try await session.append(request, job(request, generation: 1, attempt: 9, last: 1)).stored == 0)
        #expect(try await session.events().count == 4)
    }

    @Test(arguments: StoreKind.all) func aNumberIsStoredOnceAndNothingAfterTheEnd(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, last: 2, count: 2))
        #expect(try await session.append(request, job(request, last: 2)).stored == 0)
        #expect(try await session.append(request, job(request, last: 3, outcome: "finished")).stored == 1)
        #expect(try await session.append(request, job(request, last: 3, outcome: "finished")).stored == 0)
        #expect(try await session.append(request, job(request, attempt: 2, last: 1)).stored == 0)
        // What the router says has no number; it may come more than once before the end.
        #expect(try await session.append(request, job(request, step: 2, last: 0)).stored == 1)
        #expect(try await session.append(request, job(request, step: 2, last: 0)).stored == 1)
    }

    @Test(arguments: StoreKind.all) func aRequestEndsOnce(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request("what?")
        let first = try await session.append(request, .end(.finished, draft("request.finished"), answer: "that"))
        #expect(first.stored == 1 && !first.wasOver)
        let second = try await session.append(request, .end(.failed, draft("request.failed"), answer: ""))
        #expect(second.stored == 0 && second.wasOver)
        #expect(try await session.append(request, job(request, last: 1)).fenced.count == 1)
        let record = try await store.request(request, in: session.id, owner: session.owner)
        #expect(record.state == .finished && record.answer == "that" && record.terminalSequence == 2)
        #expect(try await store.openRequests().isEmpty)
    }

    @Test(arguments: StoreKind.all) func aNoteIsAnEventThatChangesNothingElse(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request("what?")
        #expect(try await session.append(request, .note(draft("clarify"))).stored == 1)
        #expect(try await store.openRequests().map(\.id) == [request])
        // With the end it is one write, before it; after it there is none.
        let end = EventBatch.Item.end(.failed, draft("request.failed"), answer: "")
        #expect(try await session.append(request, .note(draft("clarify")), end).stored == 2)
        let late = try await session.append(request, .note(draft("clarify")))
        #expect(late.stored == 0 && late.wasOver)
        #expect(try await session.events().count == 4)
    }

    @Test(arguments: StoreKind.all, 1...4) func oneKeyIsOneRequest(_ kind: StoreKind, _: Int) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let outcomes = try await withThrowingTaskGroup(of: (Identifier, AcceptanceOutcome).self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let acceptance = session.acceptance(key: ("k", [1]))
                    return (acceptance.request, try await session.accept(acceptance))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let accepted = outcomes.filter { if case .accepted = $0.1 { true } else { false } }
        #expect(accepted.count == 1)
        let first = try #require(accepted.first?.0)
        #expect(outcomes.filter { $0.1 == .replayed(first) }.count == 19)
        #expect(try await session.events().count == 1)
        #expect(try await session.accept(session.acceptance(key: ("k", [2]))) == .mismatch)
        // Another user's key is another key.
        let other = try await TestSession(store, owner: "another")
        let outcome = try await other.accept(other.acceptance(key: ("k", [2])))
        #expect(outcome != .mismatch)
    }

    @Test(arguments: StoreKind.all) func aKeyIsForgottenAfterADay(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let yesterday = Timestamp(milliseconds: Timestamp.now.milliseconds - 24 * 3600 * 1000 - 1)
        _ = try await session.accept(session.acceptance(key: ("k", [1]), at: yesterday))
        let outcome = try await session.accept(session.acceptance(key: ("k", [2])))
        guard case .accepted = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test(arguments: StoreKind.all) func limitsAndBusyAreDecidedWithTheAcceptance(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        #expect(try await session.accept(session.acceptance(whenBusy: .reject)) == .busy(1))
        #expect(try await session.accept(session.acceptance(perSession: 1)) == .tooManyInSession(1))
        #expect(try await session.accept(session.acceptance(perOwner: 1)) == .tooManyOfOwner(1))
        try await session.append(request, .end(.cancelled, draft("request.cancelled"), answer: ""))
        guard case .accepted = try await session.accept(session.acceptance(whenBusy: .reject)) else {
            Issue.record("the session is free")
            return
        }
    }

    @Test(arguments: StoreKind.all) func othersDoNotSeeASession(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        await #expect(throws: StoreError.notFound) { try await store.lastSequence(of: session.id, owner: "another") }
        await #expect(throws: StoreError.notFound) {
            try await store.events(of: session.id, owner: "another", after: 0, maxBytes: 100)
        }
        await #expect(throws: StoreError.notFound) {
            try await store.request(request, in: session.id, owner: "another")
        }
        #expect(try await store.sessions(owner: "another", before: nil, limit: 10).isEmpty)
    }

    @Test(arguments: StoreKind.all) func aJobThatMustNotRunTwiceIsGrantedOnce(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        func ask(_ generation: UInt32) async throws -> [Execution] {
            let execution = Execution(job: request.job(step: 1), generation: generation, attempt: 0)
            return try await session.append(request, .grant(execution, skill: "pay")).denied
        }
        #expect(try await ask(1).isEmpty)
        #expect(try await ask(1).isEmpty)
        #expect(try await ask(2).count == 1)
    }

    @Test(arguments: StoreKind.all) func anInterruptionIsStoredWithWhatInterrupts(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let first = try await session.request()
        let second = session.acceptance(whenBusy: .interrupt)
        _ = try await session.accept(second)
        let other = try await TestSession(store).request()
        let open = try await store.openRequests()
        #expect(open.map(\.id) == [first, second.request, other])
        #expect(open.map(\.cancelRequested) == [true, false, false])
    }

    @Test(arguments: StoreKind.all) func aLargeAttachmentComesBackAsItWas(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        var acceptance = session.acceptance()
        acceptance.attachments = [UInt8(1), 2].map { number in
            let data = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* Int(number)) }
            return StoredAttachment(name: "\(number)", mediaType: "", data: data)
        }
        acceptance.attachments.append(StoredAttachment(name: "empty", mediaType: "", data: []))
        _ = try await session.accept(acceptance)
        for (position, attachment) in acceptance.attachments.enumerated() {
            #expect(try await store.attachment(position, of: acceptance.request) == attachment.data)
        }
    }

    @Test(arguments: StoreKind.all) func openRequestsComeBackWithAllThatIsNeeded(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        var acceptance = session.acceptance("do it", whenBusy: .enqueue)
        acceptance.attachments = [StoredAttachment(name: "a.txt", mediaType: "text/plain", data: [1, 2, 3])]
        acceptance.input = [7]
        acceptance.endsOnDisconnect = true
        _ = try await session.accept(acceptance)
        let request = acceptance.request
        try await session.append(
            request,
            .plan([8], draft("request.plan")),
            .generation(3),
            job(request, last: 4, outcome: "finished"),
            job(request, step: 2, attempt: 2, last: 5)
        )
        let open = try #require(try await store.openRequests().first)
        #expect(open.id == request && open.session == session.id && open.text == "do it" && open.generation == 3)
        #expect(open.enqueued && open.endsOnDisconnect && !open.cancelRequested)
        #expect(open.input == [7] && open.plan == [8] && open.attachments.map(\.name) == ["a.txt"])
        #expect(open.attachments.map(\.mediaType) == ["text/plain"] && open.attachments.map(\.bytes) == [3])
        #expect(try await store.attachment(0, of: request) == [1, 2, 3])
        await #expect(throws: StoreError.notFound) { try await store.attachment(1, of: request) }
        #expect(open.jobs.map(\.outcome) == ["finished", nil])
        #expect(open.jobs.map(\.lastSequence) == [4, 5])
        let terminal = try #require(open.jobs.first?.terminal)
        #expect(String(decoding: terminal, as: UTF8.self).contains("job.finished"))
        #expect(try await store.openRequest(request).id == request)
    }

    @Test(arguments: StoreKind.all) func theSkillLogGoesOnFromItsCursor(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, last: 1), job(request, step: 2, last: 1, outcome: "timeout"))
        try await session.append(request, job(request, last: 2, outcome: "finished"))
        let log = try await store.jobs(owner: session.owner, after: nil, limit: 10)
        #expect(log.map(\.outcome) == ["timeout", "finished"])
        #expect(log.map(\.worker) == ["w1", "w1"] && log.allSatisfy { $0.session == session.id && $0.skill == "echo" })
        #expect(try await store.jobs(owner: session.owner, after: log[0].number, limit: 10) == [log[1]])
        // A job that the end of its request cuts off is in the log too.
        try await session.append(request, job(request, step: 3, last: 1))
        try await session.append(request, .end(.cancelled, draft("request.cancelled"), answer: ""))
        #expect(
            try await store.jobs(owner: session.owner, after: log[1].number, limit: 10).map(\.outcome) == ["cancelled"]
        )
    }

    @Test(arguments: StoreKind.all) func aSessionIsSeenAsOfOneMoment(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let done = try await session.request("first")
        try await session.append(done, .end(.finished, draft("request.finished"), answer: "one"))
        let open = try await session.request("second")
        try await session.append(open, job(open, last: 2, count: 2))
        let record = try await store.session(session.id, owner: session.owner, messages: 10)
        #expect(record.lastSequence == 5)
        #expect(record.requests.map(\.text) == ["first", "second"])
        #expect(record.requests.map(\.answer) == ["one", nil])
        // Two texts of one job are one.
        #expect(record.openEvents.map(\.text) == ["1.1.01.1.1"] && record.openEvents.map(\.job) == [open.job(step: 1)])
        #expect(
            try await store.session(session.id, owner: session.owner, messages: 1).requests.map(\.text) == ["second"]
        )
        let list = try await store.sessions(owner: session.owner, before: nil, limit: 10)
        #expect(list.map(\.title) == ["first"] && list.map(\.open) == [1] && list.map(\.lastSequence) == [5])
    }

    @Test func whatQueuesUpDuringACommitGoesIntoTheNext() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.file("state"))
        let session = try await TestSession(store)
        let request = try await session.request()
        let before = store.commitCount
        try await withThrowingTaskGroup(of: Void.self) { group in
            for step in 1...500 {
                group.addTask { try await session.append(request, job(request, step: UInt16(step), last: 1)) }
            }
            try await group.waitForAll()
        }
        #expect(try await session.events().map(\.seq) == Array(1...501))
        #expect(store.commitCount - before < 250)
        #expect(store.commitCount - before >= 3)
    }

    @Test(arguments: StoreKind.all) func oneWriteThatFailsTakesNoOtherWithIt(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        let stranger = newIdentifier()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for step in 1...50 {
                group.addTask { try await session.append(request, job(request, step: UInt16(step), last: 1)) }
                group.addTask {
                    await #expect(throws: StoreError.notFound) {
                        try await session.append(stranger, job(stranger, step: UInt16(step), last: 1))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await session.events().count == 51)
        #expect(store.isWritable)
    }

    @Test(arguments: StoreKind.all) func whatCanNeverBeStoredIsNotTriedForEver(_ kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, last: 5))
        // Three events up to number 6: one of them has a number that is taken.
        await #expect {
            try await session.append(request, job(request, last: 6, count: 3))
        } throws: { error in
            if case StoreError.rejected = error { true } else { false }
        }
        try await session.append(request, job(request, last: 6))
        #expect(try await session.events().count == 3)
    }
}
