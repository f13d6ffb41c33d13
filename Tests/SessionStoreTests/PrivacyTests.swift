import FoundationEssentials
import SessionStore
import StoreTesting
import Telemetry
import TestSupport
import Testing
import Wire

/// What may go to outside parties, what has, and sessions that are to be forgotten.
@Suite struct PrivacyTests {
    private static let secret = "xyzzy-a-secret-word"

    private func disclosure(_ request: Identifier, _ party: String, number: UInt64) -> EventBatch.Item {
        let json = #"{"type":"disclosure","data":{"party":"\#(party)"}}"#
        return .job(
            JobEvents(
                execution: Execution(job: request.job(step: 1), generation: 1, attempt: 1),
                skill: "echo",
                lastSequence: number,
                events: [EventDraft(type: "disclosure", json: Array(json.utf8))]
            )
        )
    }

    private func parties(_ records: [DisclosureRecord]) -> [String] {
        records.compactMap { (try? JSONBody.decode(JSONValue.self, from: $0.json))?["data"]?["party"]?.string }
    }

    @Test(arguments: StoreKind.all) func aSessionKeepsItsPolicy(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        for policy in PrivacyPolicy.allCases {
            let id = newIdentifier()
            try await store.createSession(id, owner: "someone", privacy: policy, at: .now)
            #expect(try await store.session(id, owner: "someone", messages: 1).privacy == policy)
            let request = newIdentifier()
            let acceptance = Acceptance(
                request: request,
                session: id,
                owner: "someone",
                time: .now,
                text: "t",
                input: Array("{}".utf8),
                timeout: 1000,
                whenBusy: .parallel,
                events: [draft("request.accepted")]
            )
            _ = try await withCheckedContinuation { continuation in
                store.accept(acceptance) { continuation.resume(returning: $0) }
            }.get()
            #expect(try await store.openRequest(request).privacy == policy)
        }
        #expect(try await TestSession(store).request() != .none)
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func answersCountForTheirRequestOrTheirSession(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let (first, second) = (try await session.request(), try await session.request())
        func answer(_ party: String, _ choice: ApprovalChoice) async throws {
            let record = ApprovalRecord(party: party, choice: choice)
            try await store.approve(record, of: first, in: session.id, owner: session.owner, at: .now)
        }
        try await answer("a", .allow)
        try await answer("b", .deny)
        try await answer("c", .always)
        // The last word counts.
        try await answer("b", .allow)
        let all = try await store.approvals(of: first)
        #expect(
            Dictionary(uniqueKeysWithValues: all.map { ($0.party, $0.choice) }) == [
                "a": .allow, "b": .allow, "c": .always,
            ]
        )
        #expect(try await store.approvals(of: second) == [ApprovalRecord(party: "c", choice: .always)])
        let other = try await TestSession(store, owner: "other")
        #expect(try await store.approvals(of: try await other.request()).isEmpty)
        await #expect(throws: StoreError.notFound) {
            let record = ApprovalRecord(party: "a", choice: .allow)
            try await store.approve(record, of: first, in: session.id, owner: "other", at: .now)
        }
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func disclosuresAreListedTheLatestFirst(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let sessions = [try await TestSession(store), try await TestSession(store)]
        for (index, session) in sessions.enumerated() {
            let request = try await session.request()
            for number in 1...3 as ClosedRange<UInt64> {
                try await session.append(request, disclosure(request, "p\(index)\(number)", number: number))
            }
            try await session.append(request, job(request, last: 9, outcome: "finished"))
        }
        let stranger = try await TestSession(store, owner: "other")
        let theirs = try await stranger.request()
        try await stranger.append(theirs, disclosure(theirs, "theirs", number: 1))
        let owner = sessions[0].owner
        let all = try await store.disclosures(owner: owner, in: nil, before: nil, limit: 100)
        #expect(parties(all) == ["p13", "p12", "p11", "p03", "p02", "p01"])
        let one = try await store.disclosures(owner: owner, in: sessions[0].id, before: nil, limit: 2)
        #expect(parties(one) == ["p03", "p02"])
        let next = try await store.disclosures(owner: owner, in: nil, before: all[1].place, limit: 2)
        #expect(parties(next) == ["p11", "p03"])
        await #expect(throws: StoreError.notFound) {
            _ = try await store.disclosures(owner: "other", in: sessions[0].id, before: nil, limit: 2)
        }
    }

    @Test(arguments: StoreKind.all) func aForgottenSessionIsGone(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let kept = try await TestSession(store)
        let stays = try await kept.request()
        var acceptance = session.acceptance("forget me", key: ("key", [1]))
        _ = try await session.accept(acceptance)
        let request = acceptance.request
        try await session.append(request, disclosure(request, "p", number: 1))
        try await store.approve(
            ApprovalRecord(party: "p", choice: .always),
            of: request,
            in: session.id,
            owner: session.owner,
            at: .now
        )
        await #expect(throws: StoreError.busy) { try await store.forget(session.id, owner: session.owner) }
        try await session.append(request, job(request, last: 3, outcome: "dead_lettered"))
        try await session.append(request, .end(.failed, draft("request.failed"), answer: "a"))
        await #expect(throws: StoreError.notFound) { try await store.forget(session.id, owner: "other") }
        try await store.forget(session.id, owner: session.owner)
        await #expect(throws: StoreError.notFound) { _ = try await session.events() }
        await #expect(throws: StoreError.notFound) { try await store.forget(session.id, owner: session.owner) }
        #expect(try await store.disclosures(owner: session.owner, in: nil, before: nil, limit: 9).isEmpty)
        #expect(try await store.deadLetters(owner: session.owner, before: nil, limit: 9).isEmpty)
        #expect(try await store.jobs(owner: session.owner, after: nil, limit: 9).isEmpty)
        // The key is free again.
        let other = try await TestSession(store)
        acceptance = other.acceptance("another", key: ("key", [2]))
        guard case .accepted = try await other.accept(acceptance) else { return #expect(Bool(false)) }
        #expect(try await store.openRequest(stays).id == stays)
        try await store.check()
    }

    @Test(arguments: StoreKind.all) func aLongSessionIsForgottenInSteps(kind: StoreKind) async throws {
        let store = try await OpenStore(kind)
        let session = try await TestSession(store)
        let request = try await session.request()
        try await session.append(request, job(request, last: 2500, count: 2500))
        try await session.append(request, job(request, last: 2501, outcome: "finished"))
        try await session.append(request, .end(.finished, draft("request.finished"), answer: "a"))
        try await store.forget(session.id, owner: session.owner)
        await #expect(throws: StoreError.notFound) { _ = try await session.events() }
        try await store.check()
    }

    /// Nothing of a forgotten session can be found in the files: not in the tables, not in pages that are free, not in the
    /// log. Others are still there.
    @Test func nothingOfItIsLeftInTheFiles() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteSessionStore(folder: folder.path)
        let session = try await TestSession(store)
        let other = try await TestSession(store)
        _ = try await other.request("this-one-stays")
        for number in 0..<20 {
            // Small ones share pages, and large ones have pages of their own.
            let filler = String(repeating: "\(Self.secret) \(number) ", count: number % 2 == 0 ? 1 : 800)
            var acceptance = session.acceptance(filler)
            acceptance.attachments = [
                StoredAttachment(name: "\(Self.secret).txt", mediaType: "text/plain", data: Array(filler.utf8))
            ]
            _ = try await session.accept(acceptance)
            let request = acceptance.request
            try await session.append(
                request,
                .job(
                    JobEvents(
                        execution: Execution(job: request.job(step: 1), generation: 1, attempt: 1),
                        skill: "echo",
                        lastSequence: 2,
                        events: [draft("job.delta", filler), draft("job.finished", filler)],
                        worker: "w",
                        outcome: "finished"
                    )
                )
            )
            try await session.append(request, .end(.finished, draft("request.finished", filler), answer: filler))
        }
        #expect(try places(of: Self.secret, in: folder) > 0)
        // Readers that are at work hold the log for a moment only.
        _ = try await session.events()
        try await store.forget(session.id, owner: session.owner)
        #expect(try places(of: Self.secret, in: folder) == 0)
        #expect(try places(of: "this-one-stays", in: folder) > 0)
        await store.close()
        #expect(try places(of: Self.secret, in: folder) == 0)
        #expect(try SQLiteSessionStore.check(folder: folder.path).problems.isEmpty)
    }

    private func places(of word: String, in folder: TemporaryFolder) throws -> Int {
        let pattern = Data(word.utf8)
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let data = try Data(contentsOf: URL(filePath: folder.file(name)))
            var start = data.startIndex
            while let range = data[start...].firstRange(of: pattern) {
                count += 1
                start = range.upperBound
            }
        }
        return count
    }
}
